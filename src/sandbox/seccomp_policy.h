// The system calls that code in a session may make, compiled to a filter that the kernel runs. An allow-list:
// what it does not name answers ENOSYS, so that a libc which tries something newer falls back instead of
// failing.
#pragma once

#include <cstdint>
#include <string>

namespace sk::sandbox {

struct SeccompOptions {
  // Without a memory cgroup, memory that belongs to no process (memfd, System V segments) would be counted by
  // nobody.
  bool uncounted_memory = false;
  // By one call: it takes disk faster than anybody could look.
  uint64_t preallocation_bytes_max = 0;
};

// The program as the kernel takes it: an array of struct sock_filter. Throws Error(internal) when libseccomp
// refuses.
std::string compile_seccomp_policy(const SeccompOptions& options);

// Whether the kernel knows filters at all.
bool kernel_has_seccomp();

}  // namespace sk::sandbox
