"""Nothing outside /mnt/data and /tmp can be written."""

for folder in ("/", "/usr", "/usr/bin", "/usr/lib/python3", "/usr/local/lib", "/etc", "/etc/alternatives", "/var", "/var/cache/sandkeep",
               "/run", "/sys", "/proc", "/dev", "/home", "/mnt"):
    must_fail(folder, lambda: open(f"{folder}/probe", "w"))
    must_fail(f"mkdir {folder}", lambda: os.mkdir(f"{folder}/probe-folder"))
