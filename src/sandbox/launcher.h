// The server's side of the launcher, the small process that makes namespaces (inside/launcher.c). One per
// runtime.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/fd.h"
#include "sandbox/packets.h"

namespace sk::sandbox {

// Any thread; requests are served one at a time. Every method throws Error(unavailable) when the launcher has
// died, and Error(internal) with the step that failed when it says so.
class Launcher {
 public:
  struct Setup {
    uint32_t layers;
    std::string runtime_root;             // "/" for the host's own
    std::vector<std::string> extra_dirs;  // absolute; shown read-only under the same path
  };
  explicit Launcher(const Setup& setup);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  struct Started {
    int pid;
    Fd pidfd;
    Fd idmap;  // only of an init, only with that layer
  };
  // Descriptors in the order of SK_OP_ZYGOTE.
  Started start_zygote(const std::string& python, std::span<const int> fds);

  struct Ids {
    uint32_t uid, gid;              // the session's
    uint32_t owner_uid, owner_gid;  // of its files on disk
  };
  Started start_init(uint32_t layers, const Ids& ids, int control_fd);

  enum class Access { read_write, read_only };
  // A detached mount of `path`, which must be the folder that `folder_fd` is. `idmap_fd` < 0: owners stay as
  // they are.
  Fd open_tree(const std::string& path, int folder_fd, Access access, int idmap_fd);

  // Whether the process is still there. `ended_fd` becomes readable when it is not.
  bool alive() const;
  int ended_fd() const { return process_.pidfd.get(); }

 private:
  sk_launcher_reply ask(sk_launcher_request& request, std::span<const int> fds, std::vector<Fd>& received);

  // Closing the socket ends it; the destructor waits for that.
  struct Process {
    Fd socket;
    Fd pidfd;
    ~Process();
  };

  std::mutex mutex_;  // one request at a time
  Process process_;
};

}  // namespace sk::sandbox
