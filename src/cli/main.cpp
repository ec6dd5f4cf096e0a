// The entry point. cli/commands/commands.h lists all commands.
#include <unistd.h>

#include <csignal>

#include "cli/commands/commands.h"
#include "cli/frame/run.h"

int main(int argc, char** argv) {
  // A closed pipe or connection must fail the write instead of ending the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  auto environment = sk::process_environment();
  sk::cli::Terminal terminal(STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, environment);
  sk::SystemClock clock;
  return static_cast<int>(sk::cli::run(sk::cli::command_table(), words, environment, terminal, clock));
}
