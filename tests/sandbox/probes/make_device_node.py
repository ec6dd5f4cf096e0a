"""Device nodes can be made nowhere."""

import stat
for folder in ("/mnt/data", "/tmp", "/dev/shm"):
    for kind in (stat.S_IFBLK, stat.S_IFCHR):
        must_fail(f"{folder} {kind:o}", lambda: os.mknod(f"{folder}/node", 0o666 | kind, os.makedev(254, 0)))
refused("mknod system call", 133, b"/mnt/data/disk\0", 0o060666, os.makedev(8, 0))
