#include "cli/client/download.h"

#include "base/error.h"
#include "base/hash.h"
#include "cli/client/fields.h"
#include "cli/client/local_files.h"

namespace sk::cli {

namespace {

RemoteFile remote_file(const RemotePath& where, const Json& facts, std::string version_id) {
  RemoteFile out{where, std::move(version_id), text_field(facts, "sha256"), number_field(facts, "size")};
  out.where.path = text_field(facts, "path");
  out.mode = kept_mode(facts);
  auto mtime = parse_iso8601(text_field(facts, "mtime"));
  if (!mtime) throw Error(Code::internal, "the server's answer has an invalid mtime for " + out.where.path);
  out.mtime_us = *mtime;
  return out;
}

}  // namespace

uint32_t kept_mode(const Json& facts) {
  try {
    return static_cast<uint32_t>(std::stoul(text_field(facts, "mode"), nullptr, 8));
  } catch (const std::logic_error&) {
    throw Error(Code::internal, "the server's answer has an invalid mode for " + text_field(facts, "path"));
  }
}

RemoteFile remote_file_of_entry(const RemotePath& where, const Json& entry) {
  return remote_file(where, entry, text_field(entry, "version_id"));
}

RemoteFile remote_file_of_version(const RemotePath& where, const Json& version) {
  return remote_file(where, version, text_field(version, "id"));
}

void download_stream(Remote& remote, const RemotePath& where, const std::string& version,
                     const std::function<void(std::string_view)>& take) {
  Query query;
  if (!version.empty()) query.emplace_back("version", version);
  remote.stream(remote.url_with_path(where, "files"), query, take);
}

void download_file(Remote& remote, const RemoteFile& file, const std::string& local,
                   InterruptGuard& interrupt, Progress& progress) {
  AsideFile aside(local, interrupt);
  Sha256Stream hash;
  uint64_t received = 0;
  // Name the version, so that bytes of a newer one cannot be mixed in.
  download_stream(remote, file.where, file.version_id, [&](std::string_view bytes) {
    aside.write(bytes);
    hash.update(as_bytes(bytes));
    received += bytes.size();
    progress.add_bytes(static_cast<int64_t>(bytes.size()));
  });
  auto found = hash.digest().hex();
  if (received != file.size || found != file.sha256)
    throw Error(Code::corrupt, file.where.path + ": " + std::to_string(received) + " bytes with hash " +
                                   found + " came, but the version has " + std::to_string(file.size) +
                                   " bytes with hash " + file.sha256)
        .hint("Get it again. If the error repeats, run 'sandkeep verify' on the server.");
  aside.finish(file.mode, file.mtime_us);
}

}  // namespace sk::cli
