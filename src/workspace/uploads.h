// Uploads in parts. Parts of a large file arrive in any order and concurrently; completion lists the parts
// that make up the file. Each part is durable before it is answered. Uploads that are not completed expire
// after an hour.
#pragma once

#include <functional>

#include "workspace/authority.h"
#include "workspace/files.h"
#include "workspace/ground.h"
#include "workspace/types.h"

namespace sk::workspace {

// Limits: bytes of a part, parts of an upload, pending uploads of a principal, seconds until an upload
// expires.
constexpr uint64_t kUploadPartBytesMax = 64 << 20;
constexpr size_t kUploadPartsMax = 10'000;
constexpr int64_t kUploadsPendingMax = 1'000;
constexpr int64_t kUploadLifeS = 3600;

struct NewUpload {
  std::string filename;
  std::string purpose;
  std::string mime;
  uint64_t size = 0;
  std::optional<int64_t> keep_s;  // lifetime of the file after completion; unset: forever
};

struct UploadInfo {
  Id id;
  Id workspace;
  NewUpload wanted;
  std::string status;  // pending | completed | cancelled | expired
  Id version;          // set once completed
  TimeUs created_us = 0;
  TimeUs expires_us = 0;
};

struct UploadPart {
  Id id;
  uint64_t size = 0;
  Sha256 sha256;
  TimeUs created_us = 0;
};

// Any thread. Error(not_found) for an upload that is not the actor's own. Error(bad_request) for a change to
// an upload that is no longer pending.
class Uploads {
 public:
  explicit Uploads(Ground& ground) : ground_(ground) {}

  // Error(too_large) above the file size limit. Error(too_many_requests) above kUploadsPendingMax.
  UploadInfo create(const Authority& authority, NewUpload wanted);
  UploadInfo get(const Actor& actor, const Id& upload);
  // Stores a part. It counts against the workspace's quota until the upload ends.
  UploadPart add_part(const Actor& actor, const Id& upload, const Content& content);

  struct Completion {
    std::vector<Id> parts;           // in file order
    std::string place;               // path of the new file
    std::optional<std::string> md5;  // expected MD5 of the whole file, 16 bytes
    Conditions conditions = {};
    Files::Also also = {};  // runs in the transaction that makes the file
  };
  // Joins the parts into a file; reads every part once, so large uploads take long. An upload that is already
  // completed is returned unchanged, since clients retry after a lost answer. Error(bad_request) if the parts
  // do not match the announced size. Error(unavailable) if `go_on` returns false.
  UploadInfo complete(const Actor& actor, const Id& upload, const Completion& wanted,
                      const std::function<bool()>& go_on);
  UploadInfo cancel(const Actor& actor, const Id& upload);
  // Drops the parts of expired uploads; called by the background thread.
  void expire();

 private:
  Ground& ground_;
};

}  // namespace sk::workspace
