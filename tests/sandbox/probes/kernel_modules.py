"""No module, no kexec, no reboot."""

buffer = ctypes.create_string_buffer(4096)
refused("init_module", 175, buffer, 4096, b"\0")
refused("finit_module", 313, 0, b"\0", 0)
refused("delete_module", 176, b"ext4\0", 0)
refused("kexec_load", 246, 0, 0, buffer, 0)
refused("kexec_file_load", 320, 0, 0, 0, b"\0", 0)
refused("reboot", 169, 0xfee1dead, 672274793, 0x1234567, 0)
