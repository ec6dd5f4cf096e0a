// The door of this room: makes sandboxed sessions on this host, or says why it cannot.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "sandbox/doctor.h"
#include "sandbox/nursery.h"
#include "sandbox/session.h"

namespace sk::sandbox {

// The operator's word that code may run although layers of the sandbox are missing (--sandbox=weak). Every
// place that weakens the sandbox asks for one, so that a search for this name finds them all.
class WeakSandboxAllowed {
 public:
  static WeakSandboxAllowed by_operator() { return {}; }

 private:
  WeakSandboxAllowed() = default;
};

// Fails closed: throws Error(unavailable) that names what the report lacks. With the operator's word it only
// warns, where anything can run at all.
void require_layers(const Report& report, const std::optional<WeakSandboxAllowed>& weak);

// Where Python and its packages come from.
struct Runtime {
  std::string name = "default";
  std::string root = "/";  // a folder with a whole system in it; "/" is the host's own
  std::string python = "/usr/bin/python3";
};

// Any thread. Sessions must be destroyed before it.
class SandboxHost {
 public:
  struct Options {
    std::vector<Runtime> runtimes = {
        Runtime{}};  // the first is started at once and has a pool; others with their first session
    std::vector<std::string> extra_dirs = {};  // host folders that code may read, under the same path
    std::string data_root = {};                // sessions' data folders will lie below it
    size_t pool_size = 0;                      // interpreters that are started before somebody asks
    uint64_t preallocation_bytes_max = 0;      // by one fallocate: faster than any guard could look
    uint64_t zygote_forks_max = 1'000;
    int64_t zygote_age_max_s = 3'600;
    std::optional<WeakSandboxAllowed> weak = std::nullopt;
  };
  // Throws Error(unavailable) that names what is missing. With `weak`, it warns in the log instead, where
  // anything can run at all.
  SandboxHost(Options options, Metrics& metrics);
  ~SandboxHost();

  // What examine_host() found; also without a host: doctor().
  const Report& report() const { return findings_.report; }
  static Report doctor(const std::string& data_root);

  struct Owner {
    uint32_t uid, gid;
  };
  // Data folders, and whatever the server puts into them, must belong to this user: then code in any session
  // can use them.
  Owner file_owner() const { return {findings_.ids.owner_uid, findings_.ids.owner_gid}; }

  // The runtime's name; the first one's for "". Error(bad_request) that lists those that are there.
  std::string need_runtime(const std::string& name) const;

  // Python takes some seconds to get ready. False when it did not in time.
  [[nodiscard]] bool wait_ready(int timeout_ms);

  // Waits for the zygote when it is not ready yet. A few milliseconds from the pool, some tens without.
  // Throws Error: not_found for a runtime that is not there, else as Nursery::start.
  std::unique_ptr<Session> start(const SessionSpec& spec);

 private:
  Nursery& nursery_of(const std::string& runtime);

  const Options options_;
  Metrics& metrics_;
  const CgroupTree cgroups_;
  const Findings findings_;
  UserIds ids_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Nursery>>
      nurseries_;  // guarded by mutex_; a nursery stays once it is there
};

}  // namespace sk::sandbox
