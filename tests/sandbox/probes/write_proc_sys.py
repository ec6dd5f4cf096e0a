"""No kernel setting can be written."""

for name in ("kernel/core_pattern", "kernel/modprobe", "kernel/hotplug", "vm/panic_on_oom", "fs/binfmt_misc/register", "kernel/hostname",
             "net/ipv4/ip_forward", "kernel/sysrq"):
    must_fail(name, lambda: write(f"/proc/sys/{name}", "x"))
    must_fail(name, lambda: write(f"/proc/self/root/proc/sys/{name}", "x"))
