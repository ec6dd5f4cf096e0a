// The Python packages that people expect of a code interpreter.
#pragma once

#include <string>
#include <vector>

namespace sk::cli {

// Debian's names without "python3-", of those that are not below `usr`.
std::vector<std::string> missing_python_packages(const std::string& usr);

}  // namespace sk::cli
