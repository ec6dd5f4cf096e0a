// Resumable uploads: the bytes of one file that arrive in several requests. They come as parts, in any order
// and concurrently, of which the completion names those that make up the file (OpenAI). Or they are appended,
// each at the offset where the last ended (TUS, drop boxes). What was answered is durable. An upload that is
// not completed expires.
#pragma once

#include <functional>

#include "workspace/authority.h"
#include "workspace/files.h"
#include "workspace/keep_context.h"
#include "workspace/types.h"

namespace sk::workspace {

// Limits: bytes of a part, parts or appends of an upload, pending uploads of a principal, seconds until an
// upload expires.
constexpr uint64_t kUploadPartBytesMax = 64 << 20;
constexpr size_t kUploadPartsMax = 10'000;
constexpr int64_t kUploadsPendingMax = 1'000;
constexpr int64_t kUploadLifeS = 3600;

struct NewUpload {
  std::string filename;
  std::string mime;
  std::optional<uint64_t> size;   // unset: known when it is completed
  Json detail = Json::object();   // facts of the dialect that created it
  int64_t life_s = kUploadLifeS;  // until it expires
  // Whether create() refuses a size above the workspace's quota. OpenAI's API refuses the parts instead.
  enum class Quota { of_bytes, announced } quota = Quota::of_bytes;
};

struct UploadInfo {
  Id id;
  Id workspace;
  NewUpload wanted;
  std::string status;           // pending | completed | cancelled | expired
  uint64_t received = 0;        // bytes that were appended so far: the offset of the next append
  Id version;                   // set once completed
  std::string completion = {};  // identifies what it was completed with
  TimeUs created_us = 0;
  TimeUs expires_us = 0;
};

struct UploadPart {
  Id id;
  uint64_t size = 0;
  Sha256 sha256;
  TimeUs created_us = 0;
  std::optional<uint64_t> start;  // set for appended bytes
};

// Any thread. Calls require the right to write to the upload's workspace. Error(not_found) for an upload that
// is not the actor's own, or of another workspace. Error(bad_request) for a change to an upload that is no
// longer pending.
class Uploads {
 public:
  explicit Uploads(KeepContext& context) : context_(context) {}

  // Error(too_large) above the file size limit, Error(quota_exceeded) as `wanted.quota` says.
  // Error(too_many_requests) above kUploadsPendingMax.
  UploadInfo create(const Authority& authority, NewUpload wanted);
  // Returns the workspace of an upload, for which Workspaces creates the authority of the other calls.
  Id workspace_of(const Actor& actor, const Id& upload);
  UploadInfo get(const Authority& authority, const Id& upload);
  // Stores a part. It counts against the workspace's quota until the upload ends.
  UploadPart add_part(const Authority& authority, const Id& upload, const Content& content);
  // Stores bytes that begin at `offset`, which must be the end of those received. Error(conflict) with
  // `offset` if it is not, since a client that lost an answer must ask where to go on. Error(bad_request) for
  // more bytes than were announced. Otherwise like add_part().
  UploadInfo append(const Authority& authority, const Id& upload, uint64_t offset, const Content& content);

  struct Completion {
    std::optional<std::vector<Id>> parts;  // in file order; unset: the bytes that were appended
    std::string place;                     // path of the new file
    std::optional<std::string> md5;        // expected MD5 of the whole file, 16 bytes
    Conditions conditions = {};
    Files::Also also = {};  // runs in the transaction that makes the file
  };
  // Joins the parts into a file; reads every part once, so large uploads take long. An upload that is already
  // completed with the same parts is returned unchanged, since clients retry after a lost answer.
  // Error(conflict) if it was completed with other parts or another MD5. Error(bad_request) if the parts do
  // not match the announced size, or if the file has another MD5. Error(unavailable) if `go_on` returns
  // false.
  UploadInfo complete(const Authority& authority, const Id& upload, const Completion& wanted,
                      const std::function<bool()>& go_on);
  UploadInfo cancel(const Authority& authority, const Id& upload);
  // Drops the parts of expired uploads; called by the background thread.
  void expire();

 private:
  void store(const Authority& authority, const Id& upload, const Content& content, UploadPart& part);

  KeepContext& context_;
};

}  // namespace sk::workspace
