// HTML that is escaped by construction. Only literals and Markup can be appended. Other text becomes Markup
// only through esc() or trusted().
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

// Escapes text for element content and quoted attributes.
Markup esc(std::string_view text);
// Wraps text that is already HTML and comes from this program, such as a number.
Markup trusted(std::string html);

}  // namespace sk::api::page
