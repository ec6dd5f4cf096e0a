"""A link to a host path leads nowhere."""

path = os.environ["CANARY_PATH"]
os.symlink(path, "/mnt/data/link")
must_fail("through a link", lambda: open("/mnt/data/link").read())
os.symlink("/", "/mnt/data/top")
must_fail("through a link to the root", lambda: open("/mnt/data/top" + path).read())
os.symlink("../" * 40 + path, "/mnt/data/up")
must_fail("through a link upwards", lambda: open("/mnt/data/up").read())
