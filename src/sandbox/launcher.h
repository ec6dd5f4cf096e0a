// Client of the launcher, the small process that creates namespaces (inside/launcher.c). One per runtime.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/mutex.h"
#include "sandbox/packets.h"
#include "sandbox/user_ids.h"

namespace sk::sandbox {

// The configuration of a launcher: fixed when it starts, and the rules by which it checks requests.
struct LauncherPlan {
  uint32_t layers;
  std::string runtime_root;  // "/" for the host's own
  std::string python;
  std::string data_root;                // parent of all folders that sessions get; absolute
  std::vector<std::string> extra_dirs;  // absolute; mounted read-only at the same path
  UserIdPlan ids;
  std::string filter;  // compile_seccomp_policy()
};

// Closing the socket ends the process; the destructor waits for that.
struct LauncherProcess {
  LauncherProcess(Fd its_socket, Fd its_pidfd) : socket(std::move(its_socket)), pidfd(std::move(its_pidfd)) {}
  LauncherProcess(LauncherProcess&&) = default;
  ~LauncherProcess();
  Fd socket;
  Fd pidfd;
};

// Starts a launcher with the privileges of this process, and waits until it has built its root. Throws
// Error(internal) with the failed step.
LauncherProcess start_launcher(const LauncherPlan& plan);

// Thread-safe; requests are served one at a time. Every method throws Error(unavailable) when the launcher
// has died, and Error(internal) with the failed step when it reports a failure.
class Launcher {
 public:
  explicit Launcher(LauncherProcess process) : process_(std::move(process)) {}
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  struct Started {
    int pid;
    Fd pidfd;
    Fd idmap;  // only for an init, and only with that layer
  };
  // `fds` are in the order of SK_OP_ZYGOTE.
  Started start_zygote(std::span<const int> fds);
  Started start_init(uint32_t uid, int control_fd);

  enum class Access { read_write, read_only };
  // Creates a detached mount of `path`, which must be the folder open as `folder_fd`. `idmap_fd` < 0 leaves
  // owners unmapped.
  Fd open_tree(const std::string& path, int folder_fd, Access access, int idmap_fd);

  // Returns whether the process is alive. `ended_fd` becomes readable when it ends.
  bool alive() const;
  int ended_fd() const { return process_.pidfd.get(); }

 private:
  sk_launcher_reply ask(sk_launcher_request& request, std::span<const int> fds, std::vector<Fd>& received);

  Mutex mutex_;  // serializes requests
  LauncherProcess process_;
};

}  // namespace sk::sandbox
