// Streams the bytes of one file into the store.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/app.h"
#include "base/hash.h"
#include "http/message.h"
#include "workspace/files.h"

namespace sk::api {

// Throws Error(too_large) with the limit.
[[noreturn]] void throw_too_large(uint64_t size_max);

// Checksums that a client sends in advance.
struct Announced {
  std::optional<Sha256> sha256;
  std::optional<std::string> md5;  // 16 raw bytes
};

// Reads X-Sandkeep-Sha256 (hexadecimal) and Content-MD5 (base64). Error(bad_request) for a malformed value.
Announced announced_checksums(const http::Headers& headers);

// Receives the bytes in order. Destruction before finish_into() discards them. One thread at a time.
class Upload {
 public:
  explicit Upload(App& app, Announced announced = {});

  // Error(too_large) above the server's limit. Error(disk_full) when only the disk's reserve is left.
  void write(std::string_view bytes);
  uint64_t size() const { return writer_->size(); }
  // Makes the bytes durable. Moves them into `change`, together with the first bytes, from which the type is
  // detected. Error(bad_request) when a checksum differs from the announced one.
  void finish_into(workspace::PutChange& change);

 private:
  const Announced announced_;
  const uint64_t size_max_;
  workspace::Files& files_;
  std::unique_ptr<blobs::Writer> writer_;
  uint64_t room_checked_at_ = 0;
  std::optional<Md5Stream> md5_;
  std::string head_;
};

// Error(too_large) when Content-Length already exceeds the limit, so the body need not be read.
void check_announced_size(const App& app, const http::Headers& headers);

// Error(unsupported_media_type) for a body with a Content-Encoding: the file would be stored compressed.
void refuse_encoded(const http::Headers& headers);

// Returns the MIME type that a client's Content-Type gives a file. Empty for a generic type, so that the type
// is detected from the content.
std::string stated_mime(const std::optional<std::string>& content_type);

}  // namespace sk::api
