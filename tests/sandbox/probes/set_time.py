"""The clocks cannot be set."""

buffer = ctypes.create_string_buffer(208)
refused("settimeofday", 164, buffer, 0)
refused("clock_settime", 227, 0, buffer)
refused("adjtimex", 159, buffer)
refused("clock_adjtime", 305, 0, buffer)
