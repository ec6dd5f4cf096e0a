// Uploads in parts: a large file comes in pieces, in any order and several at once, and becomes a file when
// its sender says which pieces make it up. Every part is durable when it is answered; what is never completed
// goes after an hour.
#pragma once

#include <functional>

#include "workspace/authority.h"
#include "workspace/files.h"
#include "workspace/ground.h"
#include "workspace/types.h"

namespace sk::workspace {

// One part may have so many bytes, an upload so many parts, and a principal so many uploads under way.
constexpr uint64_t kUploadPartBytesMax = 64 << 20;
constexpr size_t kUploadPartsMax = 10'000;
constexpr int64_t kUploadsPendingMax = 1'000;
constexpr int64_t kUploadLifeS = 3600;

struct NewUpload {
  std::string filename;
  std::string purpose;
  std::string mime;
  uint64_t size = 0;
  std::optional<int64_t> keep_s;  // the file's time, counted from its completion; unset: for ever
};

struct UploadInfo {
  Id id;
  Id workspace;
  NewUpload wanted;
  std::string status;  // pending | completed | cancelled | expired
  Id version;          // once completed
  TimeUs created_us = 0;
  TimeUs expires_us = 0;
};

struct UploadPart {
  Id id;
  uint64_t size = 0;
  Sha256 sha256;
  TimeUs created_us = 0;
};

// Any thread. An upload that is not the actor's own is Error(not_found); one that is no longer pending takes
// nothing more: Error(bad_request).
class Uploads {
 public:
  explicit Uploads(Ground& ground) : ground_(ground) {}

  // Error(too_large) over the limit of a file, Error(too_many_requests) over that of uploads.
  UploadInfo create(const Authority& authority, NewUpload wanted);
  UploadInfo get(const Actor& actor, const Id& upload);
  // Counts against the quota of the workspace until the upload ends.
  UploadPart add_part(const Actor& actor, const Id& upload, const Content& content);

  struct Completion {
    std::vector<Id> parts;           // in the order of the file
    std::string place;               // the path that the file gets
    std::optional<std::string> md5;  // 16 bytes that the whole must have
    Conditions conditions = {};
  };
  // Reads all parts once, so it takes as long as that. Error(bad_request) when they do not add up to what was
  // announced, and when `go_on` says false. One that is completed is answered as it is, since clients ask
  // again when they did not hear the answer; so is one that is cancelled by cancel().
  UploadInfo complete(const Actor& actor, const Id& upload, const Completion& wanted,
                      const std::function<bool()>& go_on);
  UploadInfo cancel(const Actor& actor, const Id& upload);
  // Lets go of the parts of uploads whose time is over; for the background.
  void expire();

 private:
  Ground& ground_;
};

}  // namespace sk::workspace
