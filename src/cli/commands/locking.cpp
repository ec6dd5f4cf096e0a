#include "cli/commands/locking.h"

#include <algorithm>
#include <chrono>

#include "cli/frame/when.h"

namespace sk::cli {

const std::vector<Option> kLockOptions = {
    {"ttl", 0, "DURATION", "lifetime unless renewed, 60s to 1h (5m)"},
    {"wait", 0, "DURATION", "time to wait if another client holds the lock (0)"},
    {"shared", 0, "", "others may hold shared locks too; nobody may write"},
    {"shallow", 0, "", "only the folder itself, not its contents"},
    {"purpose", 0, "TEXT", "a purpose that is shown to others"},
};

namespace {

int64_t duration_option(const Arguments& arguments, std::string_view name, int64_t fallback) {
  auto text = arguments.value(name);
  if (!text) return fallback;
  auto seconds = parse_duration_s(*text);
  if (!seconds)
    throw Error(Code::bad_request,
                "--" + std::string(name) + " " + *text + ": expected a duration such as 90s, 5m, 1h");
  return *seconds;
}

}  // namespace

int64_t lock_ttl_s(const Arguments& arguments) {
  constexpr int64_t kUsual = 300;
  return duration_option(arguments, "ttl", kUsual);
}

Json acquire_lock(const Invocation& call, Remote& remote, const RemotePath& where) {
  using std::chrono::steady_clock;
  // One request waits at most as long as the server allows; a longer wait needs several requests.
  constexpr int64_t kWaitMostS = 30;
  Json body = {{"path", where.path},
               {"deep", !call.arguments.has("shallow")},
               {"shared", call.arguments.has("shared")},
               {"purpose", call.arguments.value_or("purpose", "")},
               {"ttl_s", lock_ttl_s(call.arguments)}};
  auto wait_s = duration_option(call.arguments, "wait", 0);
  auto once_s = wait_s > 0 ? remote.limit("lock_wait_max_s", kWaitMostS) : 0;
  auto until = steady_clock::now() + std::chrono::seconds(wait_s);
  for (;;) {
    auto left = std::chrono::ceil<std::chrono::seconds>(until - steady_clock::now()).count();
    body["wait_s"] = std::clamp<int64_t>(left, 0, once_s);
    try {
      return remote.call("POST", remote.url(where, "locks"), {}, body);
    } catch (const Error& error) {
      if (error.code() != Code::locked || left <= once_s) throw;
    }
  }
}

}  // namespace sk::cli
