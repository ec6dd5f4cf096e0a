"""Neither real-time scheduling nor a higher priority."""

must_fail("SCHED_FIFO", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
must_fail("SCHED_RR", lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1)))
must_fail("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -5))
must_fail("lock all memory", lambda: (_ for _ in ()).throw(OSError(syscall(151, 3) and 1, "x")) if syscall(151, 3) else "locked")
