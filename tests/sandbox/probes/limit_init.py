"""Limits and priorities of the first process cannot be changed."""

import resource
must_fail("prlimit CPU", lambda: resource.prlimit(1, resource.RLIMIT_CPU, (0, 0)))
must_fail("prlimit NOFILE", lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0)))
buffer = ctypes.create_string_buffer(16)
refused("prlimit64", 302, 1, 0, buffer, 0)
must_fail("name", lambda: write("/proc/1/task/1/comm", "x"))
