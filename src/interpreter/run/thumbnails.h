// Thumbnails of images, made in a sandbox, since an uploaded image may attack its decoder. Each content is
// decoded once; the catalog keeps the result.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fair_queue.h"
#include "base/mutex.h"
#include "sandbox/host.h"
#include "workspace/keep.h"

namespace sk::interpreter {

struct Thumbnail {
  std::string mime;
  std::string bytes;
};

// Workspaces take turns, and the images of one leave a thread to the others. Any thread.
class Thumbnails {
 public:
  // `directory` is the directory of the sessions' copies.
  Thumbnails(workspace::Keep& keep, sandbox::SandboxHost& host, std::string directory);

  // Whether a thumbnail is possible: an image of a type and size that is decoded here.
  static bool can_have(const workspace::Version& version);

  // Calls `on_made` at once, or later from another thread; with nullopt where none can be made.
  // Error(too_many_requests) when too many wait, of all workspaces or of this one.
  using OnMade = std::function<void(const std::optional<Thumbnail>&)>;
  void get(const workspace::Version& version, OnMade on_made);

  // Finishes waiting jobs. Idempotent.
  void stop() { pool_.stop(); }
  PoolLoad load() const { return pool_.load().all; }

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
  FairPool pool_;  // by workspace; last: its threads use all of the above
};

}  // namespace sk::interpreter
