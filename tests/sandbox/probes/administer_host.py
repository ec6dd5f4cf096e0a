"""Swap, accounting, quota, hostname and the log of the kernel are out of reach."""

buffer = ctypes.create_string_buffer(4096)
refused("swapon", 167, b"/mnt/data\0", 0)
refused("swapoff", 168, b"/mnt/data\0")
refused("acct", 163, b"/mnt/data/x\0")
refused("quotactl", 179, 0x800002, b"/dev/vda\0", 0, buffer)
refused("quotactl_fd", 443, 0, 0, 0, buffer)
refused("sethostname", 170, b"evil", 4)
refused("setdomainname", 171, b"evil", 4)
refused("syslog", 103, 3, buffer, 4096)
refused("vhangup", 153)
refused("ioprio realtime", 251, 1, 0, 1 << 13)
