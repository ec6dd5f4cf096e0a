#include "followers/caches.h"

namespace sk::followers {

FollowerOptions cache_options() {
  FollowerOptions options;
  options.name = "caches";
  options.keeps = FollowerOptions::Keeps::in_memory;  // a new process remembers nothing yet
  options.begin = Begin::now;
  options.filter.kinds = {"key.revoke", "member.*", "workspace.*"};
  return options;
}

Follower::OnEvents invalidate_caches(workspace::Keep& keep) {
  return [&keep](const std::vector<workspace::JournalEntry>& events, const std::stop_token&) {
    bool keys = false, access = false;
    for (const auto& event : events) (event.kind == "key.revoke" ? keys : access) = true;
    if (keys) keep.access().forget_cached();
    if (access) keep.workspaces().forget_cached();
  };
}

}  // namespace sk::followers
