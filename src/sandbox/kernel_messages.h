// Frames from a session as values, or an Error(bad_request) that says what is wrong with them. Pure functions
// of untrusted input.
#pragma once

#include <string>

#include "base/json.h"
#include "sandbox/kernel.h"

namespace sk::sandbox {

// The fields of a frame. Throw when the field has another type; absent fields are empty or zero.
std::string text_field(const Json& frame, const char* name);
uint64_t number_field(const Json& frame, const char* name);
bool flag_field(const Json& frame, const char* name);

// An object with a text "t". Throws on anything else.
Json parse_kernel_frame(const std::string& text);
MimeBundle parse_bundle(const Json& frame);
CellError parse_error(const Json& frame);
CellDone parse_done(const Json& frame);
KernelRequest parse_request(const Json& frame);

}  // namespace sk::sandbox
