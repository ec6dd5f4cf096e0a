"""A block device cannot be reached through any descriptor that a session can get."""

must_fail("raw disk by number", lambda: os.open("/dev/block/254:0", os.O_RDONLY))
must_fail("disk by id", lambda: os.listdir("/dev/disk"))
# /dev/full and friends take no ioctl that matters
refused("BLKGETSIZE64", 16, os.open("/dev/zero", os.O_RDONLY), 0x80081272, ctypes.create_string_buffer(8), by=(errno.ENOTTY, errno.ENOSYS, errno.EPERM))
