#include "interpreter/watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/log.h"

namespace sk::interpreter {

namespace {
constexpr uint32_t kMask =
    IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_OPEN | IN_ONLYDIR;
}

Watcher::Watcher() : inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)), stop_(::eventfd(0, EFD_CLOEXEC)) {
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
    std::lock_guard lock(mutex_);
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
        for (auto& [session, copy] : copies_) copy.touched.everything = true;
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
  Folder folder = found->second;
  auto owner = copies_.find(folder.session);
  if ((mask & IN_IGNORED) != 0) {
    if (owner != copies_.end()) owner->second.watches.erase(watch);
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
  if (is_folder && (mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
    // Something may have been written in it before the watch was there.
    watch_tree_locked(folder.session, copy, path);
    copy.touched.folders.insert(path);
  } else if (is_folder && (mask & (IN_MOVED_FROM | IN_DELETE)) != 0) {
    copy.touched.folders.insert(path);
  }
  copy.touched.paths.insert(std::move(path));
}

bool Watcher::watch_folder_locked(const Id& session, Copy& copy, const std::string& path) {
  auto folder = copy.copy->open_folder(path);
  if (!folder) return true;  // gone again
  int watch =
      ::inotify_add_watch(inotify_.get(), ("/proc/self/fd/" + std::to_string(folder->get())).c_str(), kMask);
  if (watch < 0) return errno != ENOSPC && errno != ENOMEM;
  folders_[watch] = {session, path};
  copy.watches.insert(watch);
  return true;
}

void Watcher::watch_tree_locked(const Id& session, Copy& copy, const std::string& path) {
  bool all = watch_folder_locked(session, copy, path);
  copy.copy->walk(path, [&](const std::string& at, const Node& node) {
    if (node.kind == NodeKind::folder) all = all && watch_folder_locked(session, copy, at);
    return all;
  });
  if (!all && !copy.touched.everything) {
    copy.touched.everything = true;
    log::warn("too many folders to watch; whole working copies are compared instead",
              {{"session", session.hex()}, {"hint", "raise the sysctl fs.inotify.max_user_watches"}});
  }
}

void Watcher::add(const Id& session, const WorkingCopy& copy) {
  std::lock_guard lock(mutex_);
  auto& mine = copies_[session];
  mine.copy = &copy;
  watch_tree_locked(session, mine, "");
}

void Watcher::remove(const Id& session) {
  std::lock_guard lock(mutex_);
  auto found = copies_.find(session);
  if (found == copies_.end()) return;
  for (int watch : found->second.watches) {
    ::inotify_rm_watch(inotify_.get(), watch);
    folders_.erase(watch);
  }
  copies_.erase(found);
}

Touched Watcher::take(const Id& session) {
  std::lock_guard lock(mutex_);
  drain_locked();
  auto found = copies_.find(session);
  if (found == copies_.end()) return {};
  return std::exchange(found->second.touched, Touched{});
}

void Watcher::put_back(const Id& session, const Touched& touched) {
  std::lock_guard lock(mutex_);
  auto found = copies_.find(session);
  if (found == copies_.end()) return;
  Touched& mine = found->second.touched;
  mine.paths.insert(touched.paths.begin(), touched.paths.end());
  mine.folders.insert(touched.folders.begin(), touched.folders.end());
  mine.opened = mine.opened || touched.opened;
  mine.everything = mine.everything || touched.everything;
}

bool Watcher::anything(const Id& session) {
  std::lock_guard lock(mutex_);
  drain_locked();
  auto found = copies_.find(session);
  return found != copies_.end() && !found->second.touched.empty();
}

}  // namespace sk::interpreter
