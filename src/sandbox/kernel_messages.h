// Parses frames from a session into values. Throws Error(bad_request) with the reason for invalid frames.
// Pure functions on untrusted input.
#pragma once

#include <string>

#include "base/json.h"
#include "sandbox/kernel.h"

namespace sk::sandbox {

// Read a field of a frame. Absent fields are empty or zero. Throw when the field has another type.
std::string text_field(const Json& frame, const char* name);
uint64_t number_field(const Json& frame, const char* name);
bool flag_field(const Json& frame, const char* name);

// Parses an object with a text field "t". Throws on anything else.
Json parse_kernel_frame(const std::string& text);
MimeBundle parse_bundle(const Json& frame);
CellError parse_error(const Json& frame);
CellDone parse_done(const Json& frame);
KernelRequest parse_request(const Json& frame);

}  // namespace sk::sandbox
