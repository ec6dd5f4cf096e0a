"""TIOCSTI and TIOCLINUX are unknown, and there is no terminal."""

for request in (0x5412, 0x541C, 0x5423, 0x5412 | 1 << 32, 0x541C | 1 << 32):
    for fd in (0, 1, 2):
        refused(f"ioctl {request:x} on {fd}", 16, fd, request, ctypes.create_string_buffer(b"x"), by=(errno.ENOSYS, errno.ENOTTY, errno.EPERM))
must_fail("controlling terminal", lambda: os.open("/dev/tty", os.O_RDWR))
must_fail("new terminal", lambda: os.openpty())
