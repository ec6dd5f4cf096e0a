"""Programs that other sessions run cannot be changed."""

for path in ("/usr/bin/bash", "/usr/bin/python3", "/usr/lib/x86_64-linux-gnu/libc.so.6", "/etc/ld.so.cache", "/etc/passwd"):
    must_fail(f"open {path}", lambda: os.open(path, os.O_WRONLY))
    must_fail(f"chmod {path}", lambda: os.chmod(path, 0o777))
    must_fail(f"truncate {path}", lambda: os.truncate(path, 0))
    must_fail(f"rename {path}", lambda: os.rename(path, path + ".old"))
    must_fail(f"utime {path}", lambda: os.utime(path, (0, 0)))
must_fail("preload", lambda: open("/etc/ld.so.preload", "w"))
