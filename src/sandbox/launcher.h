// Client of the launcher, the small process that creates namespaces (inside/launcher.c). One per runtime.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/mutex.h"
#include "sandbox/packets.h"

namespace sk::sandbox {

// Thread-safe; requests are served one at a time. Every method throws Error(unavailable) when the launcher
// has died, and Error(internal) with the failed step when it reports a failure.
class Launcher {
 public:
  struct Setup {
    uint32_t layers;
    std::string runtime_root;             // "/" for the host's own
    std::vector<std::string> extra_dirs;  // absolute; mounted read-only at the same path
  };
  explicit Launcher(const Setup& setup);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  struct Started {
    int pid;
    Fd pidfd;
    Fd idmap;  // only for an init, and only with that layer
  };
  // `fds` are in the order of SK_OP_ZYGOTE.
  Started start_zygote(const std::string& python, std::span<const int> fds);

  struct Ids {
    uint32_t uid, gid;              // of the session
    uint32_t owner_uid, owner_gid;  // of its files on disk
  };
  Started start_init(uint32_t layers, const Ids& ids, int control_fd);

  enum class Access { read_write, read_only };
  // Creates a detached mount of `path`, which must be the folder open as `folder_fd`. `idmap_fd` < 0 leaves
  // owners unmapped.
  Fd open_tree(const std::string& path, int folder_fd, Access access, int idmap_fd);

  // Returns whether the process is alive. `ended_fd` becomes readable when it ends.
  bool alive() const;
  int ended_fd() const { return process_.pidfd.get(); }

 private:
  sk_launcher_reply ask(sk_launcher_request& request, std::span<const int> fds, std::vector<Fd>& received);

  // Closing the socket ends the process; the destructor waits for that.
  struct Process {
    Fd socket;
    Fd pidfd;
    ~Process();
  };

  Mutex mutex_;  // serializes requests
  Process process_;
};

}  // namespace sk::sandbox
