"""No process outside the session can be signalled or even seen."""

reached = []
for pid in range(1, 40000):
    if pid in (1, os.getpid()):
        continue
    try:
        os.kill(pid, 0)
        reached.append(pid)
    except ProcessLookupError:
        pass
    except PermissionError:
        reached.append(pid)
(held if not reached else escaped)(f"reached {reached[:20]}")
must_fail("parent", lambda: os.kill(int(os.environ["CANARY_PID"]), 9))
(held if os.getppid() == 0 else escaped)(f"parent {os.getppid()}")
