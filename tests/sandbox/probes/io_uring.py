"""io_uring is not there."""

buffer = ctypes.create_string_buffer(256)
refused("io_uring_setup", 425, 8, buffer)
refused("io_uring_enter", 426, 0, 1, 0, 0, 0, 0)
refused("io_uring_register", 427, 0, 0, buffer, 1)
refused("io_setup", 206, 8, buffer)
