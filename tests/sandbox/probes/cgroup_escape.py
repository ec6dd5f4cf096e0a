"""Control groups can be neither seen nor left (release_agent, cgroup.procs)."""

must_fail("cgroup files", lambda: os.listdir("/sys/fs/cgroup"))
paths = {line.split(":", 2)[2].strip() for line in open("/proc/self/cgroup")}
(held if not any("sandkeep" in path for path in paths) else escaped)(f"paths {paths}")
refused("mount cgroup", 165, b"none\0", b"/tmp\0", b"cgroup\0", 0, b"memory\0")
