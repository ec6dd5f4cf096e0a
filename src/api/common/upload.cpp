#include "api/common/upload.h"

#include "api/common/fields.h"
#include "base/text.h"

namespace sk::api {

workspace::Checksums announced_checksums(const http::Headers& headers) {
  workspace::Checksums announced;
  if (auto text = headers.get("X-Sandkeep-Sha256")) {
    announced.sha256 = Sha256::from_hex(trim(*text));
    if (!announced.sha256)
      throw Error(Code::bad_request, "X-Sandkeep-Sha256 must have 64 hexadecimal digits");
  }
  if (auto text = headers.get("Content-MD5")) {
    announced.md5 = from_base64(trim(*text));
    if (!announced.md5 || announced.md5->size() != 16) {
      throw Error(Code::bad_request, "Content-MD5 must be the 16 bytes of the MD5 in base64");
    }
  }
  return announced;
}

void check_announced_size(const App& app, const http::Headers& headers) {
  auto text = headers.get("Content-Length");
  auto size = text ? parse_unsigned(trim(*text)) : std::nullopt;
  if (size) workspace::Intake::check_size(*size, app.settings.file_bytes_max);
}

void refuse_encoded(const http::Headers& headers) {
  auto encoding = headers.get_list("Content-Encoding");
  if (!encoding || ascii_lower(trim(*encoding)) == "identity") return;
  throw Error(Code::unsupported_media_type, "a body with Content-Encoding is not accepted")
      .hint("Send the file's bytes without encoding.");
}

std::string stated_mime(const std::optional<std::string>& content_type) {
  if (!content_type || trim(*content_type).empty()) return {};
  auto mime = parse_mime(*content_type, "Content-Type");
  auto essence = ascii_lower(trim(std::string_view(mime).substr(0, mime.find(';'))));
  // `curl -d` sends application/x-www-form-urlencoded with every body.
  if (essence == "application/octet-stream" || essence == "application/x-www-form-urlencoded") return {};
  return mime;
}

}  // namespace sk::api
