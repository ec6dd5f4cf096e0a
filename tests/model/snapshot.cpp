#include "model/snapshot.h"

#include <dirent.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace sk::model {

namespace {

std::string hex(const unsigned char* bytes, size_t size) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < size; ++i) {
    out += kDigits[bytes[i] >> 4];
    out += kDigits[bytes[i] & 15];
  }
  return out;
}

std::string hash_of(int folder, const char* name) {
  int fd = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOATIME);
  if (fd < 0) fd = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return "unreadable";
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_DigestInit_ex(context, EVP_sha256(), nullptr);
  char buffer[64 << 10];
  for (;;) {
    auto got = ::read(fd, buffer, sizeof buffer);
    if (got <= 0) break;
    EVP_DigestUpdate(context, buffer, static_cast<size_t>(got));
  }
  ::close(fd);
  unsigned char digest[32];
  EVP_DigestFinal_ex(context, digest, nullptr);
  EVP_MD_CTX_free(context);
  return hex(digest, sizeof digest);
}

void scan_into(Tree& tree, int folder, const std::string& at) {
  DIR* stream = ::fdopendir(folder);
  if (stream == nullptr) {
    ::close(folder);
    return;
  }
  while (dirent* item = ::readdir(stream)) {
    if (std::strcmp(item->d_name, ".") == 0 || std::strcmp(item->d_name, "..") == 0) continue;
    struct statx st;
    if (::statx(::dirfd(stream), item->d_name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &st) !=
        0)
      continue;
    Thing thing;
    thing.kind = S_ISREG(st.stx_mode) ? 'f' : S_ISDIR(st.stx_mode) ? 'd' : S_ISLNK(st.stx_mode) ? 'l' : 'o';
    thing.mode = st.stx_mode & 0777;
    thing.size = thing.kind == 'f' ? st.stx_size : 0;
    thing.mtime_ns = st.stx_mtime.tv_sec * 1'000'000'000LL + st.stx_mtime.tv_nsec;
    thing.ctime_ns = st.stx_ctime.tv_sec * 1'000'000'000LL + st.stx_ctime.tv_nsec;
    thing.identity = {::makedev(st.stx_dev_major, st.stx_dev_minor), st.stx_ino,
                      st.stx_btime.tv_sec * 1'000'000'000LL + st.stx_btime.tv_nsec};
    if (thing.kind == 'f') thing.hash = hash_of(::dirfd(stream), item->d_name);
    std::string path = (at.empty() ? "" : at + "/") + spell(item->d_name);
    tree.emplace(path, thing);
    if (thing.kind == 'd') {
      int next = ::openat(::dirfd(stream), item->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (next >= 0) scan_into(tree, next, path);
    }
  }
  ::closedir(stream);
}

// The length of the UTF-8 character that begins at `at`; 0 when none does.
size_t utf8_length(const std::string& text, size_t at) {
  auto byte = [&](size_t i) -> unsigned { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  unsigned first = byte(at);
  if (first < 0x80) return 1;
  size_t length = first >= 0xC2 && first < 0xE0   ? 2
                  : first >= 0xE0 && first < 0xF0 ? 3
                  : first >= 0xF0 && first < 0xF5 ? 4
                                                  : 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  unsigned second = byte(at + 1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
      (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90))
    return 0;
  return length;
}

}  // namespace

Tree scan(const std::string& directory) {
  Tree tree;
  int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) scan_into(tree, fd, "");
  return tree;
}

std::string sha256_hex(const std::string& bytes) {
  unsigned char digest[32];
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  return hex(digest, size);
}

std::string spell(const std::string& path) {
  std::string out;
  for (size_t i = 0; i < path.size();) {
    size_t length = utf8_length(path, i);
    bool stands_for_byte = length == 4 && static_cast<unsigned char>(path[i]) == 0xF4 &&
                           static_cast<unsigned char>(path[i + 1]) == 0x8F &&
                           static_cast<unsigned char>(path[i + 2]) >= 0xBE;
    if (length > 0 && !stands_for_byte) {
      out.append(path, i, length);
      i += length;
      continue;
    }
    unsigned point = 0x10FF00 + static_cast<unsigned char>(path[i++]);
    out += static_cast<char>(0xF0 | (point >> 18));
    out += static_cast<char>(0x80 | ((point >> 12) & 63));
    out += static_cast<char>(0x80 | ((point >> 6) & 63));
    out += static_cast<char>(0x80 | (point & 63));
  }
  return out;
}

}  // namespace sk::model
