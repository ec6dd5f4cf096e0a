"""No socket of the host can be reached."""

for path in ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private", "/run/containerd/containerd.sock",
             "/tmp/.X11-unix/X0", "/dev/log", "/run/postgresql/.s.PGSQL.5432"):
    must_fail(path, lambda: socket.socket(socket.AF_UNIX).connect(path))
names = [line.split()[-1] for line in open("/proc/self/net/unix").read().splitlines()[1:] if "@" in line or "/" in line]
(held if names == [] else escaped)(f"sockets in sight: {names}")
