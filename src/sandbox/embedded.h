// The parts of the sandbox that run in other processes, carried inside this binary: each becomes an anonymous
// file that can be executed or loaded by its descriptor, so that nothing has to be installed or written to
// disk.
#pragma once

#include <string_view>

#include "base/fd.h"

namespace sk::sandbox {

std::string_view embedded_launcher();
std::string_view embedded_library();
std::string_view embedded_program();  // a zip archive that Python runs

// An anonymous file with `content`, sealed against change. Throws Error(internal).
Fd sealed_file(const char* name, std::string_view content);

}  // namespace sk::sandbox
