"""No other namespace can be joined."""

for name in ("mnt", "net", "pid", "user", "uts", "ipc", "cgroup"):
    must_fail(f"/proc/1/ns/{name}", lambda: os.open(f"/proc/1/ns/{name}", os.O_RDONLY))
    refused(f"setns own {name}", 308, os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0)
refused("setns by pidfd", 308, os.pidfd_open(os.getpid()), 0x20000)
