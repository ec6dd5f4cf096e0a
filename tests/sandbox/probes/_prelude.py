# Put in front of every probe. A probe tries something that must not work: it prints HELD when it was refused, ESCAPED when it was not.
import ctypes, errno, os, socket, struct, subprocess, sys

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def held(what):
    print("HELD", what, flush=True)


def escaped(what):
    print("ESCAPED", what, flush=True)


def syscall(number, *arguments):
    """The result, or minus errno."""
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *converted)
    return -ctypes.get_errno() if result == -1 else result


def refused(what, number, *arguments, by=(errno.EPERM, errno.ENOSYS, errno.EACCES)):
    """The system call must fail in one of these ways."""
    result = syscall(number, *arguments)
    if result < 0 and -result in by:
        held(f"{what}: {errno.errorcode[-result]}")
    elif result < 0:
        escaped(f"{what}: got as far as {errno.errorcode[-result]}")
    else:
        escaped(f"{what}: {result}")


def write(path, text):
    """At once: a buffered write fails when nobody looks any more."""
    fd = os.open(path, os.O_WRONLY)
    try:
        return os.write(fd, text.encode())
    finally:
        os.close(fd)


def must_fail(what, action):
    """The Python call must raise OSError."""
    try:
        result = action()
    except OSError as error:
        held(f"{what}: {errno.errorcode.get(error.errno, error)}")
    else:
        escaped(f"{what}: {result!r}"[:500])
