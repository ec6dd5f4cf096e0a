"""clone makes no namespaces, and clone3 is not there to ask."""

for name, flag in {"mount": 0x20000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000,
                   "cgroup": 0x2000000}.items():
    refused(f"clone {name}", 56, flag | 17, 0, 0, 0, 0)
    refused(f"clone {name} with high bits", 56, flag | 17 | 1 << 40, 0, 0, 0, 0)
refused("clone3", 435, ctypes.create_string_buffer(88), 88, by=(errno.ENOSYS,))
