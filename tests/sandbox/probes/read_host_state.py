"""Logs, databases and spool folders of the host are not there."""

for path in ("/var/lib/dpkg", "/var/log", "/var/spool", "/var/mail", "/var/backups", "/run/systemd", "/run/secrets", "/etc/ssh",
             "/etc/ssl/private", "/etc/pip.conf", "/etc/environment", "/etc/sudoers", "/etc/cron.d"):
    must_fail(path, lambda: os.listdir(path) if os.path.isdir(path) else open(path).read())
