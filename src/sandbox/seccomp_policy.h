// Seccomp policy: the system calls that code in a session may make, compiled to a kernel filter. This is an
// allow-list. Unlisted calls return ENOSYS, so a libc that tries a newer call falls back instead of failing.
#pragma once

#include <cstdint>
#include <string>

namespace sk::sandbox {

struct SeccompOptions {
  // Allows memory that belongs to no process (memfd, System V segments). Without a memory cgroup, it would
  // not be counted.
  bool uncounted_memory = false;
  // Limit per fallocate call, because one call can take disk space faster than the disk guard can react.
  uint64_t preallocation_bytes_max = 0;
  // Leaves the refusal of calls that need privileges to a listener, which counts them.
  bool counts_refusals = false;
};

// Returns the filter as an array of struct sock_filter. Throws Error(internal) when libseccomp fails.
std::string compile_seccomp_policy(const SeccompOptions& options);

// Returns the filter of the server itself: the same list, without the calls that start programs, and with
// sockets of the internet.
std::string compile_server_policy();

// Returns the filter of a process that computes, reads and writes open files, and does nothing else.
std::string compile_reader_policy();

// Returns whether the kernel supports filters.
bool kernel_has_seccomp();

}  // namespace sk::sandbox
