"""Of all families only AF_UNIX can be used, also with high bits set in the argument."""

for family in range(0, 64):
    if family == socket.AF_UNIX:
        continue
    for kind in (1, 2, 3, 5):
        refused(f"family {family} type {kind}", 41, family, kind, 0)
        refused(f"pair {family} type {kind}", 53, family, kind, 0, ctypes.create_string_buffer(8))
refused("AF_INET behind high bits", 41, socket.AF_INET | 1 << 32, 1, 0)
