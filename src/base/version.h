// Version of the program. A test checks that it equals the version in CMakeLists.txt.
#pragma once

#include <string_view>

namespace sk {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace sk
