// Starts code for a client and answers when it has ended, for the tools of both endpoints. Any thread.
#pragma once

#include <functional>
#include <optional>

#include "api/mcp/tool.h"
#include "interpreter/interpreter.h"

namespace sk::api::mcp {

// Answers through the turn's channel, with progress if the client wants it. Returns a result immediately only
// when the client asked for a task. Interrupts the run when the client cancels.
std::optional<ToolResult> start_run(ToolCall& call, const Id& session, interpreter::NewExecution wanted,
                                    std::function<ToolResult(const interpreter::Execution&)> to_result);

}  // namespace sk::api::mcp
