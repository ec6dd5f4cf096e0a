"""Calls of the i386 ABI (int 0x80), by which socketcall would pass the filter, are unknown."""

import mmap, platform
if platform.machine() == "x86_64":
    # mov eax, edi; mov ebx, esi; mov ecx, edx; int 0x80; ret
    code = bytes.fromhex("5389f889f389d1cd805bc3")
    page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    for name, number, first in (("getpid", 20, 0), ("socketcall", 102, 1), ("mount", 21, 0), ("ptrace", 26, 0), ("unshare", 310, 0x10000000)):
        result = call(number, first, 0)
        (held if result == -errno.ENOSYS else escaped)(f"i386 {name}: {result}")
else:
    held("not an x86 machine")
