// Errors and notes of the domain in the terms of other vendors' clients, which know a session's files by the
// paths that code sees. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "http/message.h"

namespace sk::api {

// Replaces paths at and below the workspace folder `folder` with paths at and below /mnt/data. Returns the
// text unchanged for the root folder.
std::string with_mounted_paths(std::string_view folder, std::string_view text);

// The error with the paths that the client of the request knows; see Request::mounted_folder.
Error with_mounted_paths(const http::Request& request, const Error& error);

// The hint for the client of the request. A refused key is named by the header in which the client sent it.
std::string vendor_hint(const http::Request& request, const Error& error);

}  // namespace sk::api
