"""The first process shows neither its root nor its folder."""

for name in ("root", "cwd", "exe", "fd", "ns/mnt", "environ", "maps", "mem", "cmdline", "status"):
    path = f"/proc/1/{name}"
    must_fail(path, lambda: os.readlink(path) if name in ("root", "cwd", "exe", "ns/mnt") else
              os.listdir(path) if name == "fd" else open(path, "rb").read(1))
