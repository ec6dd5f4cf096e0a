// One running sandbox: its processes, from the first to the last. It knows nothing of what is said on its
// channel (kernel.h does).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "sandbox/limits.h"

namespace sk::sandbox {

class Nursery;
struct SessionParts;

// A host folder that code sees read-only as /mnt/<name>.
struct ReadOnlyBind {
  std::string host_path;
  std::string name;  // one path component, not "data"
};

struct SessionSpec {
  std::string id;        // for logs only
  std::string data_dir;  // absolute host path of the folder that code sees as /mnt/data; belongs to
                         // SandboxHost::file_owner()
  Limits limits;
  std::vector<ReadOnlyBind> binds;
  std::string runtime;  // empty: the first
};

// Why a session ended. The first cause that was known stays.
enum class End {
  exited,    // its main process ended by itself: exit(), os._exit()
  crash,     // its main process died of a signal
  oom,       // memory_bytes was exceeded
  killed,    // kill() was called; `reason` is what it was given
  protocol,  // it sent what no kernel sends; kill() by kernel.h
};

struct Outcome {
  End end = End::exited;
  std::string reason;            // of kill(), or a sentence
  std::optional<int> exit_code;  // of the main process, when it is known
  std::optional<int> signal;     // that ended it, when it is known
};

std::string_view name_of(End end);

// A regular file that a process of the session holds open for writing, or has mapped shared and writable.
struct OpenFile {
  uint64_t device;
  uint64_t inode;
  auto operator<=>(const OpenFile&) const = default;
};

// One thread at a time. Destroying it kills what still runs; the remains are cleared away in the background.
class Session {
 public:
  Session(SessionSpec spec, std::unique_ptr<SessionParts> parts, Nursery& nursery);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const SessionSpec& spec() const { return spec_; }

  // Non-blocking descriptors, owned by the session.
  int channel_fd() const;  // stream socket: frames to and from the kernel inside
  int output_fd() const;   // pipes: what processes inside write to their descriptors 1 and 2
  int errors_fd() const;
  // Readable once the last process of the session has ended, so that nothing in it can write to /mnt/data any
  // more.
  int ended_fd() const;

  // SIGINT to the main process: KeyboardInterrupt in Python. No effect when it has ended.
  void interrupt();
  // Ends all processes; returns at once. `end` and `reason` are what outcome() will say unless another cause
  // came first.
  void kill(End end, std::string reason);
  // Stops and continues all processes. Approximate without a freezer: processes forked meanwhile may slip
  // through. freeze(): any thread.
  void freeze();
  void thaw();

  // Once ended_fd() is readable; nullopt before.
  std::optional<Outcome> outcome();
  // Waits for it. False after `timeout_ms`; negative waits for ever.
  [[nodiscard]] bool wait_ended(int timeout_ms) const;

  // Zero where no control groups are.
  Usage usage() const;
  // How often a process could not be started because processes_max are there. Where control groups do not
  // count, an estimate: 1 while as many as that are there.
  uint64_t processes_refused() const;
  // Host pids of all processes of the session but its init.
  std::vector<pid_t> processes() const;
  // Sorted, without repetition. What was opened or closed meanwhile may be missing or still there; freeze()
  // first to be sure.
  std::vector<OpenFile> files_open_for_writing() const;

 private:
  void note(End end, std::string reason);
  Outcome find_outcome();

  const SessionSpec spec_;
  std::unique_ptr<SessionParts> parts_;
  Nursery& nursery_;
  std::optional<Outcome> outcome_;  // set when a cause is known, final when ended_
  bool final_ = false;
};

}  // namespace sk::sandbox
