#include "interpreter/run/thumbnails.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "interpreter/run/sandboxed_job.h"
#include "workspace/file_at.h"

namespace sk::interpreter {

namespace {

constexpr uint64_t kImageBytesMax = 64 << 20;
constexpr size_t kThumbnailBytesMax = 64 << 10;
// One job uses one core. Two leave the rest to sessions, and one to each of two workspaces.
constexpr size_t kThumbnailThreads = 2;
constexpr FairQueue::Limits kThumbnailShares{
    .running_per_key_max = 1, .waiting_per_key_max = 64, .waiting_max = 256};
constexpr std::string_view kFolder = "job-";
constexpr std::array<std::string_view, 6> kKinds = {"image/png",  "image/jpeg", "image/gif",
                                                    "image/webp", "image/bmp",  "image/tiff"};

// PNG where it is small, as for plots; JPEG for photographs.
constexpr std::string_view kCode = R"(
import io
from PIL import Image, ImageOps
image = Image.open('/mnt/data/in')
image.draft('RGB', (512, 512))
image = ImageOps.exif_transpose(image)
image.thumbnail((256, 256))
if image.mode not in ('RGB', 'RGBA', 'L', 'LA'):
    image = image.convert('RGBA')
buffer = io.BytesIO()
image.save(buffer, 'PNG', optimize=True)
if buffer.tell() > 48 * 1024:
    flat = Image.new('RGB', image.size, 'white')
    flat.paste(image, mask=image.getchannel('A') if 'A' in image.mode else None)
    buffer = io.BytesIO()
    flat.save(buffer, 'JPEG', quality=80)
with open('/mnt/data/out', 'wb') as out:
    out.write(buffer.getvalue())
)";

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    auto count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0) throw system_error("cannot write a job's input", errno);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

// The output is untrusted too: it must at least begin like its content type.
std::string mime_of(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
  return {};
}

}  // namespace

Thumbnails::Thumbnails(workspace::Keep& keep, sandbox::SandboxHost& host, std::string directory)
    : keep_(keep), host_(host), directory_(std::move(directory)), pool_(kThumbnailThreads, kThumbnailShares) {
  // A killed server leaves the folder of its job.
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, ignored)) {
    if (entry.path().filename().string().starts_with(kFolder))
      std::filesystem::remove_all(entry.path(), ignored);
  }
}

bool Thumbnails::can_have(const workspace::Version& version) {
  return version.size > 0 && version.size <= kImageBytesMax &&
         std::find(kKinds.begin(), kKinds.end(), version.mime) != kKinds.end();
}

std::optional<Thumbnails::Known> Thumbnails::find(const Sha256& content) {
  return keep_.context().db.read([&](catalog::Statements& statements) {
    return statements.one("SELECT mime, bytes FROM thumbnails WHERE sha256 = $1", {content},
                          [](const catalog::Row& row) {
                            Known known;
                            if (!row.is_null(1)) known.thumbnail = Thumbnail{row.str(0), row.str(1)};
                            return known;
                          });
  });
}

// Saves nothing for a version that was purged meanwhile.
void Thumbnails::save(const workspace::Version& version, const std::optional<Thumbnail>& thumbnail) {
  auto now_us = keep_.context().clock.now_us();
  keep_.context().db.write(catalog::Scope::shared(), [&](catalog::Tx& tx) {
    if (!workspace::find_version(tx, version.id)) return;
    auto bytes = thumbnail ? catalog::Param::raw(thumbnail->bytes) : catalog::Param(nullptr);
    tx.exec(
        "INSERT INTO thumbnails (sha256, mime, bytes, made_us) VALUES ($1, $2, $3, $4) ON CONFLICT DO "
        "NOTHING",
        {version.sha256, thumbnail ? thumbnail->mime : std::string(), bytes, now_us});
  });
}

std::optional<Thumbnail> Thumbnails::make(const workspace::Version& version) {
  SandboxedJob job;
  job.code = kCode;
  job.output_bytes_max = kThumbnailBytesMax;
  job.write_input = [&](int fd) {
    workspace::ContentReader reader(keep_.context(), version.sha256, 0, version.size);
    write_all(fd, reader.read_all());
  };
  auto folder = directory_ + "/" + std::string(kFolder) + keep_.context().ids.next().hex();
  auto bytes = run_sandboxed_job(host_, folder, job);
  if (!bytes || mime_of(*bytes).empty()) return std::nullopt;
  auto mime = mime_of(*bytes);
  return Thumbnail{std::move(mime), std::move(*bytes)};
}

void Thumbnails::get(const workspace::Version& version, OnMade on_made) {
  if (!can_have(version)) return on_made(std::nullopt);
  if (auto known = find(version.sha256)) return on_made(known->thumbnail);
  {
    MutexLock lock(mutex_);
    auto& waiting = waiting_[version.sha256];
    waiting.push_back(std::move(on_made));
    if (waiting.size() > 1) return;  // it is already being made
  }
  bool accepted = pool_.submit(version.workspace, [this, version] {
    std::optional<Thumbnail> made;
    try {
      auto known = find(version.sha256);
      made = known ? known->thumbnail : make(version);
      if (!known) save(version, made);
    } catch (const Error& error) {
      // Not the image's fault: the next request tries again.
      log::error("a thumbnail could not be made", {{"error", error.message()}});
    }
    std::vector<OnMade> waiting;
    {
      MutexLock lock(mutex_);
      waiting = std::move(waiting_[version.sha256]);
      waiting_.erase(version.sha256);
    }
    for (const auto& tell : waiting) tell(made);
  });
  if (accepted) return;
  std::vector<OnMade> waiting;
  {
    MutexLock lock(mutex_);
    waiting = std::move(waiting_[version.sha256]);
    waiting_.erase(version.sha256);
  }
  // waiting[0] is this caller, which gets the error.
  for (size_t i = 1; i < waiting.size(); ++i) waiting[i](std::nullopt);
  throw Error(Code::too_many_requests, "too many thumbnails are being made");
}

}  // namespace sk::interpreter
