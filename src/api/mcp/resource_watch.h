// Notifies a client of changes in the workspaces that it may read, from their journals: a changed list of
// resources, and new content of a subscribed resource.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/app.h"
#include "base/mutex.h"
#include "followers/changed_journals.h"
#include "workspace/types.h"

namespace sk::api::mcp {

// Any thread. Owned by the client's session or stream, and destroyed with it. Reads the journals on
// background threads, shortly after they grew, several changes at once.
class ResourceWatch : public std::enable_shared_from_this<ResourceWatch> {
 public:
  struct Options {
    // Returns the actor to notify; throws when the key is no longer valid.
    std::function<workspace::Actor()> renew;
    std::function<void(std::string_view method, Json params)> tell;
    std::function<void()> on_denied;  // called when `renew` reports that the key is no longer valid
    std::function<bool()> is_wanted;  // false: no client would receive the notification
    bool list_changes = true;
  };
  static std::shared_ptr<ResourceWatch> start(App& app, Options options);
  ResourceWatch(App& app, Options options) : app_(app), options_(std::move(options)) {}  // for start()

  // Error(not_found) for a file in a workspace that the actor cannot read. Notifications contain `uri`
  // unchanged.
  void subscribe(const std::string& uri);
  void unsubscribe(const std::string& uri);
  // Notifies as if the resource had changed.
  void touch(const std::string& uri);

 private:
  struct Place {
    Id workspace;
    std::string path;
  };
  void look();
  void look_at(const workspace::Authority& authority, std::map<std::string, bool>& updated,
               bool& list_changed) SK_REQUIRES(mutex_);

  App& app_;
  const Options options_;
  Mutex mutex_;
  std::map<std::string, Place> uris_ SK_GUARDED_BY(mutex_);  // a zero workspace: not a stored file
  size_t uris_bytes_ SK_GUARDED_BY(mutex_) = 0;
  std::map<Id, int64_t> seen_ SK_GUARDED_BY(mutex_);  // workspace → position up to which its journal was read
  followers::JournalSet unread_ SK_GUARDED_BY(mutex_);  // journals that grew and were not read since
  bool first_ SK_GUARDED_BY(mutex_) = true;
  std::optional<followers::ChangedJournals> changed_ SK_GUARDED_BY(mutex_);  // set by start()
};

}  // namespace sk::api::mcp
