// What a run of code looks like to an agent: its output, what it kept, what it should know.
#pragma once

#include "api/mcp/tool.h"
#include "interpreter/types.h"

namespace sk::api::mcp {

ToolResult run_result(const interpreter::Execution& execution, const std::string& base_url);

// The texts of an execution's outputs, joined by what they are.
struct RunTexts {
  std::string out, err, result, error, notes;
};
RunTexts run_texts(const interpreter::Execution& execution);

}  // namespace sk::api::mcp
