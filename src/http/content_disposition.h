// Formats and parses Content-Disposition (RFC 6266, RFC 5987, and the variants in browser forms). Pure
// functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sk::http {

enum class Disposition { show, download };  // "inline", "attachment"

// Formats the header with an ASCII name for old clients, and adds filename* when the name is not plain ASCII.
std::string content_disposition(Disposition disposition, std::string_view filename);

struct ParsedDisposition {
  std::string type;  // lowercase: "form-data", "attachment"
  // Names are lowercase. The decoded value of "filename*" is stored as "filename".
  std::map<std::string, std::string, std::less<>> params;
};

// Returns nullopt when the text is not a type with parameters.
std::optional<ParsedDisposition> parse_content_disposition(std::string_view text);

}  // namespace sk::http
