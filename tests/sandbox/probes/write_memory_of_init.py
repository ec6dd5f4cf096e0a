"""The first process's memory cannot be opened for writing."""

must_fail("mem", lambda: open("/proc/1/mem", "r+b"))
must_fail("oom_score_adj", lambda: write("/proc/1/oom_score_adj", "1000"))
must_fail("task mem", lambda: open("/proc/1/task/1/mem", "rb"))
