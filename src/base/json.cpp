#include "base/json.h"

#include "base/error.h"

namespace sk {

Json parse_json(std::string_view text, std::string_view what) {
  constexpr int kDepthMax = 64;
  bool too_deep = false;
  auto limit_depth = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kDepthMax) too_deep = true;
    return !too_deep;
  };
  // The parser recurses per level without a limit of its own; count brackets first so that hostile depth
  // cannot cost stack.
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDepthMax)
        throw Error(Code::bad_request, std::string(what) + " nests deeper than 64 levels");
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  try {
    return Json::parse(text, limit_depth);
  } catch (const Json::exception& e) {
    throw Error(Code::bad_request, std::string(what) + " is not valid JSON: " + e.what());
  }
}

std::string to_text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace sk
