"""Setuid programs run without their owner's rights."""

import glob, stat
found = [p for p in glob.glob("/usr/bin/*") if os.stat(p).st_mode & stat.S_ISUID]
print("setuid programs:", found)
out = subprocess.run("su -c id; mount -t tmpfs x /tmp; passwd -d root; chsh -s /bin/sh root; newgrp root; sudo id", shell=True,
                     stdin=subprocess.DEVNULL, capture_output=True, text=True)
(held if "uid=0" not in out.stdout else escaped)(f"su: {out.stdout!r}")
import shutil
shutil.copy("/usr/bin/id", "/mnt/data/id"); os.chmod("/mnt/data/id", 0o6777)
out = subprocess.run(["/mnt/data/id", "-u"], capture_output=True, text=True).stdout
(held if out.strip() == "1000" else escaped)(f"own setuid copy: {out!r}")
