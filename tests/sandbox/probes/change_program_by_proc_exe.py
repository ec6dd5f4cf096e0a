"""A running program cannot be overwritten through /proc (CVE-2019-5736)."""

for path in ("/proc/self/exe", "/proc/thread-self/exe"):
    must_fail(path, lambda: os.open(path, os.O_WRONLY))
    must_fail(path, lambda: os.open(path, os.O_RDWR | os.O_TRUNC))
