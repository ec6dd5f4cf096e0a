#include "interpreter/copy/contents.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace sk::interpreter {

namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr int kTries = 3;

bool same(const Node& a, const Node& b) {
  return a.inode == b.inode && a.size == b.size && a.mtime_ns == b.mtime_ns && a.ctime_ns == b.ctime_ns;
}

}  // namespace

std::optional<ReadFile> read_contents(workspace::KeepContext& context, const WorkingCopy& copy,
                                      const std::string& path, uint64_t file_bytes_max) {
  for (int tries = 1;; ++tries) {
    auto before = copy.look(path);
    if (!before || before->kind != NodeKind::file) return std::nullopt;
    auto fd = copy.open_file(path);
    if (!fd) {
      int err = errno;
      auto now = copy.look(path);
      if (!now || now->kind != NodeKind::file || now->inode != before->inode) return std::nullopt;
      throw Error(Code::conflict, std::string("it cannot be read now: ") +
                                      (err == EAGAIN ? "a program holds a lease on it" : std::strerror(err)));
    }
    // Opening a file that forbids reading changes its ctime, so read its marks again.
    before = copy.look(path);
    if (!before) return std::nullopt;
    ReadFile result;
    result.node = *before;
    workspace::Intake intake(context, {.size_max = file_bytes_max});
    std::vector<std::byte> buffer(std::min<size_t>(kBufferBytes, std::max<size_t>(before->size + 1, 4096)));
    for (uint64_t offset = 0;;) {
      size_t got = read_at(fd->get(), buffer, offset, "a session's file");
      intake.write(Bytes(buffer).first(got));
      offset += got;
      if (got < buffer.size()) break;
    }
    auto after = copy.look(path);
    result.stable = after && same(*before, *after) && intake.size() == before->size;
    if (!result.stable && tries < kTries) continue;
    result.content = intake.finish();
    return result;
  }
}

std::optional<Sha256> hash_contents(const WorkingCopy& copy, const std::string& path) {
  auto fd = copy.open_file(path);
  if (!fd) return std::nullopt;
  Sha256Stream hash;
  std::vector<std::byte> buffer(kBufferBytes);
  uint64_t offset = 0;
  for (size_t got; (got = read_at(fd->get(), buffer, offset, "a session's file")) > 0; offset += got)
    hash.update(Bytes(buffer).first(got));
  return hash.digest();
}

}  // namespace sk::interpreter
