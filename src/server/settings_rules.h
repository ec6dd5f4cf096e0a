// Rules for the text of a setting. parse() returns nullopt for text that is not accepted. expected() is a
// phrase that completes "… is not". value() is the placeholder in help texts. Private to
// server/settings*.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/settings.h"

namespace sk::server::rules {

constexpr uint64_t operator""_KiB(unsigned long long n) { return n << 10; }
constexpr uint64_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr uint64_t operator""_GiB(unsigned long long n) { return n << 30; }
constexpr uint64_t operator""_TiB(unsigned long long n) { return n << 40; }
constexpr uint64_t operator""_PiB(unsigned long long n) { return n << 50; }
constexpr uint64_t operator""_EiB(unsigned long long n) { return n << 60; }

// Splits a list at commas, trims the items and drops empty ones.
std::vector<std::string> split_list(std::string_view text);

// Returns the shortest common form, such as "32 KiB" or "90 min", which the parser accepts.
std::string size_text(uint64_t bytes);
std::string duration_text(int64_t seconds);

class Path {
 public:
  static constexpr bool kIsPath = true;
  explicit Path(std::string_view value) : value_(value) {}
  std::optional<std::string> parse(std::string_view text) const { return std::string(text); }
  std::string expected() const { return "a path"; }
  std::string value() const { return std::string(value_); }

 private:
  std::string_view value_;
};

struct Paths {
  static constexpr bool kIsPath = true;
  std::optional<std::vector<std::string>> parse(std::string_view text) const;
  std::string expected() const { return "a list of absolute paths, separated by commas"; }
  std::string value() const { return "DIR,…"; }
};

// Root filesystems for sessions: "DIR" is the default, "NAME=DIR" are further ones.
struct Runtimes {
  std::optional<std::vector<std::string>> parse(std::string_view text) const;
  std::string expected() const { return "a list of DIR or NAME=DIR, absolute and separated by commas"; }
  std::string value() const { return "[NAME=]DIR,…"; }
};

// A key that is valid in an Authorization header.
struct Secret {
  static constexpr bool kIsSecret = true;
  std::optional<std::string> parse(std::string_view text) const;
  std::string expected() const { return "a key of up to 512 visible ASCII characters without spaces"; }
  std::string value() const { return "KEY"; }
};

// A name that is only compared, never interpreted.
struct Word {
  std::optional<std::string> parse(std::string_view text) const;
  std::string expected() const { return "up to 256 visible ASCII characters without spaces"; }
  std::string value() const { return "TEXT"; }
};

struct HostPort {
  std::optional<Address> parse(std::string_view text) const;
  std::string expected() const { return "an address and port, such as 127.0.0.1:8420 or [::1]:0"; }
  std::string value() const { return "HOST:PORT"; }
};

struct Url {
  std::optional<std::string> parse(std::string_view text) const;
  std::string expected() const {
    return "an http(s) address without query, such as https://files.example.org";
  }
  std::string value() const { return "URL"; }
};

struct Networks {
  std::optional<std::vector<std::string>> parse(std::string_view text) const;
  std::string expected() const { return "a list of addresses or networks, such as 127.0.0.1,10.0.0.0/8,::1"; }
  std::string value() const { return "NET,…"; }
};

struct Origins {
  std::optional<std::vector<std::string>> parse(std::string_view text) const;
  std::string expected() const { return "'*', or a list of origins, such as https://app.example.org"; }
  std::string value() const { return "ORIGIN,…"; }
};

struct Switch {
  static constexpr bool kIsSwitch = true;
  std::optional<bool> parse(std::string_view text) const;
  std::string expected() const { return "on or off"; }
  std::string value() const { return "on|off"; }
};

class Count {
 public:
  Count(uint64_t least, uint64_t most) : least_(least), most_(most) {}
  std::optional<uint64_t> parse(std::string_view text) const;
  std::string expected() const;
  std::string value() const { return "N"; }

 private:
  uint64_t least_, most_;
};

class Size {
 public:
  Size(uint64_t least, uint64_t most) : least_(least), most_(most) {}
  std::optional<uint64_t> parse(std::string_view text) const;
  std::string expected() const;
  std::string value() const { return "SIZE"; }

 private:
  uint64_t least_, most_;
};

// In seconds; "90", "90 s", "20 min", "12 h", "30 d".
class Duration {
 public:
  Duration(int64_t least_s, int64_t most_s) : least_s_(least_s), most_s_(most_s) {}
  std::optional<int64_t> parse(std::string_view text) const;
  std::string expected() const;
  std::string value() const { return "TIME"; }

 private:
  int64_t least_s_, most_s_;
};

// The names of an enum's values, in its order.
template <class Enum>
constexpr std::array<std::string_view, 0> kChoices{};
template <>
inline constexpr std::array<std::string_view, 4> kChoices<log::Level>{"debug", "info", "warn", "error"};
template <>
inline constexpr std::array<std::string_view, 2> kChoices<log::Format>{"text", "json"};
template <>
inline constexpr std::array<std::string_view, 2> kChoices<Tls>{"off", "self-signed"};
template <>
inline constexpr std::array<std::string_view, 3> kChoices<SandboxMode>{"required", "weak", "off"};
template <>
inline constexpr std::array<std::string_view, 2> kChoices<LimitsMode>{"exact", "approximate"};

template <class Enum>
struct Choice {
  std::optional<Enum> parse(std::string_view text) const {
    for (size_t i = 0; i < kChoices<Enum>.size(); ++i)
      if (text == kChoices<Enum>[i]) return static_cast<Enum>(i);
    return std::nullopt;
  }
  std::string expected() const { return "one of " + value(); }
  std::string value() const {
    std::string out;
    for (auto name : kChoices<Enum>) out += (out.empty() ? "" : "|") + std::string(name);
    return out;
  }
};

}  // namespace sk::server::rules
