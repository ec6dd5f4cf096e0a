// The purposes that a client may give a file.
#pragma once

#include <string>

namespace sk::api::openai {

// Error(bad_request) for a purpose that OpenAI's API does not accept.
void check_purpose(const std::string& purpose);

}  // namespace sk::api::openai
