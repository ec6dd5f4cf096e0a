// Any bytes as server-sent events: read at once and in pieces, they are the same events.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "http/event_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto read = [&](size_t piece) {
    std::vector<std::string> out;
    sk::http::EventReader reader([&](const auto& event) {
      if (event.id.find_first_of("\r\n") != std::string::npos) std::abort();
      if (event.name.find_first_of("\r\n") != std::string::npos) std::abort();
      for (const auto& field : {event.id, event.name, event.data}) out.push_back(field);
    });
    for (size_t at = 0; at < text.size(); at += piece) reader.add(text.substr(at, piece));
    reader.end();
    return out;
  };
  if (read(size) != read(1 + data[0] % 16)) std::abort();
  return 0;
}
