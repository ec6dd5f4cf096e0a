#include "workspace/intake.h"

#include "base/error.h"
#include "base/text.h"
#include "workspace/blob_ledger.h"

namespace sk::workspace {

namespace {

constexpr size_t kHeadBytesMax = 4096;         // as many as libmagic needs
constexpr uint64_t kRoomCheckBytes = 4 << 20;  // between two looks at the disk's free space

std::unique_ptr<blobs::Writer> begin_write(KeepContext& context) {
  check_room(context);
  return context.blobs.begin_write(context.ledger);
}

}  // namespace

void check_room(const KeepContext& context, uint64_t reserve_bytes) {
  auto free_bytes = context.blobs.room();
  reserve_bytes = std::max(reserve_bytes, context.limits.disk_reserve_bytes);
  if (!free_bytes || *free_bytes >= reserve_bytes) return;
  throw Error(Code::disk_full, "the server's disk has " + human_size(*free_bytes) + " free; the last " +
                                   human_size(reserve_bytes) + " are reserved")
      .advise(Advice::collect_or_free_disk)
      .with("free_bytes", static_cast<int64_t>(*free_bytes))
      .with("reserve_bytes", static_cast<int64_t>(reserve_bytes));
}

Intake::Intake(KeepContext& context, IntakeOptions options)
    : context_(context),
      size_max_(options.size_max.value_or(context.limits.file_bytes_max)),
      announced_(std::move(options.announced)),
      writer_(begin_write(context)) {
  if (announced_.md5) md5_.emplace();
}

void Intake::check_size(uint64_t size, uint64_t size_max) {
  if (size <= size_max) return;
  throw Error(Code::too_large, "a file may have at most " + human_size(size_max))
      .with("limit_bytes", static_cast<int64_t>(size_max));
}

void Intake::check_announced(catalog::Statements& statements, const Id& workspace, uint64_t size) {
  struct Figures {
    int64_t used, quota;
  };
  auto figures =
      statements.one("SELECT used_bytes, quota_bytes FROM workspaces WHERE id = $1", {workspace},
                     [](const catalog::Row& row) { return Figures{row.integer(0), row.integer(1)}; });
  if (!figures || size <= static_cast<uint64_t>(figures->quota)) return;
  throw Error(Code::quota_exceeded, "this needs " + human_size(size) + ", but the workspace may hold " +
                                        human_size(static_cast<uint64_t>(figures->quota)))
      .with("needed_bytes", static_cast<int64_t>(size))
      .with("used_bytes", figures->used)
      .with("quota_bytes", figures->quota);
}

void Intake::write(Bytes bytes) {
  check_size(size() + bytes.size(), size_max_);
  if (size() >= room_checked_at_ + kRoomCheckBytes) {
    check_room(context_);
    room_checked_at_ = size();
  }
  if (head_.size() < kHeadBytesMax) head_.append(as_text(bytes).substr(0, kHeadBytesMax - head_.size()));
  if (md5_) md5_->update(bytes);
  writer_->write(bytes);
}

Content Intake::finish() {
  if (md5_ && !equal_constant_time(md5_->digest(), *announced_.md5))
    throw Error(Code::bad_request, "the bytes that arrived do not have the announced MD5; nothing was kept");
  auto written = std::make_shared<blobs::Written>(writer_->finish());
  if (announced_.sha256 && written->root().hash != *announced_.sha256) {
    throw Error(Code::bad_request,
                "the bytes that arrived do not have the announced SHA-256; nothing was kept")
        .with("sha256", written->root().hash.hex());
  }
  return Content(std::move(written), std::move(head_));
}

}  // namespace sk::workspace
