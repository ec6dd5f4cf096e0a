// OpenAI's dialect: containers, their files, Files and Uploads, and `exec`, which is our own.
#pragma once

#include "api/common/routes.h"
#include "api/vendor/openai_mount.h"

namespace sk::api::openai {

void add_routes(Routes& routes, const OpenAiMount& mount);

// One resource each.
void add_container_routes(Routes& routes, const OpenAiMount& mount);
void add_container_file_routes(Routes& routes, const OpenAiMount& mount);
void add_exec_routes(Routes& routes, const OpenAiMount& mount);
void add_file_routes(Routes& routes, const OpenAiMount& mount);
void add_upload_routes(Routes& routes, const OpenAiMount& mount);

// An operation of this dialect: lenient and not in our own document.
Operation operation(const OpenAiMount& mount, std::string method, const std::string& path,
                    const std::string& id);
// The handler's reply, with what of the request was ignored.
CallHandler telling_ignored(CallHandler handler);

}  // namespace sk::api::openai
