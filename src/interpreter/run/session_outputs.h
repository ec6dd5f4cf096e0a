// The output of a session's kernel. Output during an execution belongs to it. Text and displays between cells
// wait for the next execution.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "interpreter/run/output_collector.h"

namespace sk::interpreter {

// Belongs to one session; one thread at a time.
class SessionOutputs {
 public:
  struct Limits {
    size_t bytes_max;          // of one execution's answer, and of the waiting output
    uint64_t spill_bytes_max;  // of the file with the whole output
    std::string spill_directory;
    std::string folder = {};  // the session's, in the workspace
  };
  explicit SessionOutputs(Limits limits) : limits_(std::move(limits)) {}

  // Begins an execution; `feed` outlives it. give_pending() puts the waiting output at the beginning of its
  // output.
  void begin(ExecutionFeed& feed, int64_t execution_number);
  void give_pending();
  // Ends the execution: later output waits again.
  void end() { current_.reset(); }
  void forget_pending();

  // Null between executions.
  OutputCollector* current() { return current_.get(); }

  // Output as the kernel reports it. Between cells, only text and displays occur. Output over the limit is
  // dropped, and give_pending() notes how much.
  void text(sandbox::Stream stream, std::string_view bytes);
  void display(const sandbox::Display& display);
  void clear();
  void result(const sandbox::CellResult& result);
  void error(const sandbox::CellError& error);

 private:
  const Limits limits_;
  std::unique_ptr<OutputCollector> current_;
  struct Text {
    sandbox::Stream stream;
    std::string bytes;
  };
  std::vector<std::variant<Text, sandbox::Display>> pending_;  // bounded in bytes and in pieces
  size_t pending_bytes_ = 0;
  size_t dropped_bytes_ = 0;
};

}  // namespace sk::interpreter
