#include "followers/caches.h"

namespace sk::followers {

namespace {

bool is_about_keys(const workspace::JournalEntry& event) {
  return event.kind == "key.revoke" || event.kind.starts_with("principal.");
}

// The key, the principal or the workspace whose rights changed.
std::optional<Id> subject_of(const workspace::JournalEntry& event) {
  if (event.workspace) return event.workspace;
  if (event.kind == "key.revoke")
    return Id::from_prefixed(event.facts.value("key_id", ""), workspace::prefix::key);
  return Id::from_prefixed(event.facts.value("principal_id", ""), workspace::prefix::principal);
}

}  // namespace

FollowerOptions cache_options() {
  FollowerOptions options;
  options.name = "caches";
  options.keeps = FollowerOptions::Keeps::in_memory;  // a new process remembers nothing yet
  options.begin = Begin::now;
  options.filter.kinds = {"key.revoke", "principal.suspend", "principal.resume", "member.*", "workspace.*"};
  return options;
}

Follower::OnEvents invalidate_caches(workspace::Keep& keep) {
  return [&keep](const std::vector<workspace::JournalEntry>& events, const std::stop_token&) {
    bool keys = false, access = false;
    for (const auto& event : events) (is_about_keys(event) ? keys : access) = true;
    if (keys) keep.access().forget_cached();
    if (access) keep.workspaces().forget_cached();
    for (const auto& event : events)
      if (auto subject = subject_of(event)) keep.revocations().announce(*subject);
  };
}

}  // namespace sk::followers
