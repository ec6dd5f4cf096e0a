// Content-Disposition both ways (RFC 6266, RFC 5987, and what browsers send in forms). Pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sk::http {

enum class Disposition { show, download };  // "inline", "attachment"

// With an ASCII name for old clients and filename* where the name has more than that.
std::string content_disposition(Disposition disposition, std::string_view filename);

struct ParsedDisposition {
  std::string type;  // in lower case: "form-data", "attachment"
  std::map<std::string, std::string, std::less<>>
      params;  // names in lower case; the value of "filename*" decoded, under "filename"
};

// nullopt when the text is not a type with parameters.
std::optional<ParsedDisposition> parse_content_disposition(std::string_view text);

}  // namespace sk::http
