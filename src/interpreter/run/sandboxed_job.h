// Runs one program with one input and one output in a sandbox of its own, for work on untrusted documents
// that must not happen in the server.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "sandbox/host.h"

namespace sk::interpreter {

struct SandboxedJob {
  std::string code;                         // Python; reads /mnt/data/in, writes /mnt/data/out
  std::function<void(int fd)> write_input;  // fills the input
  size_t output_bytes_max = 1 << 20;
  uint64_t memory_bytes = 512ull << 20;
  std::chrono::milliseconds time_max{20'000};
};

// Runs the job and waits for it, so call it on a thread that may block. Creates, uses and removes `folder`,
// which is below the host's data_root. nullopt when the program failed, ran too long, or wrote nothing or too
// much: the input is untrusted, so that is no server error. Throws like SandboxHost::start.
std::optional<std::string> run_sandboxed_job(sandbox::SandboxHost& host, const std::string& folder,
                                             const SandboxedJob& job);

}  // namespace sk::interpreter
