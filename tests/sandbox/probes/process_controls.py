"""prctl cannot weaken the process."""

for name, option in {"PR_SET_MM": 35, "PR_SET_SECCOMP": 22, "PR_SET_SECUREBITS": 28, "PR_CAPBSET_DROP": 24, "PR_SET_PTRACER": 0x59616d61,
                     "PR_SET_SPECULATION_CTRL": 53, "PR_SCHED_CORE": 62, "PR_SET_TSC": 26, "PR_SET_IO_FLUSHER": 57}.items():
    refused(name, 157, option, 1, 0, 0, 0, by=(errno.ENOSYS, errno.EPERM, errno.EINVAL))
