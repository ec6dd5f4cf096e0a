#include "base/error.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace sk {

namespace {
constexpr auto kCodes = std::to_array<CodeInfo>({
#define SK_ERROR(name, status, hint) {Code::name, #name, status, hint},
#include "base/error_codes.def"
#undef SK_ERROR
});
}  // namespace

const CodeInfo& info(Code code) { return kCodes[static_cast<size_t>(code)]; }
std::span<const CodeInfo> all_codes() { return kCodes; }

Error system_error(std::string_view what, int err) {
  auto text = std::string(what) + ": " + std::system_category().message(err);
  if (err == ENOSPC || err == EDQUOT) return Error(Code::disk_full, text);
  return Error(Code::internal, text);
}

void die(std::string_view message) {
  std::string line = "sandkeep: fatal: " + std::string(message) + "\n";
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, line.data(), line.size());
  std::abort();
}

}  // namespace sk
