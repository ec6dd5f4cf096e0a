#include "api/common/upload.h"

#include "api/common/fields.h"
#include "base/text.h"

namespace sk::api {

namespace {
// The number of bytes that libmagic needs to detect a type.
constexpr size_t kHeadBytesMax = 4096;
// Interval between checks for free disk space during a long upload.
constexpr uint64_t kRoomCheckBytes = 4 << 20;
}  // namespace

Announced announced_checksums(const http::Headers& headers) {
  Announced announced;
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

Upload::Upload(App& app, Announced announced)
    : announced_(std::move(announced)),
      size_max_(app.settings.file_bytes_max),
      files_(app.keep.files()),
      writer_(files_.begin_content()) {
  if (announced_.md5) md5_.emplace();
}

void throw_too_large(uint64_t size_max) {
  throw Error(Code::too_large, "a file may have at most " + human_size(size_max))
      .with("limit_bytes", static_cast<int64_t>(size_max));
}

void Upload::write(std::string_view bytes) {
  if (bytes.size() > size_max_ - std::min(size_max_, writer_->size())) throw_too_large(size_max_);
  if (writer_->size() >= room_checked_at_ + kRoomCheckBytes) {
    files_.check_room();
    room_checked_at_ = writer_->size();
  }
  if (head_.size() < kHeadBytesMax) head_.append(bytes.substr(0, kHeadBytesMax - head_.size()));
  if (md5_) md5_->update(as_bytes(bytes));
  writer_->write(as_bytes(bytes));
}

void Upload::finish_into(workspace::PutChange& change) {
  if (md5_ && md5_->digest() != *announced_.md5) {
    throw Error(Code::bad_request, "the bytes that arrived do not have the announced MD5; nothing was kept");
  }
  auto written = std::make_shared<blobs::Written>(writer_->finish());
  if (announced_.sha256 && written->root().hash != *announced_.sha256) {
    throw Error(Code::bad_request,
                "the bytes that arrived do not have the announced SHA-256; nothing was kept")
        .with("sha256", written->root().hash.hex());
  }
  change.content = std::move(written);
  change.head_bytes = std::move(head_);
}

void check_announced_size(const App& app, const http::Headers& headers) {
  auto text = headers.get("Content-Length");
  auto size = text ? parse_unsigned(trim(*text)) : std::nullopt;
  if (size && *size > app.settings.file_bytes_max) throw_too_large(app.settings.file_bytes_max);
}

void refuse_encoded(const http::Headers& headers) {
  auto encoding = headers.get_list("Content-Encoding");
  if (!encoding || ascii_lower(trim(*encoding)) == "identity") return;
  throw Error(Code::unsupported_media_type, "a body with Content-Encoding is not taken")
      .hint("Send the file's bytes as they are.");
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
