"""No namespace can be unshared."""

for name, flag in {"mount": 0x20000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000,
                   "cgroup": 0x2000000, "time": 0x80}.items():
    refused(f"unshare {name}", 272, flag)
