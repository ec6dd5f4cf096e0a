"""Only the five harmless devices are there."""

found = set(os.listdir("/dev"))
allowed = {"null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr", "shm"}
(held if found == allowed else escaped)(f"/dev: {sorted(found)}")
for name in ("mem", "kmem", "port", "kmsg", "sda", "vda", "nvme0n1", "kvm", "fuse", "net/tun", "loop0", "loop-control", "ptmx", "tty", "console",
             "dri/card0", "nvidia0", "vhost-net", "userfaultfd", "mapper/control"):
    must_fail(name, lambda: open(f"/dev/{name}", "rb").read(1))
