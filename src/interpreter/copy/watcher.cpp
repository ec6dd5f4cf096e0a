#include "interpreter/copy/watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "base/error.h"
#include "base/log.h"

namespace sk::interpreter {

namespace {

constexpr uint32_t kQuietMask =
    IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_OPEN | IN_ONLYDIR;
// Truncating by path is reported only as a modification. So is every write, so a folder with many of them is
// muted until the next capture, which compares all its members.
constexpr uint32_t kMask = kQuietMask | IN_MODIFY;
constexpr int kModificationsMax = 256;

// A share of the watches that the host allows this user, so that a few sessions cannot use them all.
size_t folders_max(size_t wanted) {
  constexpr size_t kShares = 8;
  std::ifstream file("/proc/sys/fs/inotify/max_user_watches");
  size_t host = 0;
  if (!(file >> host)) return wanted;
  return std::max<size_t>(16, std::min(wanted, host / kShares));
}

}  // namespace

void Touched::add(const Touched& other) {
  paths.insert(other.paths.begin(), other.paths.end());
  folders.insert(other.folders.begin(), other.folders.end());
  members.insert(other.members.begin(), other.members.end());
  opened = opened || other.opened;
  everything = everything || other.everything;
}

Watcher::Watcher(Options options)
    : folders_per_copy_max_(folders_max(options.folders_per_copy_max)),
      inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (!inotify_ || !stop_) throw system_error("cannot watch folders", errno);
  thread_ = std::thread([this] { run(); });
}

Watcher::~Watcher() {
  uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void Watcher::run() {
  pollfd fds[2] = {{inotify_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  while (true) {
    if (::poll(fds, 2, -1) < 0 && errno != EINTR) die("poll failed in the watcher of working copies");
    if (fds[1].revents != 0) return;
    MutexLock lock(mutex_);
    drain_locked();
  }
}

void Watcher::drain_locked() {
  alignas(inotify_event) char buffer[64 << 10];
  for (;;) {
    auto count = ::read(inotify_.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    for (char* at = buffer; at < buffer + count;) {
      auto event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + event->len;
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        for (auto& [session, copy] : copies_) go_blind_locked(session, copy, "events were lost");
        continue;
      }
      handle_locked(event->wd, event->mask,
                    event->len > 0 ? std::string_view(event->name) : std::string_view());
    }
  }
}

void Watcher::handle_locked(int watch, uint32_t mask, std::string_view name) {
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
  std::string path = folder.path.empty() ? std::string(name) : folder.path + "/" + std::string(name);
  bool is_folder = (mask & IN_ISDIR) != 0;
  if ((mask & ~(IN_OPEN | IN_ISDIR)) == 0) {
    if (!is_folder) copy.touched.opened = true;
    return;
  }
  if ((mask & IN_MODIFY) != 0) count_modification_locked(watch, copy, folder);
  if (is_folder && (mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
    // Code may have written in it before the watch existed.
    Id session = folder.session;
    watch_tree_locked(session, copy, path);  // may change folders_: do not use `folder` after this
    copy.touched.folders.insert(path);
  } else if (is_folder && (mask & (IN_MOVED_FROM | IN_DELETE)) != 0) {
    copy.touched.folders.insert(path);
  }
  copy.touched.paths.insert(std::move(path));
}

void Watcher::count_modification_locked(int watch, Copy& copy, Folder& folder) {
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

void Watcher::go_blind_locked(const Id& session, Copy& copy, const char* why) {
  copy.touched.everything = true;
  copy.blind = true;
  if (std::exchange(copy.warned, true)) return;
  log::warn("a working copy cannot be watched, so it is compared as a whole",
            {{"session", session.hex()},
             {"why", why},
             {"hint", "raise the sysctls fs.inotify.max_user_watches and fs.inotify.max_queued_events"}});
}

void Watcher::watch_folder_locked(const Id& session, Copy& copy, const std::string& path) {
  // A folder that was moved keeps its watch and gets its new path.
  int watch = copy.copy->watch_folder(path, inotify_.get(), kMask);
  if (watch < 0) {
    bool is_gone = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    if (!is_gone) go_blind_locked(session, copy, "the host allows no more watches, or not this one");
    return;
  }
  if (!copy.watches.contains(watch) && copy.watches.size() >= folders_per_copy_max_) {
    ::inotify_rm_watch(inotify_.get(), watch);
    return go_blind_locked(session, copy, "it has more folders than are watched");
  }
  folders_[watch] = {session, path};
  copy.watches.insert(watch);
  copy.muted.erase(watch);
}

void Watcher::watch_tree_locked(const Id& session, Copy& copy, const std::string& path) {
  watch_folder_locked(session, copy, path);
  auto closed = copy.copy->walk(path, [&](const std::string& at, const Node& node) SK_REQUIRES(mutex_) {
    if (node.kind == NodeKind::folder && !copy.blind) watch_folder_locked(session, copy, at);
    return !copy.blind;
  });
  if (!closed.empty()) go_blind_locked(session, copy, "a folder could not be read");
}

void Watcher::add(const Id& session, const WorkingCopy& copy) {
  MutexLock lock(mutex_);
  auto& mine = copies_[session];
  mine.copy = &copy;
  watch_tree_locked(session, mine, "");
}

void Watcher::remove(const Id& session) {
  MutexLock lock(mutex_);
  auto found = copies_.find(session);
  if (found == copies_.end()) return;
  for (int watch : found->second.watches) {
    ::inotify_rm_watch(inotify_.get(), watch);
    folders_.erase(watch);
  }
  copies_.erase(found);
}

Touched Watcher::take(const Id& session) {
  MutexLock lock(mutex_);
  drain_locked();
  auto found = copies_.find(session);
  if (found == copies_.end()) return {};
  Copy& copy = found->second;
  // Sets watches before the caller's walk, so that later changes cause events.
  if (std::exchange(copy.blind, false)) {
    watch_tree_locked(session, copy, "");
    copy.touched.everything = true;
    if (!copy.blind) copy.warned = false;
  }
  for (int watch : std::exchange(copy.modified, {}))
    if (auto folder = folders_.find(watch); folder != folders_.end()) folder->second.modifications = 0;
  for (int watch : std::exchange(copy.muted, {})) {
    auto folder = folders_.find(watch);
    if (folder == folders_.end()) continue;
    copy.touched.members.insert(folder->second.path);
    watch_folder_locked(session, copy, std::string(folder->second.path));
  }
  return std::exchange(copy.touched, Touched{});
}

void Watcher::put_back(const Id& session, const Touched& touched) {
  MutexLock lock(mutex_);
  auto found = copies_.find(session);
  if (found != copies_.end()) found->second.touched.add(touched);
}

bool Watcher::anything(const Id& session) {
  MutexLock lock(mutex_);
  drain_locked();
  auto found = copies_.find(session);
  return found != copies_.end() && (found->second.blind || !found->second.touched.empty());
}

}  // namespace sk::interpreter
