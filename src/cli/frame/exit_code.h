// The table of exit codes for scripts. Help prints it; docs/cli.md describes the same codes.
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"

namespace sk::cli {

enum class ExitCode : int {
  ok = 0,
  failed = 1,
  usage = 2,
  not_found = 3,
  denied = 4,
  conflict = 5,
  unreachable = 6,
  no_room = 7,
  damaged = 8,
  interrupted = 130,
};

struct ExitCodeInfo {
  ExitCode code;
  std::string_view meaning;
};

std::span<const ExitCodeInfo> all_exit_codes();
ExitCode exit_code_of(Code code);

}  // namespace sk::cli
