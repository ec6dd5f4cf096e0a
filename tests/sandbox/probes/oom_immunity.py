"""A process cannot make itself immune to the memory killer."""

must_fail("oom_score_adj", lambda: write("/proc/self/oom_score_adj", "-1000"))
must_fail("oom_adj", lambda: write("/proc/self/oom_adj", "-17"))
