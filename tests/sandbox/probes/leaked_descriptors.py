"""Only the known descriptors are open, and none of them leads out."""

import stat
for name in sorted(os.listdir("/proc/self/fd"), key=int):
    try:
        target, mode = os.readlink(f"/proc/self/fd/{name}"), os.fstat(int(name)).st_mode
    except OSError:
        continue  # of the listing itself
    known = {"0": "/dev/null", "1": "pipe:", "2": "pipe:", "3": "socket:", "200": "pipe:", "201": "pipe:"}.get(name)
    harmless = target.startswith(("/usr/share/", "/proc/"))
    (held if (known and target.startswith(known)) or harmless else escaped)(f"{name} -> {target}")
    if stat.S_ISDIR(mode) and not harmless:
        escaped(f"{name} is a folder: {target}")
