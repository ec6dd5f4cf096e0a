#include "api/mcp/resource_watch.h"

#include "api/mcp/jsonrpc.h"
#include "api/mcp/resource_uri.h"
#include "base/path.h"

namespace sk::api::mcp {

namespace {

// Changes often come in groups, and a client needs only one notification per group.
constexpr std::chrono::milliseconds kPause{100};
constexpr size_t kPortion = 500;
constexpr size_t kWorkspacesMax = 200;
constexpr size_t kUrisMax = 1000;
constexpr size_t kUrisBytesMax = 256 << 10;  // of one client

bool changes_list(const std::string& kind) {
  return kind != "file.write" && kind != "file.set" && kind != "file.settle" && kind != "version.purge";
}

}  // namespace

std::shared_ptr<ResourceWatch> ResourceWatch::start(App& app, Options options) {
  auto watch = std::make_shared<ResourceWatch>(app, std::move(options));
  {
    MutexLock lock(watch->mutex_);  // the first look may come before changed_ is set
    watch->changed_.emplace(app.keep.feed(), [weak = std::weak_ptr(watch), &app] {
      app.background.run_after(kPause, [weak] {
        if (auto strong = weak.lock()) strong->look();
      });
    });
  }
  // Records the journal positions; later changes are reported. Comes after the subscription, which otherwise
  // misses the changes in between.
  watch->look();
  return watch;
}

void ResourceWatch::subscribe(const std::string& uri) {
  Place place;
  if (auto parsed = parse_resource_uri(uri)) {
    if (!parsed->version)
      place.workspace = app_.keep.workspaces().open(options_.renew(), parsed->workspace).workspace_id();
    place.path = parsed->path;
  }
  MutexLock lock(mutex_);
  if (uris_.contains(uri)) return;
  if (uris_.size() >= kUrisMax)
    throw Error(Code::too_many_requests, "a client can subscribe to at most 1000 resources");
  if (uris_bytes_ + uri.size() > kUrisBytesMax)
    throw Error(Code::too_many_requests,
                "the URIs that a client subscribes to have at most 256 KiB together");
  uris_bytes_ += uri.size();
  uris_[uri] = std::move(place);
}

void ResourceWatch::unsubscribe(const std::string& uri) {
  MutexLock lock(mutex_);
  if (uris_.erase(uri) > 0) uris_bytes_ -= uri.size();
}

void ResourceWatch::touch(const std::string& uri) {
  {
    MutexLock lock(mutex_);
    if (!uris_.contains(uri)) return;
  }
  options_.tell("notifications/resources/updated", {{"uri", uri}});
}

void ResourceWatch::look() {
  std::map<std::string, bool> updated;
  bool list_changed = false;
  try {
    MutexLock lock(mutex_);
    unread_.add(changed_->take());
    bool first = std::exchange(first_, false);
    if (!first && uris_.empty() && !options_.is_wanted()) return;
    auto actor = options_.renew();
    auto workspaces = app_.keep.workspaces().list(actor);
    if (workspaces.size() > kWorkspacesMax) workspaces.resize(kWorkspacesMax);
    for (const auto& workspace : workspaces) {
      auto authority = app_.keep.workspaces().standing(actor, workspace.id);
      if (!authority.allows(workspace::Right::read)) continue;  // access ended meanwhile
      if (seen_.contains(workspace.id)) {
        if (unread_.contains(workspace.id)) look_at(authority, updated, list_changed);
      } else {
        seen_[workspace.id] = app_.keep.journal().head_seq(authority);
        list_changed = list_changed || !first;
      }
    }
    unread_.clear();
  } catch (const Error& error) {
    // Ignores other errors, because the next change triggers another attempt.
    bool is_denied = error.code() == Code::unauthorized || error.code() == Code::forbidden;
    if (is_denied && options_.on_denied) options_.on_denied();
    return;
  }
  if (list_changed && options_.list_changes)
    options_.tell("notifications/resources/list_changed", Json::object());
  for (const auto& [uri, changed] : updated) options_.tell("notifications/resources/updated", {{"uri", uri}});
}

void ResourceWatch::look_at(const workspace::Authority& authority, std::map<std::string, bool>& updated,
                            bool& list_changed) {
  auto& after = seen_[authority.workspace_id()];
  for (bool more = true; more;) {
    auto events = app_.keep.journal().events(
        authority, after, kPortion,
        {.kinds = {"file.*", "folder.*", "trash.*", "version.*"}, .path_prefix = {}, .actor = {}});
    after = events.cursor;
    more = events.has_more;
    for (const auto& event : events.items) {
      list_changed = list_changed || changes_list(event.kind);
      for (auto field : {"path", "from", "to"}) {
        const auto& path = field_in(event.personal, field);
        if (!path.is_string()) continue;
        for (const auto& [uri, place] : uris_)
          if (place.workspace == authority.workspace_id() && is_within(place.path, path.get<std::string>()))
            updated[uri] = true;
      }
    }
  }
}

}  // namespace sk::api::mcp
