#include "interpreter/copy/contents.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace sk::interpreter {

namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr int kTries = 3;
constexpr std::array<std::byte, 64 << 10> kZeros{};

bool same(const Node& a, const Node& b) {
  return a.inode == b.inode && a.size == b.size && a.mtime_ns == b.mtime_ns && a.ctime_ns == b.ctime_ns;
}

// The bytes of a file in order, piece by piece. Reads no hole: on disk it costs nothing, and reading it would
// fill the page cache with zeros.
class Pieces {
 public:
  explicit Pieces(int fd) : fd_(fd) {
    struct stat st{};
    bool is_sparse = ::fstat(fd, &st) == 0 && st.st_size > st.st_blocks * 512;
    if (!is_sparse) data_end_ = UINT64_MAX;
    buffer_.resize(std::clamp<uint64_t>(static_cast<uint64_t>(st.st_size) + 1, 4096, kBufferBytes));
  }

  // Empty at the end of the file.
  Bytes next() {
    if (has_ended_) return {};
    if (offset_ >= hole_end_ && offset_ >= data_end_) find_data();
    if (offset_ < hole_end_) {
      Bytes piece = Bytes(kZeros).first(std::min<uint64_t>(kZeros.size(), hole_end_ - offset_));
      offset_ += piece.size();
      return piece;
    }
    size_t want = std::min<uint64_t>(buffer_.size(), data_end_ - offset_);
    size_t got = read_at(fd_, std::span(buffer_).first(want), offset_, "a session's file");
    offset_ += got;
    has_ended_ = got < want || got == 0;
    return Bytes(buffer_).first(got);
  }

 private:
  // Finds the next hole and the data after it. Where the filesystem cannot tell, the rest is data.
  void find_data() {
    auto here = static_cast<off_t>(offset_);
    off_t data = ::lseek(fd_, here, SEEK_DATA);
    if (data < 0 && errno == ENXIO) {
      struct stat st;  // a hole up to the end
      off_t end = ::fstat(fd_, &st) == 0 ? std::max(st.st_size, here) : here;
      data_end_ = hole_end_ = static_cast<uint64_t>(end);
      return;
    }
    off_t hole = data < 0 ? -1 : ::lseek(fd_, data, SEEK_HOLE);
    hole_end_ = data < 0 ? offset_ : static_cast<uint64_t>(data);
    data_end_ = hole < 0 ? UINT64_MAX : static_cast<uint64_t>(hole);
  }

  const int fd_;
  std::vector<std::byte> buffer_;
  uint64_t offset_ = 0;
  uint64_t hole_end_ = 0, data_end_ = 0;  // a hole up to the first, then data up to the second
  bool has_ended_ = false;
};

}  // namespace

std::optional<ReadFile> read_contents(workspace::KeepContext& context, const WorkingCopy& copy,
                                      const std::string& path, uint64_t file_bytes_max,
                                      const MustStop& must_stop) {
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
    Pieces pieces(fd->get());
    for (Bytes piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
      if (intake.size() > 0 && must_stop && must_stop())
        throw Error(Code::unavailable, "the server is stopping; it is kept after the restart");
      intake.write(piece);
    }
    auto after = copy.look(path);
    result.stable = after && same(*before, *after) && intake.size() == before->size;
    if (!result.stable && tries < kTries) continue;
    result.content = intake.finish();
    return result;
  }
}

void HoleWriter::write(Bytes bytes) {
  constexpr size_t kBlockBytes = 4096;
  while (!bytes.empty()) {
    // In blocks of the file, since a hole is one or more of those.
    Bytes block = bytes.first(std::min<size_t>(bytes.size(), kBlockBytes - size_ % kBlockBytes));
    if (std::memcmp(block.data(), kZeros.data(), block.size()) == 0)
      flush();
    else
      pending_ = pending_.empty() ? block : Bytes(pending_.data(), pending_.size() + block.size());
    size_ += block.size();
    bytes = bytes.subspan(block.size());
  }
  flush();
}

// The pending bytes are the last ones before size_.
void HoleWriter::flush() {
  if (pending_.empty()) return;
  before_(pending_.size());
  write_all_at(fd_, pending_, size_ - pending_.size(), "a working copy");
  pending_ = {};
}

void HoleWriter::finish() {
  if (::ftruncate(fd_, static_cast<off_t>(size_)) != 0)
    throw system_error("cannot write into a working copy", errno);
}

std::optional<Sha256> hash_contents(const WorkingCopy& copy, const std::string& path) {
  auto fd = copy.open_file(path);
  if (!fd) return std::nullopt;
  Sha256Stream hash;
  Pieces pieces(fd->get());
  for (Bytes piece = pieces.next(); !piece.empty(); piece = pieces.next()) hash.update(piece);
  return hash.digest();
}

}  // namespace sk::interpreter
