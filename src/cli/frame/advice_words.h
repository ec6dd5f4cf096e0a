// Wording of an error's Advice on the command line, whether a server sent it by name or a module threw it
// in this process: commands and options instead of routes and headers. A pure function; any thread.
#pragma once

#include <string>

#include "base/error.h"

namespace sk::cli {

std::string hint_of(const Error& error);

}  // namespace sk::cli
