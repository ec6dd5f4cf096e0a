"""Only processes of this session are in /proc, and nothing else."""

entries = set(os.listdir("/proc"))
pids = {e for e in entries if e.isdigit()}
others = entries - pids - {"self", "thread-self"}
(held if not others else escaped)(f"other entries: {sorted(others)}")
(held if pids <= {str(os.getpid())} else escaped)(f"processes: {sorted(pids)}")
for name in ("kcore", "kallsyms", "kmsg", "keys", "modules", "sysrq-trigger", "sys/kernel/core_pattern", "cmdline", "config.gz",
             "timer_list", "sched_debug", "iomem", "ioports", "bus/pci/devices", "scsi/scsi", "driver/nvram", "fs/nfsd", "interrupts"):
    must_fail(name, lambda: open(f"/proc/{name}", "rb").read(1))
