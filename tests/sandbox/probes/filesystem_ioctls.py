"""Project ids, immutable files, encryption and verity cannot be set."""

fd = os.open("/mnt/data/file", os.O_RDWR | os.O_CREAT)
buffer = ctypes.create_string_buffer(256)
for name, request in {"FSSETXATTR": 0x401c5820, "SETFLAGS": 0x40086602, "ENCRYPT": 0x800c6613, "VERITY": 0x40806685, "FITRIM": 0xc0185879,
                      "FIFREEZE": 0xc0045877, "EXT4_MOVE_EXT": 0xc028660f, "EXT4_RESIZE": 0x40086610, "SWAP_BOOT": 0x6611}.items():
    refused(name, 16, fd, request, buffer, by=(errno.ENOSYS, errno.ENOTTY, errno.EPERM))
