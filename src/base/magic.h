// Detects the type of content from its first bytes, with libmagic. Its parsers are large, and content may be
// hostile: the server lets a process of its own do this (sandbox/type_reader.h).
#pragma once

#include <string>
#include <string_view>

namespace sk {

// Any thread. Takes up to some milliseconds, the first call some tens. Returns a MIME type, or "" for none.
std::string type_by_magic(std::string_view bytes);

}  // namespace sk
