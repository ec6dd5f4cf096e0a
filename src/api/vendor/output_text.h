// What an execution showed, as the few texts that other vendors' answers have room for.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "interpreter/types.h"

namespace sk::api {

struct ShownImage {
  std::string mime;    // "image/png"
  std::string base64;  // empty where the answer had no room for it
  std::string path;    // in the workspace, where it is kept
};

struct OutputText {
  std::string printed;  // on standard output
  std::string errors;   // on standard error; then the traceback, the notes and why it ended as it did
  std::optional<std::string> value;  // of the last expression, as text
  std::optional<ShownImage> image;   // the last one that was shown
  std::string error_name, error_value;
};

OutputText output_text(const interpreter::Execution& execution);

// At most `bytes_max` bytes, not cut within a character.
std::string cut_text(std::string_view text, size_t bytes_max);

}  // namespace sk::api
