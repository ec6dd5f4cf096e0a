// A history as data: the steps that one run of the model takes. Steps are independent of each other, so that
// any of them can be left out when a failing history is shrunk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sk::model {

// What a step means is said where it is carried out: writer_ops.cpp for what code does, runner.cpp for the
// rest.
struct Step {
  std::string what;
  int writer = 0;           // which process does it; of writers' steps only
  bool together = false;    // the next step does not wait for it
  std::string path, other;  // bytes as on disk, relative to the copy
  uint64_t number = 0, size = 0;

  bool operator==(const Step&) const = default;
};

struct History {
  uint64_t seed = 0;
  std::string folder;  // of the session, in the workspace
  std::vector<Step> steps;
};

// One line for each step; paths are percent-encoded.
std::string to_text(const Step& step);
std::string to_text(const History& history);
History parse_history(const std::string& text);

// By the seed alone. `power` adds a power cut, `root` what only root can do.
struct GeneratorOptions {
  bool power = false, root = false;
};
History generate(uint64_t seed, const GeneratorOptions& options);

// The bytes that a step with that number and size writes.
std::string content(uint64_t number, uint64_t size);

}  // namespace sk::model
