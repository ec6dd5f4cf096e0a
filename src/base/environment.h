// Environment variables as a value, so tests can pass their own.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace sk {

using Environment = std::map<std::string, std::string, std::less<>>;

// Returns a copy of this process's environment.
Environment process_environment();

}  // namespace sk
