// Python packages that users expect in a code interpreter.
#pragma once

#include <string>
#include <vector>

namespace sk::cli {

// Returns the expected packages that are missing below `usr`, as Debian names without "python3-".
std::vector<std::string> missing_python_packages(const std::string& usr);

}  // namespace sk::cli
