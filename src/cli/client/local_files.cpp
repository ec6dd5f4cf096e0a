#include "cli/client/local_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "base/hash.h"
#include "base/path.h"
#include "cli/client/remote_path.h"

namespace sk::cli {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> names;
  fs::directory_iterator at(folder, failed);
  for (; !failed && at != fs::directory_iterator(); at.increment(failed))
    names.push_back(at->path().filename().string());
  if (failed) throw local_error(folder, failed.value());
  std::sort(names.begin(), names.end());
  return names;
}

void walk_into(const std::string& folder, const std::string& remote, LocalTree& out) {
  auto names = names_in(folder);
  struct stat itself{};
  if (stat(folder.c_str(), &itself) != 0) throw local_error(folder, errno);
  if (!remote.empty()) out.folders.push_back({remote, itself.st_mode & 07777});
  for (const auto& name : names) {
    auto path = folder.ends_with('/') ? folder + name : folder + "/" + name;
    auto below = join_remote(remote, escape_name(name));
    struct stat own{};
    struct stat behind{};
    if (lstat(path.c_str(), &own) != 0) {
      out.skipped.push_back(path + ": " + std::system_category().message(errno));
    } else if (S_ISDIR(own.st_mode)) {
      walk_into(path, below, out);
    } else if (stat(path.c_str(), &behind) != 0) {
      out.skipped.push_back(path + ": a broken link");
    } else if (S_ISREG(behind.st_mode)) {
      out.files.push_back({path, below, static_cast<uint64_t>(behind.st_size)});
    } else {
      out.skipped.push_back(path +
                            (S_ISDIR(behind.st_mode) ? ": a link to a folder" : ": not a regular file"));
    }
  }
}

}  // namespace

Error local_error(const std::string& path, int err) {
  bool none = err == ENOENT || err == ENOTDIR || err == EISDIR;
  auto code = none ? Code::not_found : err == EACCES || err == EPERM ? Code::forbidden : Code::internal;
  auto error = system_error(path, err);
  if (error.code() == Code::disk_full)
    return Error(Code::disk_full, error.message()).hint("Free space on this machine.");
  if (err == ENAMETOOLONG)
    return Error(code, error.message())
        .hint("The name is too long for this machine. Get the file by itself, under a shorter name.");
  return Error(code, error.message()).hint("Check the path and its permissions on this machine.");
}

LocalTree walk_folder(const std::string& folder, const std::string& remote) {
  LocalTree out;
  walk_into(folder, remote, out);
  return out;
}

Fd open_local(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer before facts_of() could refuse it.
  Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) throw local_error(path, errno);
  return file;
}

std::string read_local(const std::string& path, size_t bytes_max) {
  Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw local_error(path, errno);
  std::string content;
  for (std::array<char, 65536> piece;;) {
    auto count = read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw local_error(path, errno);
    if (count == 0) return content;
    content.append(piece.data(), static_cast<size_t>(count));
    if (content.size() > bytes_max)
      throw Error(Code::too_large, path + " is larger than " + human_size(bytes_max));
  }
}

FileFacts facts_of(const Fd& file, const std::string& path) {
  struct stat found{};
  if (fstat(file.get(), &found) != 0) throw local_error(path, errno);
  if (!S_ISREG(found.st_mode)) throw Error(Code::bad_request, path + " is not a regular file");
  return {static_cast<uint64_t>(found.st_size), found.st_mode & 07777,
          found.st_mtim.tv_sec * kSecondUs + found.st_mtim.tv_nsec / 1000};
}

bool is_folder(const std::string& path) {
  struct stat found{};
  return stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

bool exists(const std::string& path) {
  struct stat found{};
  return lstat(path.c_str(), &found) == 0;
}

std::string local_path_of(std::string_view remote) {
  std::string out;
  for (auto part : split(remote, '/')) {
    auto name = unescape_name(part);
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos)
      throw Error(Code::bad_request,
                  "refusing to write '" + std::string(remote) + "': the name is not safe on this machine")
          .hint("Rename it on the server ('sandkeep mv'), or get the file by itself under another name.");
    out += (out.empty() ? "" : "/") + name;
  }
  return out;
}

AsideFile::AsideFile(std::string final_path, InterruptGuard& interrupt)
    : final_path_(std::move(final_path)), interrupt_(interrupt) {
  auto folder = fs::path(final_path_).parent_path().string();
  aside_path_ = (folder.empty() ? "" : folder + "/") + ".sandkeep-" + random_base64url(9) + ".part";
  interrupt_.add(aside_path_);
  file_ = Fd(open(aside_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file_) {
    int err = errno;
    interrupt_.remove(aside_path_);
    throw local_error(final_path_, err);
  }
}

AsideFile::~AsideFile() {
  if (aside_path_.empty()) return;
  unlink(aside_path_.c_str());
  interrupt_.remove(aside_path_);
}

void AsideFile::write(std::string_view bytes) {
  try {
    write_all(file_.get(), as_bytes(bytes), final_path_);
  } catch (const Error& error) {
    throw Error(error.code(), error.message()).hint("Check the disk of this machine and its free space.");
  }
}

void AsideFile::finish(uint32_t mode, TimeUs mtime_us) {
  // Drop the setuid and setgid bits, so that another user's file does not become a program with this user's
  // rights.
  constexpr uint32_t kPlainBits = 0777;
  timespec times[2] = {{0, UTIME_OMIT}, {mtime_us / kSecondUs, mtime_us % kSecondUs * 1000}};
  bool done = fchmod(file_.get(), mode & kPlainBits) == 0 && futimens(file_.get(), times) == 0;
  // Network filesystems may report a full disk only on close.
  done = close(file_.release()) == 0 && done;
  done = done && rename(aside_path_.c_str(), final_path_.c_str()) == 0;
  if (!done) throw local_error(final_path_, errno);
  interrupt_.remove(aside_path_);
  aside_path_.clear();
}

}  // namespace sk::cli
