// The script-free page: sign in, workspaces, folders, files with their versions, upload, restore.
#pragma once

#include "api/common/layout.h"
#include "api/common/routes.h"

namespace sk::api::page {

// Somebody who is signed in by the page's cookie.
struct User {
  workspace::Actor actor;
  std::string form_token;
};

// Error(unauthorized) for who is not.
User need_user(Call& call);
// The same for a form; Error(forbidden) when `token` is not the session's, which means that the form was made
// by somebody else.
User need_form_user(Call& call, const std::string& token);

Frame frame_for(const User& user, std::string title);

// A handler whose errors are pages too; who is not signed in is sent to sign in and comes back.
CallHandler as_page(CallHandler handler);
http::Reply error_page(const Call& call, const Error& error);

// Adds what is in one folder, for readers of many files.
http::Reply show_folder(Call& call, const User& user, const workspace::Authority& workspace,
                        const std::string& path);
http::Reply show_file(Call& call, const User& user, const workspace::Authority& workspace,
                      const workspace::Entry& entry);
http::Reply show_trash(Call& call, const User& user, const workspace::Authority& workspace);

void add_sign_in_routes(Routes& routes);
void add_form_routes(Routes& routes);  // what the page's buttons do
void add_upload_form_route(Routes& routes);
void add_routes(Routes& routes);

}  // namespace sk::api::page
