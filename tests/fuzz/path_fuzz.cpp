// Paths from strangers: whatever clean_path() lets through is a path that stays inside, and cleaning it again
// changes nothing.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/path.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    std::string path = sk::clean_path(text);
    SK_CHECK(sk::clean_path(path) == path, "cleaning is idempotent");
    SK_CHECK(path.empty() || (path.front() != '/' && path.back() != '/'), "no '/' at the ends");
    for (auto part : sk::split(path, '/'))
      SK_CHECK(path.empty() || (part != "" && part != "." && part != ".."));
    SK_CHECK(path.find('\0') == std::string::npos, "no NUL");
    auto [parent, name] = sk::split_path(path);
    SK_CHECK(path.empty() || sk::join_path(parent, name) == path, "split and join agree");
    SK_CHECK(sk::is_within(path, parent), "a path lies in its parent");
  } catch (const sk::Error& error) {
    SK_CHECK(error.http_status() == 400, "bad paths are the client's mistake");
  }
  return 0;
}
