// Environment variables as a value, so that tests can pass their own.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace sk {

using Environment = std::map<std::string, std::string, std::less<>>;

// This process's environment.
Environment process_environment();

}  // namespace sk
