"""Files cannot be opened by handle (shocker)."""

handle = ctypes.create_string_buffer(struct.pack("=IiII", 8, 1, 2, 0) + bytes(64))
refused("open_by_handle_at", 304, os.open("/mnt/data", os.O_RDONLY), handle, 0)
refused("name_to_handle_at", 303, -100, b"/mnt/data\0", handle, ctypes.create_string_buffer(8), 0, by=(errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP))
