"""chroot and pivot_root are refused."""

os.makedirs("/tmp/jail", exist_ok=True)
refused("chroot", 161, b"/tmp/jail\0")
refused("pivot_root", 155, b"/tmp\0", b"/tmp/jail\0")
