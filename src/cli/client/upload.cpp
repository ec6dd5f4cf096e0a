#include "cli/client/upload.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/error.h"
#include "base/hash.h"
#include "cli/client/fields.h"

namespace sk::cli {

namespace {

// Nine permission bits: setuid and setgid have no meaning for stored data.
std::string octal(uint32_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", mode & 0777);
  return text;
}

http::ClientRequest put_request(Remote& remote, const RemotePath& where, const UploadOptions& options) {
  auto request = request_to("PUT", remote.url_with_path(where, "files"));
  options.conditions.add_to(request.headers);
  if (!options.base.empty()) request.headers.set("X-Sandkeep-Base", options.base);
  if (!options.mime.empty()) request.headers.set("Content-Type", options.mime);
  return request;
}

// Reads a descriptor for the client and hashes the bytes.
class Reader {
 public:
  Reader(int fd, std::string what, Progress& progress)
      : fd_(fd), what_(std::move(what)), progress_(progress) {}

  size_t read_next(std::span<char> out) {
    ssize_t count;
    do {
      count = ::read(fd_, out.data(), out.size());
    } while (count < 0 && errno == EINTR);
    if (count < 0) throw system_error("cannot read " + what_, errno);
    auto size = static_cast<size_t>(count);
    hash_->update(as_bytes({out.data(), size}));
    sent_ += size;
    progress_.add_bytes(static_cast<int64_t>(size));
    return size;
  }

  void rewind() {
    if (lseek(fd_, 0, SEEK_SET) != 0) throw system_error("cannot read " + what_ + " again", errno);
    progress_.add_bytes(-static_cast<int64_t>(sent_));
    sent_ = 0;
    hash_ = std::make_unique<Sha256Stream>();
  }

  std::string sha256() const { return hash_->digest().hex(); }

 private:
  const int fd_;
  const std::string what_;
  Progress& progress_;
  uint64_t sent_ = 0;
  std::unique_ptr<Sha256Stream> hash_ = std::make_unique<Sha256Stream>();
};

Json finish(const http::ClientResponse& response, const Reader& reader, const RemotePath& where) {
  auto result = parse_json(response.body, "the server's answer");
  auto kept = text_field(object_field(result, "version"), "sha256");
  if (kept != reader.sha256())
    throw Error(Code::corrupt, where.path + ": the server stored other bytes (" + kept +
                                   ") than were sent (" + reader.sha256() + ")")
        .hint("Put it again. If the error repeats, a proxy or the network changes the data.");
  return result;
}

}  // namespace

Json upload_file(Remote& remote, const std::string& local, const RemotePath& where,
                 const UploadOptions& options, Progress& progress) {
  auto file = open_local(local);
  auto before = facts_of(file, local);
  Reader reader(file.get(), local, progress);
  auto request = put_request(remote, where, options);
  request.headers.set("X-Sandkeep-Mode", octal(before.mode));
  request.headers.set("X-Sandkeep-Mtime", to_iso8601(before.mtime_us));
  auto changed = [&] {
    return Error(Code::conflict, local + " changed while it was read")
        .hint("Put it again when the program that writes it is done.");
  };
  // Send no more than announced, even if the file grows during the upload.
  uint64_t left = before.size;
  request.body_size = before.size;
  request.body_source = [&](std::span<char> out) {
    if (left == 0) return size_t{0};
    auto count = reader.read_next(out.first(std::min<uint64_t>(out.size(), left)));
    if (count == 0) throw changed();
    left -= count;
    return count;
  };
  request.rewind_body = [&] {
    reader.rewind();
    left = before.size;
  };
  auto response = remote.send(std::move(request));
  if (!(facts_of(file, local) == before)) throw changed();
  return finish(response, reader, where);
}

Json upload_stream(Remote& remote, int fd, const RemotePath& where, const UploadOptions& options,
                   Progress& progress) {
  Reader reader(fd, "standard input", progress);
  auto request = put_request(remote, where, options);
  request.body_source = [&](std::span<char> out) { return reader.read_next(out); };
  return finish(remote.send(std::move(request)), reader, where);
}

}  // namespace sk::cli
