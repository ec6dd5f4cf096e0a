// The script-free page: sign-in, workspaces, folders, files with their versions, upload, restore. Handlers
// run on any thread; their errors become HTML pages.
#pragma once

#include "api/common/layout.h"
#include "api/common/routes.h"

namespace sk::api::page {

// A person signed in with the page's cookie.
struct User {
  workspace::Actor actor;
  std::string form_token;
};

// Returns the signed-in user; Error(unauthorized) when nobody is signed in.
User need_user(Call& call);
// The same for a form. Error(forbidden) when `token` is not the session's token: the form came from
// elsewhere.
User need_form_user(Call& call, const std::string& token);

Frame frame_for(const User& user, std::string title);

// Wraps a handler so that its errors are pages too. Without a sign-in, redirects to the sign-in page, which
// leads back.
CallHandler as_page(CallHandler handler);
http::Reply error_page(const Call& call, const Error& error);

// Show one folder, one file, and the trash.
http::Reply show_folder(Call& call, const User& user, const workspace::Authority& workspace,
                        const std::string& path);
http::Reply show_file(Call& call, const User& user, const workspace::Authority& workspace,
                      const workspace::Entry& entry);
http::Reply show_trash(Call& call, const User& user, const workspace::Authority& workspace);

void add_sign_in_routes(Routes& routes);
void add_form_routes(Routes& routes);  // actions of the page's buttons
void add_upload_form_route(Routes& routes);
void add_routes(Routes& routes);

}  // namespace sk::api::page
