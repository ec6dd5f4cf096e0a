// One running sandbox: its processes, from the first to the last. Does not interpret its channel (kernel.h
// does).
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
#include "sandbox/open_files.h"

namespace sk::sandbox {

class Meter;
class Nursery;
struct SessionParts;

// A host folder that is mounted read-only at /mnt/<name>.
struct ReadOnlyBind {
  std::string host_path;
  std::string name;  // one path component, not "data"
};

struct SessionSpec {
  std::string id;  // for logs only
  // Absolute host path of the folder mounted at /mnt/data. SandboxHost::file_owner() must own it.
  std::string data_dir;
  SessionLimits limits;
  std::vector<ReadOnlyBind> binds;
  std::string runtime;  // empty: the first runtime
  // Sessions of one tenant share one part of the processor. A valid name of a file, or empty.
  std::string tenant;
};

// Why a session ended. The first known cause wins.
enum class End {
  exited,    // main process exited: exit(), os._exit()
  crash,     // main process was killed by a signal
  oom,       // memory_bytes was exceeded
  killed,    // kill() was called; `reason` is its argument
  protocol,  // invalid message; kill() by kernel.h
};

struct SessionEnd {
  End end = End::exited;
  std::string reason;            // argument of kill(), or a sentence
  std::optional<int> exit_code;  // of the main process, if known
  std::optional<int> signal;     // that ended it, if known
};

std::string_view name_of(End end);

// Not thread-safe. Destruction kills running processes; cleanup happens in the background.
class Session {
 public:
  Session(SessionSpec spec, std::unique_ptr<SessionParts> parts, Nursery& nursery);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const SessionSpec& spec() const { return spec_; }

  // Non-blocking descriptors, owned by the session.
  int channel_fd() const;  // stream socket: frames to and from the kernel
  int output_fd() const;   // pipes: descriptors 1 and 2 of the processes inside
  int errors_fd() const;
  // Readable once the last process of the session has ended; nothing in it can write to /mnt/data any more.
  int ended_fd() const;

  // Sends SIGINT to the main process: KeyboardInterrupt in Python. No effect when it has ended.
  void interrupt();
  // Ends all processes and returns at once. outcome() reports `end` and `reason`, unless another cause came
  // first.
  void kill(End end, std::string reason);
  // Stop and continue all processes. Approximate without a freezer: processes forked meanwhile may escape.
  // freeze() may be called from any thread.
  void freeze();
  void thaw();

  // Returns the outcome once ended_fd() is readable; nullopt before.
  std::optional<SessionEnd> outcome();
  // Waits for the end. Returns false after `timeout_ms`; a negative value waits forever.
  [[nodiscard]] bool wait_ended(int timeout_ms) const;

  // Zero without control groups.
  Usage usage() const;
  // Measures the session from any thread, as long as it runs.
  std::shared_ptr<const Meter> meter() const;
  // Returns how often a process could not be started because of processes_max. Without a counting control
  // group this is an estimate: 1 while the limit is reached.
  uint64_t processes_refused() const;
  // Returns the host pids of all processes of the session except its init. Any thread.
  std::vector<pid_t> processes() const;
  // Sorted, without duplicates. Includes files of processes that start meanwhile, and of processes whose main
  // thread has exited. Files opened or closed meanwhile may be missing or stale; freeze() first for an exact
  // result.
  std::vector<OpenFile> files_open_for_writing() const;
  // Returns the disk space of files on a filesystem that have no name any more and that processes still have
  // open or mapped. Of a file that is only mapped, counts the mapping. Any thread.
  uint64_t bytes_of_deleted_files(uint64_t device) const;

 private:
  void note(End end, std::string reason);
  SessionEnd find_outcome();
  std::string reason_of_oom() const;

  const SessionSpec spec_;
  std::unique_ptr<SessionParts> parts_;
  Nursery& nursery_;
  std::optional<SessionEnd> outcome_;  // set when a cause is known; final when final_
  bool final_ = false;
};

}  // namespace sk::sandbox
