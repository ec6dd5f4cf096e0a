// Runs a server, for the command 'serve' and for programs that add to its MCP server.
#pragma once

#include "cli/frame/command.h"

namespace sk::api::mcp {
class Extension;
}

namespace sk::cli {

// Serves until a signal. `mcp_extension` is null or outlives the call.
ExitCode serve(Invocation& call, const api::mcp::Extension* mcp_extension);

}  // namespace sk::cli
