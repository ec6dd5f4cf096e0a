// The one way bytes enter the keep: uploads, parts of uploads, captures, bridges and dialects all hand their
// bytes to an Intake, which checks size and room, keeps the first bytes for the MIME type, hashes, and
// stores.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "blobs/store.h"
#include "workspace/keep_context.h"

namespace sk::workspace {

// Stored bytes that a change can refer to. Only an Intake makes one. Copies share the bytes, which are
// deleted again when the last copy is destroyed before a change that uses them is committed.
class Content {
 public:
  Content() = default;  // none
  explicit operator bool() const { return written_ != nullptr; }
  const Sha256& hash() const { return written_->root().hash; }
  uint64_t size() const { return written_->root().size; }
  // The first bytes, from which guess_mime() tells the type.
  const std::string& head_bytes() const { return head_bytes_; }
  // For the ledger of blobs, which records them and calls commit().
  blobs::Written& written() const { return *written_; }

 private:
  friend class Intake;
  Content(std::shared_ptr<blobs::Written> written, std::string head_bytes)
      : written_(std::move(written)), head_bytes_(std::move(head_bytes)) {}

  std::shared_ptr<blobs::Written> written_;
  std::string head_bytes_;
};

// Checksums that a sender announced for its bytes.
struct Checksums {
  std::optional<Sha256> sha256 = {};
  std::optional<std::string> md5 = {};  // 16 raw bytes
};

struct IntakeOptions {
  std::optional<uint64_t> size_max = {};  // unset: the server's limit for files
  Checksums announced = {};
};

// Takes the bytes of one content in order. Destroyed before finish(), it leaves nothing behind. One thread at
// a time; memory use does not depend on the size. `context` outlives it and its Content.
class Intake {
 public:
  // Error(disk_full) as check_room() throws it.
  explicit Intake(KeepContext& context, IntakeOptions options = {});

  // Error(too_large) for a size over the limit, before any byte of it is read.
  static void check_size(uint64_t size, uint64_t size_max);
  // Error(quota_exceeded) for a content that would not fit into the workspace even if it were empty, before
  // any byte of it is read. What counts in the end is only known then, since stored bytes are shared.
  static void check_announced(catalog::Statements& statements, const Id& workspace, uint64_t size);

  // Error(too_large) over the limit, Error(disk_full) when only the reserve is left.
  void write(Bytes bytes);
  void write(std::string_view bytes) { write(as_bytes(bytes)); }
  uint64_t size() const { return writer_->size(); }
  // The first bytes so far.
  const std::string& head_bytes() const { return head_; }
  // Makes the bytes durable. Error(bad_request) when they do not have the announced checksums; they are gone
  // then.
  Content finish();

 private:
  KeepContext& context_;
  const uint64_t size_max_;
  const Checksums announced_;
  const std::unique_ptr<blobs::Writer> writer_;
  std::optional<Md5Stream> md5_;
  std::string head_;
  uint64_t room_checked_at_ = 0;
};

// Error(disk_full) while the disk has less free than the reserve, which lets the catalog record the purge
// that makes room. `reserve_bytes` may ask for more.
void check_room(const KeepContext& context, uint64_t reserve_bytes = 0);

}  // namespace sk::workspace
