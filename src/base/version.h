// The version of the program, as CMakeLists.txt states it; a test compares the two.
#pragma once

#include <string_view>

namespace sk {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace sk
