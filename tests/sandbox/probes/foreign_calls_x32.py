"""Calls of the x32 ABI are unknown."""

for number in (0, 1, 39, 41, 57, 101, 165, 512, 520, 547):
    refused(f"x32 {number}", 0x40000000 | number, 0, 0, 0, by=(errno.ENOSYS,))
