// Reduces the outputs of an execution to the few text fields of other vendors' answers. Pure functions; any
// thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/sentence.h"
#include "interpreter/types.h"

namespace sk::api {

struct ShownImage {
  std::string mime;    // "image/png"
  std::string base64;  // empty when the answer had no room for it
  std::string path;    // in the workspace, where it is stored
};

struct OutputText {
  std::string printed;  // on standard output
  // Standard error, then the traceback, the notes, files that were not kept or not kept as the newest
  // version, and the reason of the end.
  std::string errors;
  std::optional<std::string> value;  // text of the last expression
  std::optional<ShownImage> image;   // the last one shown
  std::string error_name, error_value;
};

// Names files as code in the session sees them.
OutputText output_text(const interpreter::Execution& execution, const interpreter::SessionInfo& session);

// A line for each kept file whose newest version is not, or not only, what the code wrote: it was locked by
// another client, or another client wrote it too.
std::vector<std::string> lines_about_versions(const interpreter::Execution& execution,
                                              const PathNaming& naming);

// Why an execution failed, where no exception says it: its message, or its exit status.
std::string reason_of_end(const interpreter::Execution& execution);

}  // namespace sk::api
