#include "server/settings_rules.h"

#include <arpa/inet.h>

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace sk::server::rules {

namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};
constexpr std::array<Unit, 7> kSizeUnits = {{{"EiB", 1_EiB},
                                             {"PiB", 1_PiB},
                                             {"TiB", 1_TiB},
                                             {"GiB", 1_GiB},
                                             {"MiB", 1_MiB},
                                             {"KiB", 1_KiB},
                                             {"B", 1}}};
constexpr std::array<Unit, 5> kTimeUnits = {{{"d", 86400}, {"h", 3600}, {"min", 60}, {"m", 60}, {"s", 1}}};

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

bool is_network(const std::string& text) {
  auto slash = text.find('/');
  auto address = text.substr(0, slash);
  unsigned char bytes[16];
  bool is_v4 = ::inet_pton(AF_INET, address.c_str(), bytes) == 1;
  if (!is_v4 && ::inet_pton(AF_INET6, address.c_str(), bytes) != 1) return false;
  if (slash == std::string::npos) return true;
  auto prefix = parse_unsigned(std::string_view(text).substr(slash + 1));
  return prefix && *prefix <= (is_v4 ? 32u : 128u);
}

// Splits "https://host:port/rest" after the host. Returns nullopt for other text.
struct UrlParts {
  std::string_view host, rest;
};
std::optional<UrlParts> split_url(std::string_view text) {
  std::string_view after;
  for (std::string_view scheme : {"http://", "https://"})
    if (text.starts_with(scheme)) after = text.substr(scheme.size());
  auto end = std::min(after.find_first_of("/?#"), after.size());
  auto host = after.substr(0, end);
  if (host.empty() || !is_visible(text) || host.find('@') != std::string_view::npos) return std::nullopt;
  return UrlParts{host, after.substr(end)};
}

// Returns the items of a list if `accept` is true for all.
template <class Accept>
std::optional<std::vector<std::string>> list_of(std::string_view text, Accept accept) {
  auto items = split_list(text);
  if (!std::all_of(items.begin(), items.end(), accept)) return std::nullopt;
  return items;
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  for (auto part : split(text, ','))
    if (auto item = trim(part); !item.empty()) items.emplace_back(item);
  return items;
}

std::string size_text(uint64_t bytes) {
  if (bytes == 0) return "0";
  for (const auto& unit : kSizeUnits)
    if (bytes % unit.factor == 0) return std::to_string(bytes / unit.factor) + " " + std::string(unit.name);
  return std::to_string(bytes);
}

std::string duration_text(int64_t seconds) {
  if (seconds == 0) return "0";
  for (const auto& unit : kTimeUnits) {
    auto factor = static_cast<int64_t>(unit.factor);
    if (seconds % factor == 0) return std::to_string(seconds / factor) + " " + std::string(unit.name);
  }
  return std::to_string(seconds);
}

std::optional<std::vector<std::string>> Paths::parse(std::string_view text) const {
  return list_of(text,
                 [](const std::string& item) { return item.starts_with('/') || item.starts_with("~/"); });
}

std::optional<std::vector<std::string>> Runtimes::parse(std::string_view text) const {
  return list_of(text, [](const std::string& item) {
    auto equals = item.find('=');
    std::string_view name = std::string_view(item).substr(0, equals == std::string::npos ? 0 : equals);
    std::string_view folder = std::string_view(item).substr(equals == std::string::npos ? 0 : equals + 1);
    auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    return folder.starts_with('/') && equals != 0 && name.size() <= 32 && std::ranges::all_of(name, is_plain);
  });
}

std::optional<std::string> Secret::parse(std::string_view text) const {
  if (text.size() > 512 || !is_visible(text)) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> Word::parse(std::string_view text) const {
  if (text.size() > 256 || !is_visible(text)) return std::nullopt;
  return std::string(text);
}

std::optional<Address> HostPort::parse(std::string_view text) const {
  auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto host = text.substr(0, colon);
  auto port = parse_unsigned(text.substr(colon + 1));
  if (!port || *port > std::numeric_limits<uint16_t>::max()) return std::nullopt;
  bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  // Without brackets, the last group of an IPv6 address would be parsed as a port.
  if (host.empty() || !is_visible(host) || (host.find(':') != std::string_view::npos) != bracketed)
    return std::nullopt;
  return Address{std::string(host), static_cast<uint16_t>(*port)};
}

std::optional<std::string> Url::parse(std::string_view text) const {
  if (text.empty()) return std::string();
  auto parts = split_url(text);
  if (!parts || parts->rest.find_first_of("?#") != std::string_view::npos) return std::nullopt;
  while (text.back() == '/') text.remove_suffix(1);
  return std::string(text);
}

std::optional<std::vector<std::string>> Networks::parse(std::string_view text) const {
  return list_of(text, is_network);
}

std::optional<std::vector<std::string>> Origins::parse(std::string_view text) const {
  return list_of(text, [](const std::string& item) {
    auto parts = split_url(item);
    return item == "*" || (parts && parts->rest.empty());
  });
}

std::optional<bool> Switch::parse(std::string_view text) const {
  for (std::string_view yes : {"on", "true", "yes", "1"})
    if (text == yes) return true;
  for (std::string_view no : {"off", "false", "no", "0"})
    if (text == no) return false;
  return std::nullopt;
}

std::optional<uint64_t> Count::parse(std::string_view text) const {
  auto value = parse_unsigned(text);
  if (!value || *value < least_ || *value > most_) return std::nullopt;
  return value;
}

std::string Count::expected() const {
  return "a whole number from " + std::to_string(least_) + " to " + std::to_string(most_);
}

std::optional<uint64_t> Size::parse(std::string_view text) const {
  auto value = parse_size(text);
  if (!value || *value < least_ || *value > most_) return std::nullopt;
  return value;
}

std::string Size::expected() const {
  return "a size from " + size_text(least_) + " to " + size_text(most_) + ", such as 512 KiB or 2 GiB";
}

std::optional<int64_t> Duration::parse(std::string_view text) const {
  size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  auto number = parse_unsigned(text.substr(0, digits));
  auto unit_name = trim(text.substr(digits));
  const auto* unit =
      std::find_if(kTimeUnits.begin(), kTimeUnits.end(), [&](const Unit& u) { return u.name == unit_name; });
  if (!number || (unit == kTimeUnits.end() && !unit_name.empty())) return std::nullopt;
  uint64_t factor = unit_name.empty() ? 1 : unit->factor;
  if (*number > static_cast<uint64_t>(most_s_) / factor) return std::nullopt;
  auto seconds = static_cast<int64_t>(*number * factor);
  if (seconds < least_s_) return std::nullopt;
  return seconds;
}

std::string Duration::expected() const {
  return "a time from " + duration_text(least_s_) + " to " + duration_text(most_s_) +
         ", such as 90 s, 20 min, 12 h or 30 d";
}

}  // namespace sk::server::rules
