// Any text as a Range header of any size: a partial answer lies inside the size.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "http/range.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 8) return 0;
  uint64_t total = 0;
  std::memcpy(&total, data, sizeof total);
  if (data[0] % 2 == 0) total %= 1000;
  std::string header(reinterpret_cast<const char*>(data) + 8, size - 8);
  for (const auto& text : {header, "bytes=" + header}) {
    auto choice = sk::http::choose_range(text, total);
    if (choice.kind != sk::http::RangeChoice::Kind::partial) continue;
    const auto& range = choice.range;
    if (range.size == 0 || range.first >= total || range.size > total - range.first) std::abort();
    sk::http::content_range(range, total);
  }
  return 0;
}
