"""User and group ids cannot be changed."""

for name in ("setuid", "setgid", "seteuid", "setegid"):
    must_fail(name, lambda: getattr(os, name)(0))
must_fail("setresuid", lambda: os.setresuid(0, 0, 0))
must_fail("setgroups", lambda: os.setgroups([0]))
syscall(122, 0)  # setfsuid answers with the old id
(held if syscall(122, -1) != 0 else escaped)("setfsuid")
(held if os.getresuid() == (1000, 1000, 1000) else escaped)(f"ids {os.getresuid()}")
