// Resources of a session, from its creation in the pool until its cleanup. Private to this room.
#pragma once

#include <sys/types.h>

#include <memory>

#include "base/fd.h"
#include "sandbox/cgroup.h"
#include "sandbox/zygote.h"

namespace sk::sandbox {

struct SessionParts {
  uint32_t uid = 0;  // as seen by the host, or by the outer user namespace
  Fd control;        // to its init; closing it ends the session
  Fd gate;           // to its main process, until that is confined
  Fd channel, output, errors;
  pid_t init_pid = 0, main_pid = 0;
  Fd init_pidfd, main_pidfd;
  std::shared_ptr<const Fd>
      refusals;  // file with the number of refused calls; null where the kernel cannot count
  Fd idmap;      // maps the owner of its files
  std::unique_ptr<Cgroup> cgroup;
  std::shared_ptr<Zygote> zygote;  // shared: a retired zygote lives until its last session has ended
};

}  // namespace sk::sandbox
