// HTML that cannot be written without escaping: only literals and Markup can be appended, and the only way
// from other text to Markup is esc().
#pragma once

#include <string>
#include <string_view>

namespace sk::api::page {

class Markup {
 public:
  Markup() = default;
  template <size_t N>
  Markup(const char (&literal)[N]) : html_(literal, N - 1) {}

  template <size_t N>
  Markup& operator<<(const char (&literal)[N]) {
    html_.append(literal, N - 1);
    return *this;
  }
  Markup& operator<<(const Markup& other) {
    html_ += other.html_;
    return *this;
  }
  Markup& operator<<(const std::string&) = delete;
  Markup& operator<<(std::string_view) = delete;

  const std::string& html() const { return html_; }
  bool empty() const { return html_.empty(); }

 private:
  friend Markup esc(std::string_view text);
  friend Markup trusted(std::string html);
  std::string html_;
};

// For content and for quoted attributes.
Markup esc(std::string_view text);
// For text that is HTML already and comes from our own program, such as a number.
Markup trusted(std::string html);

}  // namespace sk::api::page
