#include "http/forwarded.h"

#include <arpa/inet.h>

#include <optional>

#include "base/text.h"

namespace sk::http {

namespace {

using Address = std::array<uint8_t, 16>;

// Maps IPv4 into IPv6 (::ffff:a.b.c.d), so one comparison covers both families.
std::optional<Address> parse_address(std::string_view text) {
  Address address{};
  std::string copy(text);
  if (copy.find('\0') != std::string::npos) return std::nullopt;
  if (copy.size() > 2 && copy.front() == '[' && copy.back() == ']') copy = copy.substr(1, copy.size() - 2);
  if (::inet_pton(AF_INET6, copy.c_str(), address.data()) == 1) return address;
  address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (::inet_pton(AF_INET, copy.c_str(), address.data() + 12) == 1) return address;
  return std::nullopt;
}

bool same_prefix(const Address& a, const Address& b, int bits) {
  for (int i = 0; i < 16 && bits > 0; ++i, bits -= 8) {
    auto mask = static_cast<uint8_t>(bits >= 8 ? 0xff : 0xff << (8 - bits));
    auto at = static_cast<size_t>(i);
    if ((a[at] & mask) != (b[at] & mask)) return false;
  }
  return true;
}

// Removes the port that some proxies add: "1.2.3.4:567", "[::1]:567".
std::string_view without_port(std::string_view text) {
  if (text.starts_with('[')) {
    auto end = text.find(']');
    return end == std::string_view::npos ? text : text.substr(0, end + 1);
  }
  auto colon = text.find(':');
  bool one_colon = colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos;
  return one_colon ? text.substr(0, colon) : text;
}

std::string client_address(const TrustedProxies& proxies, std::string_view peer, const Headers& headers) {
  std::string client(peer);
  auto chain = headers.get_list("X-Forwarded-For");
  if (!chain) return client;
  auto hops = split(*chain, ',');
  for (auto hop = hops.rbegin(); hop != hops.rend() && proxies.contains(client); ++hop) {
    auto text = without_port(trim(*hop));
    if (!parse_address(text)) break;
    if (text.starts_with('[')) text = text.substr(1, text.size() - 2);
    client = text;
  }
  return client;
}

// Returns the first element of a list, which the outermost proxy added.
std::string_view first_of(std::string_view list) { return trim(list.substr(0, list.find(','))); }

}  // namespace

TrustedProxies::TrustedProxies(const std::vector<std::string>& entries) {
  for (const auto& entry : entries) {
    auto slash = entry.find('/');
    auto address = parse_address(trim(std::string_view(entry).substr(0, slash)));
    bool v4 = entry.find(':') == std::string::npos;
    int bits = 128;
    bool valid = address.has_value();
    if (valid && slash != std::string::npos) {
      auto given = parse_unsigned(trim(std::string_view(entry).substr(slash + 1)));
      valid = given && *given <= (v4 ? 32u : 128u);
      if (valid) bits = static_cast<int>(*given) + (v4 ? 96 : 0);
    }
    if (!valid)
      throw Error(Code::bad_request,
                  "'" + entry + "' is neither an IP address nor a block such as 10.0.0.0/8.");
    blocks_.push_back({*address, bits});
  }
}

bool TrustedProxies::contains(std::string_view address) const {
  if (blocks_.empty()) return false;
  auto parsed = parse_address(address);
  if (!parsed) return false;
  for (const auto& block : blocks_)
    if (same_prefix(block.address, *parsed, block.bits)) return true;
  return false;
}

bool is_host(std::string_view text) {
  if (text.empty() || text.size() > 255 + 6) return false;
  std::string_view port;
  if (text.front() == '[') {
    auto end = text.find(']');
    if (end == std::string_view::npos || !parse_address(text.substr(0, end + 1))) return false;
    port = text.substr(end + 1);
  } else {
    auto colon = text.find(':');
    auto name = text.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
    if (name.empty()) return false;
    for (char c : name) {
      bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                  c == '.' || c == '_';
      if (!fine) return false;
    }
  }
  if (port.empty()) return true;
  if (port.front() != ':') return false;
  auto number = parse_unsigned(port.substr(1));
  return number && *number > 0 && *number <= 65535;
}

Forwarded resolve_forwarded(const TrustedProxies& proxies, const ForwardedFrom& from,
                            const Headers& headers) {
  Forwarded result;
  result.remote_address = client_address(proxies, from.peer_address, headers);
  if (!from.public_url.empty()) {
    result.base_url = from.public_url;
    while (result.base_url.ends_with('/')) result.base_url.pop_back();
    return result;
  }
  std::string scheme(from.scheme);
  std::string host = headers.get("Host").value_or("");
  if (proxies.contains(from.peer_address)) {
    auto proto = ascii_lower(first_of(headers.get("X-Forwarded-Proto").value_or("")));
    if (proto == "http" || proto == "https") scheme = proto;
    auto forwarded_host = headers.get("X-Forwarded-Host").value_or("");
    auto outer = first_of(forwarded_host);
    if (is_host(outer)) host = outer;
  }
  if (is_host(host)) result.base_url = scheme + "://" + host;
  return result;
}

}  // namespace sk::http
