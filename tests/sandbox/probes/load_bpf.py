"""No BPF, no perf, no userfaultfd."""

buffer = ctypes.create_string_buffer(128)
for command in range(0, 37):
    refused(f"bpf {command}", 321, command, buffer, 128)
refused("perf_event_open", 298, buffer, 0, -1, -1, 0)
refused("userfaultfd", 323, 0)
refused("userfaultfd user mode", 323, 1)
