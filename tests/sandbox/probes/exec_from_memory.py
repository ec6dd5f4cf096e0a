"""A program run from memory is as locked in as any other."""

try:
    fd = os.memfd_create("program", 0)
except OSError:
    held("no anonymous files for this user")
else:
    os.write(fd, open("/usr/bin/id", "rb").read())
    out = subprocess.run([f"/proc/self/fd/{fd}", "-u"], pass_fds=[fd], capture_output=True, text=True)
    (held if out.stdout.strip() == "1000" else escaped)(out.stdout + out.stderr)
script = "import ctypes,os; l=ctypes.CDLL(None,use_errno=True); print(l.unshare(0x10000000), l.ptrace(0,0,0,0), os.getuid())"
out = subprocess.run(["/usr/bin/python3", "-c", script], capture_output=True, text=True).stdout.split()
(held if out == ["-1", "-1", "1000"] else escaped)(f"child: {out}")
