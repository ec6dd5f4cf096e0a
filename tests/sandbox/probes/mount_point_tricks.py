"""The mount at /mnt/data cannot be moved, removed or covered."""

must_fail("rmdir", lambda: os.rmdir("/mnt/data"))
must_fail("rename", lambda: os.rename("/mnt/data", "/mnt/moved"))
must_fail("symlink beside", lambda: os.symlink("/", "/mnt/other"))
refused("umount2", 166, b"/mnt/data\0", 2)
refused("umount /proc", 166, b"/proc\0", 2)
refused("bind", 165, b"/\0", b"/mnt/data\0", b"none\0", 4096, 0)
