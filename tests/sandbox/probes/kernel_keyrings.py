"""Keyrings, which no namespace separates, are refused."""

refused("add_key", 248, b"user\0", b"name\0", b"x\0", 1, -3)
refused("request_key", 249, b"user\0", b"name\0", b"x\0", -3)
for operation in range(0, 32):
    refused(f"keyctl {operation}", 250, operation, -3, 0, 0, 0)
