// Public entry point of this room: creates sandboxed sessions on this host, or reports why it cannot.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/mutex.h"
#include "sandbox/doctor.h"
#include "sandbox/nursery.h"
#include "sandbox/session.h"

namespace sk::sandbox {

// The operator's permission to run code although sandbox layers are missing (--sandbox=weak). Every place
// that weakens the sandbox requires one, so a search for this name finds them all.
class WeakSandboxAllowed {
 public:
  static WeakSandboxAllowed by_operator() { return {}; }

 private:
  WeakSandboxAllowed() = default;
};

// The operator's permission to run code although limits are only approximate (--limits=approximate).
// WeakSandboxAllowed does not include it.
class ApproximateLimitsAllowed {
 public:
  static ApproximateLimitsAllowed by_operator() { return {}; }

 private:
  ApproximateLimitsAllowed() = default;
};

// Fails closed: throws Error(unavailable) naming the missing layers. With the operator's permission it only
// logs a warning, unless nothing can run at all.
void require_layers(const Report& report, const std::optional<WeakSandboxAllowed>& weak);
// The same for exact limits.
void require_exact_limits(const Report& report, const std::optional<ApproximateLimitsAllowed>& approximate);

// Returns the share of the memory that sessions get together where the operator names none. The rest is for
// the server, whose own budgets are about 1 GiB, and for the kernel.
uint64_t default_sessions_memory(uint64_t memory_bytes);

// Installation of Python and its packages.
struct Runtime {
  std::string name = "default";
  std::string root = "/";  // folder with a complete system; "/" is the host's own
  std::string python = "/usr/bin/python3";
};

struct PreparedHost;

// Thread-safe. All sessions must be destroyed before it.
class SandboxHost {
 public:
  struct Options {
    std::vector<Runtime> runtimes = {
        Runtime{}};  // the first starts at once and has a pool; the others start with their first session
    std::vector<std::string> extra_dirs = {};  // host folders that code may read, at the same path
    std::string data_root = {};                // parent of the sessions' data folders
    size_t pool_size = 0;                      // interpreters started in advance
    uint64_t preallocation_bytes_max = 0;      // per fallocate, which is faster than the disk guard can react
    uint64_t zygote_forks_max = 1'000;
    int64_t zygote_age_max_s = 3'600;
    uint64_t sessions_memory_max_bytes = 0;  // of all together; 0: default_sessions_memory()
    std::optional<WeakSandboxAllowed> weak = std::nullopt;
    std::optional<ApproximateLimitsAllowed> approximate = std::nullopt;
  };
  // Throws Error(unavailable) naming the missing layers. With `weak` it logs a warning instead, unless
  // nothing can run at all. `approximate` is the same for limits.
  SandboxHost(Options options, Metrics& metrics);
  SandboxHost(PreparedHost prepared, Metrics& metrics);
  ~SandboxHost();

  // Returns the result of examine_host(). doctor() does the same without a host.
  const Report& report() const { return findings_.report; }
  static Report doctor(const std::string& data_root);

  struct Owner {
    uint32_t uid, gid;
  };
  // Returns the required owner of the data folders and of all files that the server puts into them. Code in
  // any session can then use them.
  Owner file_owner() const { return {findings_.ids.owner_uid, findings_.ids.owner_gid}; }

  // Memory of all sessions together. Control groups enforce it where there are any; callers of start() keep
  // to it everywhere.
  uint64_t sessions_memory_max() const { return sessions_memory_max_; }

  // Returns the runtime's name, or that of the first for "". Throws Error(bad_request), listing the available
  // ones, for an unknown name.
  std::string need_runtime(const std::string& name) const;

  // Waits until Python is ready, which takes some seconds. Returns false on timeout.
  [[nodiscard]] bool wait_ready(int timeout_ms);

  // Starts a session; waits for the zygote if needed. Takes a few milliseconds from the pool, some tens
  // without. Throws Error(not_found) for an unknown runtime, otherwise as Nursery::start.
  std::unique_ptr<Session> start(const SessionSpec& spec);

 private:
  Nursery& nursery_of(const std::string& runtime);

  const Options options_;
  Metrics& metrics_;
  const std::unique_ptr<const CgroupTree> cgroups_;
  const Findings findings_;
  const std::unique_ptr<Privileged> privileged_;
  const uint64_t sessions_memory_max_;
  UserIds ids_;
  Mutex mutex_;
  // A nursery is never removed.
  std::map<std::string, std::unique_ptr<Nursery>> nurseries_ SK_GUARDED_BY(mutex_);
};

// The parts of a host whose creation needs privileges. Code that gives them up creates it first.
struct PreparedHost {
  SandboxHost::Options options;
  std::unique_ptr<const CgroupTree> cgroups;
  Findings findings;
  std::unique_ptr<Privileged> privileged;
};

enum class Privileges {
  kept,       // by this process
  in_helper,  // by a process of its own; this one must have one thread
};
// Never throws for missing layers; the host does. Throws Error(internal) when processes or memory run out.
PreparedHost prepare_host(SandboxHost::Options options, Privileges privileges);

}  // namespace sk::sandbox
