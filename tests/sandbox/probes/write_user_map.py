"""The map of users is fixed."""

for name in ("uid_map", "gid_map", "projid_map"):
    must_fail(name, lambda: write(f"/proc/self/{name}", "0 0 1"))
must_fail("setgroups", lambda: write("/proc/self/setgroups", "allow"))
