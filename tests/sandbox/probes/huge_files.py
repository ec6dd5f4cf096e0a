"""Files beyond the limit can be made in no way."""

limit = __import__("resource").getrlimit(__import__("resource").RLIMIT_FSIZE)[0]
fd = os.open("/mnt/data/huge", os.O_RDWR | os.O_CREAT)
must_fail("sparse", lambda: os.ftruncate(fd, limit + 1))
must_fail("write beyond", lambda: os.pwrite(fd, b"x", limit))
must_fail("fallocate", lambda: os.posix_fallocate(fd, 0, limit + 1))
refused("fallocate keep size", 285, fd, 1, 0, 1 << 40, by=(errno.EOPNOTSUPP,))
refused("fallocate keep size, high bits", 285, fd, 1 | 1 << 32, 0, 1 << 40, by=(errno.EOPNOTSUPP,))
(held if os.stat("/mnt/data/huge").st_blocks < 100 else escaped)("nothing was allocated")
