"""No home folder of the host can be seen."""

for path in ("/root", "/root/.ssh", "/home/ubuntu", "/opt", "/srv", "/boot", "/lost+found", "/media"):
    must_fail(path, lambda: os.listdir(path))
(held if os.listdir("/home") == ["user"] else escaped)(f"/home has {os.listdir('/home')}")
