"""Going up from /mnt/data ends at the root of the session, also by descriptors."""

fd = os.open("/mnt/data", os.O_RDONLY | os.O_DIRECTORY)
for _ in range(64):
    fd = os.open("..", os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd)
names = set(os.listdir(fd))
(held if names == set(os.listdir("/")) and "root" not in names else escaped)(f"top: {sorted(names)}")
os.fchdir(fd)
must_fail("canary from there", lambda: open(os.environ["CANARY_PATH"].lstrip("/")).read())
os.chdir("/mnt/data")
