// The names under which code calls a client's tools. LibreChat tells the model the same names, so the rules
// are those of its own programs. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace sk::api::librechat {

// Returns the tool's name as an identifier of the language, "python" or "bash": "get-weather" →
// "get_weather". A reserved word gets the suffix "_tool".
std::string function_name(std::string_view tool, std::string_view language);

}  // namespace sk::api::librechat
