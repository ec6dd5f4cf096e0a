// Invalidates what the server remembers of keys and access when the journals tell that it changed, and ends
// what goes on with a right that is gone. The process that makes the change does so in the commit. Following
// the journals does the same for any other process on the same catalog.
#pragma once

#include "followers/follower.h"

namespace sk::followers {

FollowerOptions cache_options();
// `keep` outlives the returned function.
Follower::OnEvents invalidate_caches(workspace::Keep& keep);

}  // namespace sk::followers
