// Prefixes of ids in our own API.
#pragma once

#include <string_view>

namespace sk::prefix {

inline constexpr std::string_view workspace = "ws_";
inline constexpr std::string_view file = "f_";
inline constexpr std::string_view version = "v_";
inline constexpr std::string_view principal = "p_";
inline constexpr std::string_view key = "key_";
inline constexpr std::string_view lock = "lock_";
inline constexpr std::string_view session = "s_";
inline constexpr std::string_view execution = "x_";

}  // namespace sk::prefix
