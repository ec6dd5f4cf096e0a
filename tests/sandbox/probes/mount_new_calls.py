"""The newer ways to mount are refused as well."""

refused("fsopen", 430, b"tmpfs\0", 0)
refused("open_tree", 428, -100, b"/\0", 1)
refused("move_mount", 429, -100, b"/tmp\0", -100, b"/mnt/data\0", 0)
refused("fspick", 433, -100, b"/\0", 0)
refused("mount_setattr", 442, -100, b"/\0", 0, ctypes.create_string_buffer(32), 32)
