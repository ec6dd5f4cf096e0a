"""A file system of a test's own, small enough to be filled."""

import pathlib
import subprocess
import tempfile


class SmallDisk:
    """A tmpfs that can be enlarged while it is in use."""

    def __init__(self, size_mib):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="sandkeep-disk-"))
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_mib}m", "sandkeep-test", str(self.path)], check=True)

    def resize(self, size_mib):
        subprocess.run(["mount", "-o", f"remount,size={size_mib}m", str(self.path)], check=True)

    def remove(self):
        subprocess.run(["umount", "--lazy", str(self.path)], check=False)
        self.path.rmdir()


class QuotaDisk:
    """An ext4 with project quotas on a loop device. OSError, with the reason, where this kernel or user cannot have one."""

    def __init__(self, size_mib):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="sandkeep-quota-"))
        self.image = self.path.with_suffix(".img")
        try:
            with open(self.image, "wb") as image:
                image.truncate(size_mib << 20)
            for command in (["mkfs.ext4", "-q", "-O", "project,quota", "-E", "quotatype=prjquota", self.image], ["mount", "-o", "loop,prjquota", self.image, self.path]):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    raise OSError(f"{command[0]}: {done.stderr.strip()[:200]}")
        except OSError:
            self._forget()
            raise

    def _forget(self):
        self.path.rmdir()
        self.image.unlink(missing_ok=True)

    def remove(self):
        subprocess.run(["umount", "--lazy", str(self.path)], check=False)
        self._forget()
