#include "base/json.h"

#include <algorithm>

#include "base/error.h"

namespace sk {

namespace {

// Shortens "[json.exception…] parse error at line 1, column 2: syntax error while parsing value - invalid
// literal; last read: '{x'" to "invalid literal": the rest names the library or repeats the input.
std::string reason_of(std::string_view text) {
  if (auto end = text.find("] "); text.starts_with('[') && end != text.npos) text.remove_prefix(end + 2);
  if (auto end = text.find(": "); text.starts_with("parse error") && end != text.npos)
    text.remove_prefix(end + 2);
  if (!text.starts_with("syntax error")) return std::string(text);
  if (auto end = text.find(" - "); end != text.npos) text.remove_prefix(end + 3);
  return std::string(text.substr(0, std::min(text.find("; last read"), text.find("; expected"))));
}

}  // namespace

Json parse_json(std::string_view text, std::string_view what, const JsonClaim& claim) {
  constexpr int kDepthMax = 64;
  constexpr size_t kFieldsMax = 1'000;
  constexpr size_t kValuesMax = 1'000'000;
  // The parser recurses per nesting level without a limit. Ordered objects search all their fields for each
  // new one. A value takes many times the memory of its text. Count all of it first, so hostile text cannot
  // exhaust the stack or the memory, or cost quadratic time. (A callback of the parser could count, too, but
  // the library then searches an array again after each of its objects.)
  size_t values = 1;
  std::vector<size_t> commas;
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
      if (commas.size() >= static_cast<size_t>(kDepthMax))
        throw Error(Code::bad_request, std::string(what) + " nests deeper than 64 levels");
      commas.push_back(c == '[' ? 0 : 1);
    } else if (c == ']' || c == '}') {
      if (!commas.empty()) commas.pop_back();
    } else if (c == ',' && !commas.empty() && commas.back() > 0 && ++commas.back() > kFieldsMax) {
      throw Error(Code::bad_request, std::string(what) + " has an object with more than 1,000 fields");
    }
    if (!in_string && (c == ',' || c == '[' || c == '{') && ++values > kValuesMax)
      throw Error(Code::bad_request, std::string(what) + " has more than 1,000,000 values");
  }
  if (claim) claim(values);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    throw Error(Code::bad_request, std::string(what) + " is not valid JSON: " + reason_of(e.what()) +
                                       " at byte " + std::to_string(e.byte));
  } catch (const Json::exception& e) {
    throw Error(Code::bad_request, std::string(what) + " is not valid JSON: " + reason_of(e.what()));
  }
}

std::string to_text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace sk
