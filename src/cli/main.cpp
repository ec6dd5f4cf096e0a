// The program. Everything it does is a command of the table in cli/commands/commands.h.
#include <unistd.h>

#include <csignal>

#include "cli/commands/commands.h"
#include "cli/frame/run.h"

int main(int argc, char** argv) {
  // A reader or a server that goes away is an error of the write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  auto environment = sk::process_environment();
  sk::cli::Terminal terminal(STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, environment);
  sk::SystemClock clock;
  return static_cast<int>(sk::cli::run(sk::cli::command_table(), words, environment, terminal, clock));
}
