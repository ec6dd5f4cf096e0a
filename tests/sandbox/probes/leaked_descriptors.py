"""Only the known descriptors are open, and none of them leads out; in a program that code starts, not even the channel is."""

import stat

CHILD = r"""
import os
for name in sorted(os.listdir("/proc/self/fd"), key=int):
    try:
        print(name, os.readlink("/proc/self/fd/" + name))
    except OSError:
        pass
"""


def look(where, name, target, mode, known):
    harmless = target.startswith(("/usr/share/", "/proc/"))
    (held if (name in known and target.startswith(known[name])) or harmless else escaped)(f"{where}: {name} -> {target}")
    if mode is not None and stat.S_ISDIR(mode) and not harmless:
        escaped(f"{where}: {name} is a folder: {target}")


def own_descriptors(where, known):
    for name in sorted(os.listdir("/proc/self/fd"), key=int):
        try:
            target, mode = os.readlink(f"/proc/self/fd/{name}"), os.fstat(int(name)).st_mode
        except OSError:
            continue  # of the listing itself
        look(where, name, target, mode, known)


KNOWN = {"0": "/dev/null", "1": "pipe:", "2": "pipe:", "3": "socket:", "200": "pipe:", "201": "pipe:"}
own_descriptors("here", KNOWN)
# A fork has what its parent has; what it starts has only what is not closed on exec, whoever asked for nothing to be closed.
sys.stdout.flush()
child = os.fork()
if child == 0:
    own_descriptors("in a fork", KNOWN)
    os._exit(0)
os.waitpid(child, 0)
STARTED = {"0": "/dev/null", "1": "pipe:", "2": "pipe:"}
for close_fds in (True, False):
    listed = subprocess.run([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, close_fds=close_fds, text=True, check=True).stdout
    for line in listed.splitlines():
        number, _, where_to = line.partition(" ")
        look(f"in a program (close_fds={close_fds})", number, where_to, None, STARTED)
