"""A disk whose power can be cut: an ext4 image on a loop device, in a folder of its own.

`Disk.cut` ends the file system as a power cut does: what was not on the device is gone. A killed process keeps the page cache, so that a
missing fsync goes unnoticed; here it does not. `PowerServer` is a server on such a disk, which starts after each cut as if the machine had booted anew.
"""

import ctypes
import fcntl
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time
import uuid

import pytest

from durability import LONG
from sandkeep_server import Server

_EXT4_IOC_SHUTDOWN = 0x8004587D
# The journal is flushed, data that waits in memory is not: files have their names and sizes of before, and lose what was written last.
KEEP_LOG = 1
# Neither is: everything that no fsync waited for is gone.
DROP_LOG = 2
_BUSY_S = 60

_ENVIRONMENT = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
_libc = ctypes.CDLL(None, use_errno=True)
_SYNC_FILE_RANGE_WRITE_AND_WAIT = 7


def _run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, env=_ENVIRONMENT).stdout


def need_power():
    """Skips the test where this user cannot make such a disk."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system whose power can be cut")
    for tool in ("mkfs.ext4", "e2fsck", "losetup", "unshare", "nsenter"):
        if shutil.which(tool, path=_ENVIRONMENT["PATH"]) is None:
            pytest.skip(f"{tool} is missing")
    if not os.path.exists("/dev/loop-control"):
        pytest.skip("there are no loop devices here")


class Disk:
    """Mounted at `path`, in a mount namespace that only the server is in: sandboxes of other servers would hold on to it. Tests reach it at `seen`.

    `commit_s` is how often the kernel commits the journal by itself.
    """

    def __init__(self, size_mib=8192 if LONG else 1024, commit_s=60):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sandkeep-power-"))
        self.image = self.folder / "image"
        self.path = self.folder / "disk"
        self.path.mkdir()
        self.mounted = False
        self.commit_s = commit_s
        self.device = None
        # Ends with this process, and the mount with it.
        self.namespace = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-c", "echo ready; exec cat"],
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            assert self.namespace.stdout.readline() == b"ready\n"
            self.seen = pathlib.Path(f"/proc/{self.namespace.pid}/root") / str(self.path).lstrip("/")
            with open(self.image, "wb") as image:
                image.truncate(size_mib << 20)
            # Everything is initialised now, so that no thread of the kernel writes later.
            _run("mkfs.ext4", "-q", "-F", "-N", "20000", "-J", "size=16", "-E", "lazy_itable_init=0,lazy_journal_init=0", self.image)
            self._mount()
        except BaseException:
            self.remove()
            raise

    def inside(self, *command):
        """The command, run where the disk is mounted."""
        return ["nsenter", f"--target={self.namespace.pid}", "--mount", "--", *(str(word) for word in command)]

    def _mount(self):
        self.device = _run("losetup", "--find", "--show", self.image).strip()
        try:
            # The mount would replay the journal, too, and mend nothing.
            checked = subprocess.run(["e2fsck", "-y", self.device], capture_output=True, text=True, check=False, env=_ENVIRONMENT)
            assert checked.returncode in (0, 1), checked.stdout + checked.stderr
            _run(*self.inside("mount", "-t", "ext4", "-o", f"commit={self.commit_s}", self.device, self.path))
            self.mounted = True
        finally:
            _run("losetup", "--detach", self.device)  # once it is not used any more

    def cut(self, how):
        """No byte reaches the device from now on; every later write fails."""
        folder = os.open(self.seen, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, _EXT4_IOC_SHUTDOWN, struct.pack("I", how))
        finally:
            os.close(folder)

    def power_on(self):
        """As after a boot: replays the journal."""
        self._unmount()
        self._mount()

    def _unmount(self):
        """Waits until nobody uses the disk; sandboxes do until their last process is gone."""
        deadline = time.monotonic() + _BUSY_S
        while self.mounted:
            done = subprocess.run(self.inside("umount", self.path), capture_output=True, text=True, check=False)
            assert done.returncode == 0 or time.monotonic() < deadline, done.stderr
            self.mounted = done.returncode != 0
        while _run("losetup", "--associated", self.image):
            assert time.monotonic() < deadline, f"somebody still uses {self.path}"
            time.sleep(0.02)

    def sync(self):
        """Everything that was written is on the device."""
        folder = os.open(self.seen, os.O_RDONLY)
        try:
            if _libc.syncfs(folder) != 0:
                raise OSError(ctypes.get_errno(), "syncfs")
        finally:
            os.close(folder)

    def write_back_some(self, rng, below, share=0.3):
        """Writes the data of some files to the device, as the kernel does whenever it likes. Files may go meanwhile."""
        for folder, _, names in os.walk(below):
            for name in names:
                if rng.random() > share:
                    continue
                try:
                    file = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                except OSError:
                    continue
                try:
                    if rng.random() < 0.2:
                        os.fdatasync(file)
                    else:
                        _libc.sync_file_range(file, ctypes.c_int64(0), ctypes.c_int64(0), _SYNC_FILE_RANGE_WRITE_AND_WAIT)
                except OSError:
                    pass
                finally:
                    os.close(file)

    def remove(self):
        try:
            self._unmount()
        finally:
            self.namespace.communicate()
            shutil.rmtree(self.folder, ignore_errors=True)


class PowerServer(Server):
    """A server whose data is on a disk of its own."""

    def __init__(self, *flags, commit_s=60, environment=None):
        need_power()
        self.disk = Disk(commit_s=commit_s)
        super().__init__(*flags, environment=environment)
        self.boot_id = self.folder / "boot_id"
        self.flags += ["--boot-id-file", str(self.boot_id)]
        self._new_boot()
        self.data = self.disk.seen / "data"

    def _new_boot(self):
        self.boot_id.write_text(f"{uuid.uuid4()}\n")

    def command(self):
        self.data = self.disk.path / "data"
        try:
            return self.disk.inside(*super().command())
        finally:
            self.data = self.disk.seen / "data"

    def cut_power(self, how=DROP_LOG, kill_first=True):
        """The power goes, and comes back. The server is gone at that moment, or sees its disk fail."""
        if kill_first and self.process:
            self.process.kill()
        self.disk.cut(how)
        self.kill()
        self.disk.power_on()
        self._new_boot()

    def remove(self):
        super().remove()
        self.disk.remove()
