// Errors and notes of the domain in the terms of other vendors' clients, which know a session's files by the
// paths that code sees. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "http/message.h"

namespace sk::api {

// The path at which code in a session sees the entry at `path` of the workspace: below /mnt/data if it lies
// in the session's folder, else unchanged.
std::string mounted_path(std::string_view folder, std::string_view path);

// mounted_path() of one session, for the sentences of its errors and notes.
PathNaming mounted_paths(std::string folder);

// The error with the paths that the client of the request knows; see Request::mounted_folder.
Error with_mounted_paths(const http::Request& request, const Error& error);

// The hint for the client of the request. A refused key is named by the header in which the client sent it.
std::string vendor_hint(const http::Request& request, const Error& error);

}  // namespace sk::api
