"""splice into a pipe and writing to it does not change a file's page cache (Dirty Pipe, CVE-2022-0847)."""

before = open("/etc/passwd", "rb").read()
read_end, write_end = os.pipe()
os.write(write_end, b"x" * 65536)
os.read(read_end, 65536)
fd = os.open("/etc/passwd", os.O_RDONLY)
offset = 1
os.splice(fd, write_end, 1, offset_src=offset)
os.write(write_end, b"EVIL")
(held if open("/etc/passwd", "rb").read() == before else escaped)("the page cache is unchanged")
