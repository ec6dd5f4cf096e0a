// One file's bytes on their way into the store.
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

// Error(too_large) for a file of that size.
[[noreturn]] void throw_too_large(uint64_t size_max);

// Checksums that a client announced for what it sends.
struct Announced {
  std::optional<Sha256> sha256;
  std::optional<std::string> md5;  // 16 raw bytes
};

// X-Sandkeep-Sha256 (hexadecimal) and Content-MD5 (base64). Error(bad_request) for what cannot be read.
Announced announced_checksums(const http::Headers& headers);

// Takes bytes in order; destroyed before finish_into() it leaves nothing behind. One thread at a time.
class Upload {
 public:
  explicit Upload(App& app, Announced announced = {});

  // Error(too_large) over the server's limit, Error(disk_full) when the disk has no room left but its
  // reserve.
  void write(std::string_view bytes);
  uint64_t size() const { return writer_->size(); }
  // Makes the bytes durable and puts them, with what finding out their type needs, into `change`.
  // Error(bad_request) when they are not what was announced.
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

// The same, when Content-Length alone says that the body does not fit; so nothing of it needs to be read.
void check_announced_size(const App& app, const http::Headers& headers);

// Error(unsupported_media_type) for a body with a Content-Encoding: it would be kept compressed, as bytes
// that nobody wants.
void refuse_encoded(const http::Headers& headers);

// The MIME type that a client's Content-Type gives a file: empty where it only says "bytes", so that it is
// found out instead.
std::string stated_mime(const std::optional<std::string>& content_type);

}  // namespace sk::api
