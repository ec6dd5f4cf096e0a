"""sync and syncfs do nothing: they would flush everybody's files."""

import time
began = time.monotonic()
for _ in range(1000):
    os.sync()
(held if time.monotonic() - began < 5 else escaped)("sync is free")
