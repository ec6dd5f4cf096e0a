// What all pages look like: the frame around them, small pieces that recur, and the headers that keep scripts
// out.
#pragma once

#include <string>
#include <string_view>

#include "api/common/call.h"
#include "api/common/markup.h"
#include "http/message.h"
#include "workspace/types.h"

namespace sk::api::page {

// A page's frame. `user` is empty for those who are not signed in; `form_token` is theirs.
struct Frame {
  std::string title;
  std::string user;
  std::string form_token;
};
http::Reply html_page(const Frame& frame, const Markup& content, int status = 200);

// The stylesheet's address changes with its content, so that it can be cached for ever.
std::string_view stylesheet();
const std::string& stylesheet_path();

// "/w/{ws}/a/b%20c": where the page shows a path.
std::string page_path(const workspace::Workspace& workspace, std::string_view path);
// <time>, with minutes, in UTC.
Markup time_of(TimeUs time_us);
Markup size_of(uint64_t bytes);
// The hidden field that every form must send back.
Markup token_field(const std::string& form_token);
Markup breadcrumbs(const workspace::Workspace& workspace, std::string_view path);
// Percentage of the quota, as a meter with its figures.
Markup quota_meter(const workspace::Workspace& workspace);

}  // namespace sk::api::page
