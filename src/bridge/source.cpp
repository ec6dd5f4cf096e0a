#include "bridge/source.h"

#include <array>

#include "base/error.h"
#include "base/text.h"

namespace sk::bridge {

namespace {

constexpr std::array<std::string_view, 3> kKinds = {"openai", "foundry", "azure"};
constexpr size_t kUrlBytesMax = 2048;
constexpr size_t kKeyBytesMax = 16 << 10;  // Entra tokens have several kilobytes
constexpr size_t kContainerBytesMax = 256;

[[noreturn]] void refuse(std::string_view field, const std::string& message) {
  throw Error(Code::bad_request, message).with("field", "source." + std::string(field));
}

bool is_printable_ascii(std::string_view text) {
  for (char c : text) {
    if (c < '!' || c > '~') return false;
  }
  return true;
}

std::string text_field(const Json& json, const std::string& name, bool required) {
  auto found = json.find(name);
  if (found == json.end() || found->is_null()) {
    if (required) refuse(name, "'source." + name + "' is missing");
    return {};
  }
  if (!found->is_string()) refuse(name, "'source." + name + "' must be text");
  return found->get<std::string>();
}

SourceKind parse_kind(const std::string& text) {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i] == text) return static_cast<SourceKind>(i);
  }
  refuse("kind", "'source.kind' must be openai, foundry or azure");
}

std::string parse_base_url(std::string url, PlainHttp plain_http) {
  while (url.ends_with('/')) url.pop_back();
  auto origin = origin_of_url(url);
  bool fits = !origin.empty() && url.size() <= kUrlBytesMax && is_printable_ascii(url) &&
              url.find_first_of("?#\\\"<>") == std::string::npos;
  if (!fits) refuse("base_url", "'source.base_url' must be an address such as https://api.openai.com/v1");
  if (origin.starts_with("http:") && plain_http == PlainHttp::refused)
    refuse("base_url", "'source.base_url' must begin with https://, since a key is sent there");
  return url;
}

}  // namespace

std::string origin_of_url(std::string_view url) {
  auto lower = ascii_lower(url.substr(
      0, url.find_first_of("/?#", url.find("://") == std::string_view::npos ? 0 : url.find("://") + 3)));
  bool known = lower.starts_with("http://") || lower.starts_with("https://");
  auto host = known ? std::string_view(lower).substr(lower.find("://") + 3) : std::string_view();
  // User information before '@' may be a password or misleading.
  if (host.empty() || host.find('@') != std::string_view::npos || !is_printable_ascii(host)) return {};
  return lower;
}

RemoteSource parse_source(const Json& json, PlainHttp plain_http) {
  if (!json.is_object()) throw Error(Code::bad_request, "'source' must be an object").with("field", "source");
  for (const auto& [name, value] : json.items()) {
    if (name != "kind" && name != "base_url" && name != "key" && name != "container")
      refuse(name, "'source' has no field '" + name + "'");
  }
  RemoteSource out;
  out.kind = parse_kind(text_field(json, "kind", true));
  out.base_url = parse_base_url(text_field(json, "base_url", true), plain_http);
  out.key = text_field(json, "key", true);
  if (out.key.empty() || out.key.size() > kKeyBytesMax || !is_printable_ascii(out.key))
    refuse("key", "'source.key' must be a key as the other system gave it");
  out.container = text_field(json, "container", false);
  if (out.container.size() > kContainerBytesMax)
    refuse("container", "'source.container' may have at most 256 bytes");
  return out;
}

}  // namespace sk::bridge
