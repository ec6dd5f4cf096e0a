#include "api/common/markup.h"

#include "base/text.h"

namespace sk::api::page {

Markup esc(std::string_view text) {
  Markup out;
  out.html_ = html_escape(text);
  return out;
}

Markup trusted(std::string html) {
  Markup out;
  out.html_ = std::move(html);
  return out;
}

}  // namespace sk::api::page
