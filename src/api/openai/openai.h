// OpenAI's dialect: containers, their files, Files and Uploads, and the extension `exec`.
#pragma once

#include "api/common/routes.h"
#include "api/vendor/openai_mount.h"
#include "interpreter/types.h"

namespace sk::api::openai {

void add_routes(Routes& routes, const OpenAiMount& mount);

// Each function adds the routes of one resource.
void add_container_routes(Routes& routes, const OpenAiMount& mount);
void add_container_file_routes(Routes& routes, const OpenAiMount& mount);
void add_exec_routes(Routes& routes, const OpenAiMount& mount);
void add_file_routes(Routes& routes, const OpenAiMount& mount);
void add_upload_routes(Routes& routes, const OpenAiMount& mount);

// Returns an operation of this dialect: lenient, and not in Sandkeep's OpenAPI document.
Operation operation(const OpenAiMount& mount, std::string method, const std::string& path,
                    const std::string& id);
// The container that {container} names, even if deleted; Error(not_found) when there is none. Error replies
// then name its files as its code sees them.
interpreter::SessionInfo container_of(Call& call);
// The same, but a deleted container is Error(not_found).
interpreter::SessionInfo living_container_of(Call& call);
// Wraps a handler so that its reply names the ignored fields of the request.
CallHandler telling_ignored(CallHandler handler);
// Error(bad_request) for a purpose that OpenAI's API does not accept.
void check_purpose(const std::string& purpose);

}  // namespace sk::api::openai
