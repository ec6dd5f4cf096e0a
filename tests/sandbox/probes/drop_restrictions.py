"""no_new_privs and the filter cannot be taken back."""

refused("no_new_privs off", 157, 38, 0, 0, 0, 0, by=(errno.EINVAL,))
refused("seccomp off", 157, 22, 0, 0, 0, 0, by=(errno.ENOSYS, errno.EINVAL, errno.EPERM))
refused("seccomp strict by call", 317, 0, 0, 0)
refused("seccomp listener", 317, 1, 8, ctypes.create_string_buffer(16))
status = {l.split(":")[0]: l.split(":")[1].strip() for l in open("/proc/self/status")}
(held if status["NoNewPrivs"] == "1" and status["Seccomp"] == "2" else escaped)(f"{status['NoNewPrivs']} {status['Seccomp']}")
