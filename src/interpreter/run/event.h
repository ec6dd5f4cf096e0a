// The events of a running execution, and fold(), which adds them up to the execution's record.
#pragma once

#include <variant>

#include "interpreter/types.h"

namespace sk::interpreter {

struct Started {
  bool woke = false;
  TimeUs started_us = 0;
};

// A further output; the text of one stream comes in pieces.
struct OutputAdded {
  Output output;
};

// Code cleared what it had shown.
struct OutputsCleared {};

// A file was kept while the execution runs.
struct FileKept {
  KeptFile file;
};

// Code waits for tools that only the client has. The calls come out of the sandbox unchecked, as a list.
struct ToolsAsked {
  Json calls;
};

// The last event: the execution is complete, or it stays queued because the server stops.
struct Ended {};

using Event = std::variant<Started, OutputAdded, OutputsCleared, FileKept, ToolsAsked, Ended>;

// Adds to `execution`, which starts as it was queued, what an event tells of it. The end is not among that:
// the feed has the complete execution by then.
void fold(Execution& execution, const Event& event);

}  // namespace sk::interpreter
