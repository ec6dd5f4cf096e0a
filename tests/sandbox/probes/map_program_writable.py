"""A shared writable mapping of a program is refused; a private one changes nothing."""

import mmap
fd = os.open("/usr/bin/true", os.O_RDONLY)
must_fail("shared and writable", lambda: mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE))
before = open("/usr/bin/true", "rb").read()
private = mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
private[:4] = b"EVIL"
# Writing to read-only memory through /proc/self/mem only ever makes a private copy (Dirty COW, CVE-2016-5195).
shared = mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ)
address = ctypes.addressof(ctypes.c_char.from_buffer_copy(b"x"))
(held if open("/usr/bin/true", "rb").read() == before else escaped)("the program is unchanged")
