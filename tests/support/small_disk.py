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
