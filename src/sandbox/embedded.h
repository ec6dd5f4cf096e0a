// Sandbox programs that run in other processes, embedded in this binary. Each becomes an anonymous file that
// is executed or loaded by descriptor, so nothing must be installed or written to disk.
#pragma once

#include <string_view>

#include "base/fd.h"

namespace sk::sandbox {

std::string_view embedded_launcher();
std::string_view embedded_library();
std::string_view embedded_program();  // zip archive that Python runs

// Creates an anonymous file with `content`, sealed against changes. Throws Error(internal).
Fd sealed_file(const char* name, std::string_view content);

}  // namespace sk::sandbox
