#include "followers/followers.h"

#include "followers/caches.h"
#include "followers/cursors.h"
#include "followers/thumbnails.h"

namespace sk::followers {

Followers::Followers(workspace::Keep& keep, conversations::Conversations& conversations,
                     interpreter::Interpreter& interpreter, Metrics& metrics) {
  all_.push_back(std::make_unique<Follower>(keep, metrics, cache_options(), invalidate_caches(keep)));
  all_.push_back(std::make_unique<Follower>(keep, metrics, thumbnail_options(),
                                            make_thumbnails(keep, conversations, interpreter)));
  keep.context().on_workspace_purge.emplace_back(purge_cursors);
}

void Followers::start() {
  for (auto& follower : all_) follower->start();
}

void Followers::stop() {
  for (auto& follower : all_) follower->stop();
}

}  // namespace sk::followers
