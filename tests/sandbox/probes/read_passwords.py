"""The host's password hashes are not there."""

for path in ("/etc/shadow", "/etc/gshadow", "/etc/passwd-", "/mnt/data/../../etc/shadow", "/usr/../etc/shadow"):
    must_fail(path, lambda: open(path).read())
names = {line.split(":")[0] for line in open("/etc/passwd")}
(held if names == {"root", "user", "nobody"} else escaped)(f"accounts: {names}")
