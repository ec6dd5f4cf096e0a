// mcp: the bridge for MCP clients that start a program and use its standard input and output.
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "cli/client/mcp_bridge.h"
#include "cli/commands/commands.h"

namespace sk::cli {

namespace {

// A message may contain a file, up to this size.
constexpr size_t kLineBytesMax = 64 << 20;

// An agent would otherwise see the misspelled folder only as a refusal of its upload.
void check_folder(const std::string& folder) {
  std::error_code failure;
  if (!std::filesystem::is_directory(folder, failure))
    throw Error(Code::not_found, "--files " + folder + ": there is no such folder")
        .hint("Name a folder of this machine that you can read.");
}

ExitCode run_mcp(Invocation& call) {
  for (const auto& folder : call.arguments.values("files")) check_folder(folder);
  McpBridge bridge(target_of(call), call.terminal, call.arguments.values("files"));
  std::string pending;
  char buffer[64 << 10];
  while (true) {
    auto count = ::read(call.terminal.in_fd(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    pending.append(buffer, static_cast<size_t>(count));
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      bridge.take_line(pending.substr(0, end));
      pending.erase(0, end + 1);
    }
    if (pending.size() > kLineBytesMax) throw Error(Code::too_large, "a line is longer than 64 MiB");
  }
  if (!pending.empty()) bridge.take_line(pending);
  bridge.finish();
  return ExitCode::ok;
}

}  // namespace

Command mcp_command() {
  return {
      .name = "mcp",
      .arguments = "",
      .summary = "bridges an agent's standard input and output to the server's /mcp",
      .about =
          "For clients of the Model Context Protocol that start a program instead of calling an address. One "
          "JSON message per line.\n\nWith --files the tool 'upload' may also read files of this machine, "
          "only below the folders that you name.",
      .options = {{"files", 0, "FOLDER", "a folder whose files the agent may upload; repeatable"}},
      .positional_max = 0,
      .examples = {"sandkeep mcp", "sandkeep mcp --server https://sandkeep.example.org --files ~/reports"},
      .run = run_mcp};
}

}  // namespace sk::cli
