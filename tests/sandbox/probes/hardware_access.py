"""Ports, segments and memory policy of the machine are out of reach."""

buffer = ctypes.create_string_buffer(64)
refused("iopl", 172, 3)
refused("ioperm", 173, 0, 1024, 1)
refused("modify_ldt", 154, 1, buffer, 16)
refused("migrate_pages", 256, 1, 64, buffer, buffer)
refused("move_pages", 279, 1, 0, 0, 0, 0, 0)
refused("memfd_secret", 447, 0)
refused("vmsplice", 278, 1, 0, 0, 0)
