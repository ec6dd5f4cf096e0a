// Tells a client what changed in the workspaces that it may read, from their journals: that the list of
// resources is another one now, and that a resource it subscribed to has new content.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "api/app.h"
#include "workspace/feed.h"
#include "workspace/types.h"

namespace sk::api::mcp {

// Any thread. Owned by the client's session or stream and gone with it; looks at the journals on background
// threads, some time after they grew, several changes at once.
class ResourceWatch : public std::enable_shared_from_this<ResourceWatch> {
 public:
  struct Options {
    std::function<workspace::Actor()> renew;  // who it is for; throws once the key opens nothing any more
    std::function<void(std::string_view method, Json params)> tell;
    std::function<void()> on_denied;  // when renew said that the key opens nothing any more
    std::function<bool()> is_wanted;  // false: nobody would hear it now
    bool list_changes = true;
  };
  static std::shared_ptr<ResourceWatch> start(App& app, Options options);
  ResourceWatch(App& app, Options options) : app_(app), options_(std::move(options)) {}  // for start()

  // Error(not_found) for a file in a workspace that cannot be read. `uri` is what the client is told.
  void subscribe(const std::string& uri);
  void unsubscribe(const std::string& uri);
  // As if the resource had changed.
  void touch(const std::string& uri);

 private:
  struct Place {
    Id workspace;
    std::string path;
  };
  void look();
  void look_at(const workspace::Workspace& workspace, std::map<std::string, bool>& updated,
               bool& list_changed);

  App& app_;
  const Options options_;
  std::atomic<bool> scheduled_ = false;
  std::mutex mutex_;                   // guards all below
  std::map<std::string, Place> uris_;  // a zero workspace: not a file of ours
  std::map<Id, int64_t> seen_;         // workspace → how far its journal was read
  bool first_ = true;
  workspace::Feed::Subscription subscription_;  // set by start(), before anything is shared
};

}  // namespace sk::api::mcp
