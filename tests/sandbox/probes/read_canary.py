"""A file of the host whose path is known cannot be read, written, renamed or removed."""

path = os.environ["CANARY_PATH"]
must_fail("read", lambda: open(path).read())
must_fail("write", lambda: open(path, "w"))
must_fail("append", lambda: open(path, "a"))
must_fail("remove", lambda: os.remove(path))
must_fail("rename", lambda: os.rename(path, "/mnt/data/taken"))
must_fail("link", lambda: os.link(path, "/mnt/data/linked"))
