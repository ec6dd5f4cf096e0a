// Starting code for a client and answering when it is done, for the tools of both endpoints.
#pragma once

#include <functional>
#include <optional>

#include "api/mcp/tool.h"
#include "interpreter/interpreter.h"

namespace sk::api::mcp {

// Answers through the turn's channel, with progress as the client wants it; at once only for a client that
// asked for a task. When the client cancels, the run is interrupted.
std::optional<ToolResult> start_run(ToolCall& call, const Id& session, interpreter::NewExecution wanted,
                                    std::function<ToolResult(const interpreter::Execution&)> to_result);

}  // namespace sk::api::mcp
