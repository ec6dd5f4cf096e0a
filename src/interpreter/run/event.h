// The events of a running execution, and fold(), which combines them into the execution's record.
#pragma once

#include <variant>

#include "interpreter/types.h"

namespace sk::interpreter {

struct Started {
  bool woke = false;
  TimeUs started_us = 0;
};

// A further output. Text of one stream arrives in pieces.
struct OutputAdded {
  Output output;
};

// Code cleared its outputs.
struct OutputsCleared {};

// A file was kept while the execution runs.
struct FileKept {
  KeptFile file;
};

// Code waits for tools that only the client has. The calls come from the sandbox unchecked, as a list.
struct ToolsAsked {
  Json calls;
};

// The last event: the execution is complete, or stays queued because the server stops.
struct Ended {};

using Event = std::variant<Started, OutputAdded, OutputsCleared, FileKept, ToolsAsked, Ended>;

// Applies an event to `execution`, which starts as it was queued. Ignores Ended: the feed has the complete
// execution by then.
void fold(Execution& execution, const Event& event);

}  // namespace sk::interpreter
