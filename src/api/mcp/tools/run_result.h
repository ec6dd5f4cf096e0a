// The result of running code, for an agent: output, kept files, notes. Pure functions; any thread.
#pragma once

#include "api/mcp/tool.h"
#include "interpreter/types.h"

namespace sk::api::mcp {

ToolResult run_result(const interpreter::Execution& execution, const std::string& base_url);

// The texts of an execution's outputs, concatenated by kind.
struct RunTexts {
  std::string out, err, result, error, notes;
};
RunTexts run_texts(const interpreter::Execution& execution);

}  // namespace sk::api::mcp
