"""ptrace and its cousins are refused."""

refused("PTRACE_TRACEME", 101, 0, 0, 0, 0)
refused("PTRACE_ATTACH init", 101, 16, 1, 0, 0)
refused("PTRACE_SEIZE init", 101, 0x4206, 1, 0, 0)
buffer = ctypes.create_string_buffer(16)
iovec = ctypes.create_string_buffer(struct.pack("=QQ", ctypes.addressof(buffer), 16))
refused("process_vm_readv", 310, 1, iovec, 1, iovec, 1, 0)
refused("process_vm_writev", 311, 1, iovec, 1, iovec, 1, 0)
refused("kcmp", 312, 1, os.getpid(), 0, 0, 0)
refused("pidfd_getfd", 438, os.pidfd_open(os.getpid()), 0, 0)
