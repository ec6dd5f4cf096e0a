"""No socket of any internet family can be made."""

for family in (socket.AF_INET, socket.AF_INET6):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, 6, 10):
        must_fail(f"family {family} type {kind}", lambda: socket.socket(family, kind))
