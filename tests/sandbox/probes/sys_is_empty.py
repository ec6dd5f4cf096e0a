"""/sys has nothing in it."""

(held if os.listdir("/sys") == [] else escaped)(f"/sys: {os.listdir('/sys')}")
for path in ("/sys/kernel/uevent_helper", "/sys/fs/cgroup/cgroup.procs", "/sys/kernel/security", "/sys/firmware/efi/vars", "/sys/power/state"):
    must_fail(path, lambda: open(path).read())
