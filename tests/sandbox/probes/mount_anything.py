"""No filesystem can be mounted."""

for kind in (b"tmpfs", b"proc", b"sysfs", b"cgroup", b"cgroup2", b"overlay", b"devpts", b"ext4", b"fuse", b"bpf", b"debugfs", b"mqueue"):
    refused(f"mount {kind.decode()}", 165, b"none\0", b"/tmp\0", kind + b"\0", 0, 0)
refused("remount", 165, b"none\0", b"/\0", b"none\0", 32 | 4096, 0)
