"""Attributes that mean something to the host cannot be set."""

open("/mnt/data/file", "w").close()
for name in ("security.capability", "security.ima", "trusted.overlay.opaque", "system.posix_acl_access"):
    value = struct.pack("=IIIII", 0x02000001, 0xffffffff, 0xffffffff, 0, 0) if name == "security.capability" else b"evil"
    must_fail(name, lambda: os.setxattr("/mnt/data/file", name, value))
