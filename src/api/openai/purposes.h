// What a client may say that a file is for.
#pragma once

#include <string>

namespace sk::api::openai {

// Error(bad_request) for a purpose that OpenAI's API does not take.
void check_purpose(const std::string& purpose);

}  // namespace sk::api::openai
