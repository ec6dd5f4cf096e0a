// Small pictures of pictures, made in a sandbox, since whoever can upload an image could attack what decodes
// it. Each content is looked at once; what came of it is kept in the catalog.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/worker_pool.h"
#include "sandbox/host.h"
#include "workspace/keep.h"

namespace sk::interpreter {

struct Thumbnail {
  std::string mime;
  std::string bytes;
};

// Any thread.
class Thumbnails {
 public:
  // `directory` is where sessions' copies lie.
  Thumbnails(workspace::Keep& keep, sandbox::SandboxHost& host, std::string directory);

  // Whether it makes sense to ask: an image of a kind and size that is decoded here.
  static bool can_have(const workspace::Version& version);

  // Calls `on_made` at once or later, from another thread, with nothing where none can be made.
  // Error(too_many_requests) when too many wait.
  using OnMade = std::function<void(const std::optional<Thumbnail>&)>;
  void get(const workspace::Version& version, OnMade on_made);

  // What waits is still made. Idempotent.
  void stop() { pool_.stop(); }

 private:
  struct Known {
    std::optional<Thumbnail> thumbnail;
  };
  std::optional<Known> find(const Sha256& content);
  std::optional<Thumbnail> make(const workspace::Version& version);
  void save(const workspace::Version& version, const std::optional<Thumbnail>& thumbnail);

  workspace::Keep& keep_;
  sandbox::SandboxHost& host_;
  const std::string directory_;
  Mutex mutex_;
  std::map<Sha256, std::vector<OnMade>> waiting_ SK_GUARDED_BY(mutex_);
  WorkerPool pool_;  // last: its threads use all of the above
};

}  // namespace sk::interpreter
