"""The server's secrets are nowhere in the memory that a session inherited."""

import re
secret = bytes.fromhex(os.environ["CANARY_SECRET_HEX"])[::-1]
found = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    regions = [tuple(int(x, 16) for x in line.split()[0].split("-")) for line in maps if " rw" in line and "vvar" not in line]
    needle = secret
    for start, end in regions:
        try:
            memory.seek(start)
            data = memory.read(end - start)
        except (OSError, ValueError):
            continue
        count = data.count(needle)
        del data
        found += count
# The probe itself holds the needle a few times.
(held if found <= 4 else escaped)(f"found {found} times")
