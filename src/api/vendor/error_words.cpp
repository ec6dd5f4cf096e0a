#include "api/vendor/error_words.h"

#include "api/common/advice_words.h"
#include "base/text.h"

namespace sk::api {

namespace {

constexpr std::string_view kMountFolder = "/mnt/data";

// Whether a name can continue with this byte, so that a path cannot begin or end beside it.
bool is_of_name(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '/' || c == '.' || c == '-' || c == '_';
}

}  // namespace

std::string with_mounted_paths(std::string_view folder, std::string_view text) {
  std::string out;
  if (folder.empty()) return out.append(text);
  size_t from = 0;
  for (size_t at = 0; (at = text.find(folder, at)) != std::string_view::npos;) {
    size_t end = at + folder.size();
    bool begins = at == 0 || !is_of_name(text[at - 1]);
    bool ends = end == text.size() || text[end] == '/' || !is_of_name(text[end]);
    if (begins && ends) {
      out.append(text.substr(from, at - from)).append(kMountFolder);
      from = end;
    }
    at = end;
  }
  return out.append(text.substr(from));
}

Error with_mounted_paths(const http::Request& request, const Error& error) {
  if (request.mounted_folder.empty()) return error;
  auto renamed = [&](const std::string& text) { return with_mounted_paths(request.mounted_folder, text); };
  Error out(error.code(), renamed(error.message()));
  for (const auto& [name, value] : error.facts()) {
    if (const auto* text = std::get_if<std::string>(&value))
      out.with(name, renamed(*text));
    else
      out.with(name, std::get<int64_t>(value));
  }
  if (auto advice = error.advice()) return std::move(out).advise(*advice);
  return std::move(out).hint(error.hint());
}

std::string vendor_hint(const http::Request& request, const Error& error) {
  if (error.advice() == Advice::send_valid_key && !request.headers.get("Authorization"))
    for (auto name : {"X-API-Key", "api-key", "x-ms-apikey"})
      if (request.headers.get(name)) return "Send a valid key in the header '" + std::string(name) + "'.";
  return hint_for(Audience::vendor, error);
}

}  // namespace sk::api
