#include "interpreter/copy/watch_group.h"

#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/log.h"

namespace sk::interpreter {

namespace {

constexpr uint32_t kQuietMask =
    IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_OPEN | IN_ONLYDIR;
// Truncating by path is reported only as a modification. So is every write, so a folder with many of them is
// muted until the next capture, which compares all its members.
constexpr uint32_t kMask = kQuietMask | IN_MODIFY;
constexpr int kModificationsMax = 256;
// Code can use a new name for every event. With more names than this, comparing the whole copy is no slower.
constexpr size_t kNamesMax = 50'000;

}  // namespace

void Touched::add(const Touched& other) {
  paths.insert(other.paths.begin(), other.paths.end());
  folders.insert(other.folders.begin(), other.folders.end());
  members.insert(other.members.begin(), other.members.end());
  opened = opened || other.opened;
  everything = everything || other.everything;
}

bool WatchGroup::open() {
  MutexLock lock(mutex_);
  if (inotify_) return true;
  inotify_ = Fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  descriptor_ = inotify_.get();
  return static_cast<bool>(inotify_);
}

WatchGroup::Read WatchGroup::read_some() {
  // Set first: whoever has the lock sees it after unlocking.
  passed_over_ = true;
  if (!mutex_.try_lock()) return Read::busy;
  MutexLock lock(mutex_, std::adopt_lock);
  passed_over_ = false;
  drain(Some::one_buffer);
  return Read::done;
}

// Events that arrive meanwhile are left: code may cause them faster than they are read.
void WatchGroup::drain(Some some) {
  int left = 0;
  if (!inotify_ || ::ioctl(inotify_.get(), FIONREAD, &left) != 0) return;
  alignas(inotify_event) char buffer[64 << 10];
  while (left > 0) {
    auto count = ::read(inotify_.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    left = some == Some::one_buffer ? 0 : left - static_cast<int>(count);
    for (char* at = buffer; at < buffer + count;) {
      auto event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + event->len;
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        for (auto& [session, copy] : copies_) go_blind(session, copy, "events were lost");
        continue;
      }
      handle(event->wd, event->mask, event->len > 0 ? std::string_view(event->name) : std::string_view());
    }
  }
}

void WatchGroup::handle(int watch, uint32_t mask, std::string_view name) {
  auto found = folders_.find(watch);
  if (found == folders_.end()) return;
  Folder& folder = found->second;
  auto owner = copies_.find(folder.session);
  if ((mask & IN_IGNORED) != 0) {
    if (owner != copies_.end()) {
      owner->second.watches.erase(watch);
      owner->second.muted.erase(watch);
    }
    folders_.erase(found);
    return;
  }
  if (owner == copies_.end() || name.empty()) return;
  Copy& copy = owner->second;
  if ((mask & ~(IN_OPEN | IN_ISDIR)) == 0) {
    if ((mask & IN_ISDIR) == 0) copy.touched.opened = true;
    return;
  }
  if ((mask & IN_MODIFY) != 0) count_modification(watch, copy, folder);
  if (!copy.overfull)
    mark(copy, folder.path.empty() ? std::string(name) : folder.path + "/" + std::string(name), mask);
}

// A folder that code moved away may still have its old path here. Both its old and its new path are marked,
// with everything below, so an event that names the old one is not lost.
void WatchGroup::mark(Copy& copy, std::string path, uint32_t mask) {
  Touched& touched = copy.touched;
  if (touched.paths.size() + touched.folders.size() >= kNamesMax) {
    copy.overfull = touched.everything = true;
    touched.paths.clear();
    touched.folders.clear();
    copy.unwatched = {""};
    return;
  }
  bool is_folder = (mask & IN_ISDIR) != 0;
  if (is_folder && (mask & (IN_CREATE | IN_MOVED_TO)) != 0) copy.unwatched.insert(path);
  if (is_folder && (mask & (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)) != 0)
    touched.folders.insert(path);
  touched.paths.insert(std::move(path));
}

void WatchGroup::count_modification(int watch, Copy& copy, Folder& folder) {
  if (++folder.modifications == 1) copy.modified.insert(watch);
  if (folder.modifications != kModificationsMax) return;
  int same = copy.copy->watch_folder(folder.path, inotify_.get(), kQuietMask);
  if (same == watch) {
    copy.muted.insert(watch);
    copy.touched.members.insert(folder.path);
  } else if (same >= 0) {
    // Another folder is at that path now, and its event is still queued: restore its full watch.
    copy.copy->watch_folder(folder.path, inotify_.get(), kMask);
  }
}

void WatchGroup::go_blind(const Id& session, Copy& copy, const char* why) {
  copy.touched.everything = true;
  copy.blind = true;
  if (std::exchange(copy.warned, true)) return;
  log::warn("a working copy cannot be watched, so it is compared as a whole",
            {{"session", session.hex()},
             {"why", why},
             {"hint",
              "raise the sysctls fs.inotify.max_user_watches, fs.inotify.max_user_instances and "
              "fs.inotify.max_queued_events"}});
}

void WatchGroup::watch_folder(const Id& session, Copy& copy, const std::string& path) {
  // A folder that was moved keeps its watch and gets its new path.
  int watch = copy.copy->watch_folder(path, inotify_.get(), kMask);
  if (watch < 0) {
    bool is_gone = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    if (!is_gone) go_blind(session, copy, "the host allows no more watches, or not this one");
    return;
  }
  if (!copy.watches.contains(watch) && copy.watches.size() >= folders_per_copy_max_) {
    ::inotify_rm_watch(inotify_.get(), watch);
    return go_blind(session, copy, "it has more folders than are watched");
  }
  folders_[watch] = {session, path};
  copy.watches.insert(watch);
  copy.muted.erase(watch);
}

void WatchGroup::watch_tree(const Id& session, Copy& copy, const std::string& path) {
  if (!inotify_) return go_blind(session, copy, "the host allows no more instances of inotify");
  if (!is_walked(path)) return go_blind(session, copy, "it has folders that are too deep");
  watch_folder(session, copy, path);
  auto closed = copy.copy->walk(path, [&](const std::string& at, const Node& node) SK_REQUIRES(mutex_) {
    if (node.kind != NodeKind::folder || copy.blind) return false;
    if (is_walked(at))
      watch_folder(session, copy, at);
    else
      go_blind(session, copy, "it has folders that are too deep");
    return !copy.blind;
  });
  if (!closed.empty()) go_blind(session, copy, "a folder could not be read");
}

void WatchGroup::add(const Id& session, const WorkingCopy& copy) {
  MutexLock lock(mutex_);
  auto& mine = copies_[session];
  mine.copy = &copy;
  watch_tree(session, mine, "");
}

void WatchGroup::remove(const Id& session) {
  MutexLock lock(mutex_);
  auto found = copies_.find(session);
  if (found == copies_.end()) return;
  for (int watch : found->second.watches) {
    // The last copy's watches end with the instance, which is faster.
    if (copies_.size() > 1) ::inotify_rm_watch(inotify_.get(), watch);
    folders_.erase(watch);
  }
  copies_.erase(found);
}

Touched WatchGroup::take(const Id& session) {
  MutexLock lock(mutex_);
  drain(Some::all_queued);
  auto found = copies_.find(session);
  if (found == copies_.end()) return {};
  Copy& copy = found->second;
  copy.overfull = false;
  // Sets watches before the caller's walk, so that later changes cause events.
  auto unwatched = std::exchange(copy.unwatched, {});
  if (std::exchange(copy.blind, false)) {
    watch_tree(session, copy, "");
    copy.touched.everything = true;
    if (!copy.blind) copy.warned = false;
  } else {
    for (const auto& folder : unwatched)
      if (!copy.blind && !is_below_any(folder, unwatched)) watch_tree(session, copy, folder);
  }
  for (int watch : std::exchange(copy.modified, {}))
    if (auto folder = folders_.find(watch); folder != folders_.end()) folder->second.modifications = 0;
  for (int watch : std::exchange(copy.muted, {})) {
    auto folder = folders_.find(watch);
    if (folder == folders_.end()) continue;
    copy.touched.members.insert(folder->second.path);
    watch_folder(session, copy, std::string(folder->second.path));
  }
  return std::exchange(copy.touched, Touched{});
}

void WatchGroup::put_back(const Id& session, const Touched& touched) {
  MutexLock lock(mutex_);
  auto found = copies_.find(session);
  if (found != copies_.end()) found->second.touched.add(touched);
}

bool WatchGroup::anything(const Id& session) {
  MutexLock lock(mutex_);
  drain(Some::all_queued);
  auto found = copies_.find(session);
  return found != copies_.end() && (found->second.blind || !found->second.touched.empty());
}

}  // namespace sk::interpreter
