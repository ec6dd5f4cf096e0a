"""A crash leaves no core anywhere."""

before = set(os.listdir("/mnt/data")) | set(os.listdir("/tmp"))
subprocess.run(["/bin/bash", "-c", "ulimit -c unlimited; kill -SEGV $$"], capture_output=True)
after = set(os.listdir("/mnt/data")) | set(os.listdir("/tmp"))
(held if before == after else escaped)(f"new files {after - before}")
