// Layout of all HTML pages: the frame, recurring elements, and the headers that block scripts. Pure
// functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "api/common/call.h"
#include "api/common/markup.h"
#include "http/message.h"
#include "workspace/types.h"

namespace sk::api::page {

// The frame of a page. `user` and `form_token` are empty when nobody is signed in.
struct Frame {
  std::string title;
  std::string user;
  std::string form_token;
};
http::Reply html_page(const Frame& frame, const Markup& content, int status = 200);

// The stylesheet's path changes with its content, so browsers can cache it forever.
std::string_view stylesheet();
const std::string& stylesheet_path();

// Returns the page's URL path of a file or folder: "/w/{ws}/a/b%20c".
std::string page_path(const workspace::Workspace& workspace, std::string_view path);
// Formats a <time> element in UTC, to the minute.
Markup time_of(TimeUs time_us);
Markup size_of(uint64_t bytes);
// Returns the hidden field that every form must send back.
Markup token_field(const std::string& form_token);
Markup breadcrumbs(const workspace::Workspace& workspace, std::string_view path);
// Shows the used percentage of the quota as a meter with its figures.
Markup quota_meter(const workspace::Workspace& workspace);

}  // namespace sk::api::page
