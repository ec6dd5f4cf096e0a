// What a session is made of, from its first breath in the pool until its remains are cleared away. Private to
// this room.
#pragma once

#include <sys/types.h>

#include <memory>

#include "base/fd.h"
#include "sandbox/cgroup.h"
#include "sandbox/zygote.h"

namespace sk::sandbox {

struct SessionParts {
  uint32_t uid = 0;  // as the host sees it, or as the outer user namespace does
  Fd control;        // to its init; closing it ends the session
  Fd gate;           // to its main process, until that is locked in
  Fd channel, output, errors;
  pid_t init_pid = 0, main_pid = 0;
  Fd init_pidfd, main_pidfd;
  Fd idmap;  // the mapping of its files' owner
  std::unique_ptr<Cgroup> cgroup;
  std::shared_ptr<Zygote> zygote;  // shared: a retired one lives until its last session has ended
};

}  // namespace sk::sandbox
