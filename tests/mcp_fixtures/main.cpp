// sandkeep_mcp_fixtures serve: the server, with the fixtures of the protocol's conformance suite at /mcp.
#include <unistd.h>

#include <csignal>

#include "cli/commands/commands.h"
#include "cli/commands/serve.h"
#include "cli/frame/run.h"
#include "mcp_fixtures/conformance.h"

namespace {

sk::cli::ExitCode serve_with_fixtures(sk::cli::Invocation& call) {
  sk::api::mcp::Conformance fixtures;
  return sk::cli::serve(call, &fixtures);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  auto environment = sk::process_environment();
  sk::cli::Terminal terminal(STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, environment);
  sk::SystemClock clock;
  auto serve = sk::cli::serve_command();
  serve.run = serve_with_fixtures;
  sk::cli::CommandTable table({{"", {std::move(serve)}}}, {});
  return static_cast<int>(sk::cli::run(table, words, environment, terminal, clock));
}
