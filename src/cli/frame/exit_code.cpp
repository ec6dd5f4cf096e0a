#include "cli/frame/exit_code.h"

#include <array>

namespace sk::cli {

namespace {
constexpr auto kExitCodes = std::to_array<ExitCodeInfo>({
    {ExitCode::ok, "done"},
    {ExitCode::failed, "failed, or only partly done"},
    {ExitCode::usage, "the command line or the request is malformed"},
    {ExitCode::not_found, "no such file, version, workspace…, or it was purged"},
    {ExitCode::denied, "the key is missing, wrong, or lacks the right"},
    {ExitCode::conflict, "locked, a precondition failed, or a conflict"},
    {ExitCode::unreachable, "no server answered, or the server is too busy"},
    {ExitCode::no_room, "over a quota, a size limit, or the disk is full"},
    {ExitCode::damaged,
     "a check found damage: 'verify', 'audit verify', or bytes that do not match their hash"},
    {ExitCode::interrupted, "interrupted by Ctrl-C"},
});
}  // namespace

std::span<const ExitCodeInfo> all_exit_codes() { return kExitCodes; }

ExitCode exit_code_of(Code code) {
  switch (code) {
    case Code::bad_request:
      return ExitCode::usage;
    case Code::not_found:
    case Code::gone:
      return ExitCode::not_found;
    case Code::unauthorized:
    case Code::forbidden:
      return ExitCode::denied;
    case Code::conflict:
    case Code::precondition_failed:
    case Code::locked:
      return ExitCode::conflict;
    case Code::unavailable:
    case Code::too_many_requests:
    case Code::request_timeout:
      return ExitCode::unreachable;
    case Code::too_large:
    case Code::quota_exceeded:
    case Code::disk_full:
      return ExitCode::no_room;
    case Code::corrupt:
      return ExitCode::damaged;
    default:
      return ExitCode::failed;
  }
}

}  // namespace sk::cli
