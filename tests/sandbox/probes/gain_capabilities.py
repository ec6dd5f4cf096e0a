"""There are no capabilities, in no set, and none can be added."""

sets = {line.split()[0]: int(line.split()[1], 16) for line in open("/proc/self/status") if line.startswith("Cap")}
(held if not any(sets.values()) else escaped)(f"sets {sets}")
header = struct.pack("=Ii", 0x20080522, 0)
data = ctypes.create_string_buffer(struct.pack("=IIIIII", *([0xffffffff] * 6)))
refused("capset", 126, ctypes.create_string_buffer(header), data)
refused("ambient raise", 157, 47, 2, 21, 0, 0)
refused("securebits", 157, 28, 0, 0, 0, 0, by=(errno.EPERM, errno.ENOSYS, errno.EINVAL))
refused("keepcaps", 157, 8, 1, 0, 0, 0, by=(errno.EPERM, errno.ENOSYS, errno.EINVAL))
