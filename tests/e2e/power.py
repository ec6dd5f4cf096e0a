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

from sandkeep_server import Server

_EXT4_IOC_SHUTDOWN = 0x8004587D
# The journal is flushed, data that waits in memory is not: files have their names and sizes of before, and lose what was written last.
KEEP_LOG = 1
# Neither is: everything that no fsync waited for is gone.
DROP_LOG = 2
_BUSY_S = 60
_SANDBOX_S = 5

_ENVIRONMENT = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
_libc = ctypes.CDLL(None, use_errno=True)
_SYNC_FILE_RANGE_WRITE_AND_WAIT = 7


def _run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, env=_ENVIRONMENT).stdout


def need_power():
    """Skips the test where this user cannot make such a disk."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system whose power can be cut")
    for tool in ("mkfs.ext4", "e2fsck", "losetup"):
        if shutil.which(tool, path=_ENVIRONMENT["PATH"]) is None:
            pytest.skip(f"{tool} is missing")
    if not os.path.exists("/dev/loop-control"):
        pytest.skip("there are no loop devices here")


class Disk:
    """`path` is where it is mounted. `commit_s` is how often the kernel commits the journal by itself."""

    def __init__(self, size_mib=8192, commit_s=60):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sandkeep-power-"))
        self.image = self.folder / "image"
        self.path = self.folder / "disk"
        self.path.mkdir()
        self.device = None
        self.mounted = False
        self.commit_s = commit_s
        with open(self.image, "wb") as image:
            image.truncate(size_mib << 20)
        try:
            # A small journal, so that it wraps around; everything is initialised now, so that no thread of the kernel writes later.
            _run("mkfs.ext4", "-q", "-F", "-N", "200000", "-J", "size=8", "-E", "lazy_itable_init=0,lazy_journal_init=0", self.image)
            self.device = _run("losetup", "--find", "--show", self.image).strip()
            self._mount()
        except BaseException:
            self.remove()
            raise

    def _mount(self):
        _run("mount", "-t", "ext4", "-o", f"commit={self.commit_s}", self.device, self.path)
        self.mounted = True

    def cut(self, how):
        """No byte reaches the device from now on; every later write fails."""
        folder = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, _EXT4_IOC_SHUTDOWN, struct.pack("I", how))
        finally:
            os.close(folder)

    def power_on(self):
        """As after a boot: replays the journal."""
        self._unmount()
        if not self._is_unused():
            self._change_device()
        # The mount replays the journal, too; this also shows that the file system is sound.
        checked = subprocess.run(["e2fsck", "-fy", self.device], capture_output=True, text=True, check=False, env=_ENVIRONMENT)
        assert checked.returncode in (0, 1), checked.stdout + checked.stderr
        self._mount()

    def _change_device(self):
        """Somebody's mount namespace, which was made meanwhile, still has the disk that lost its power. The next boot is on a copy of it."""
        copy = self.image.with_name("image-again")
        _run("cp", "--sparse=always", self.image, copy)
        _run("losetup", "--detach", self.device)  # at its last use
        os.replace(copy, self.image)
        self.device = _run("losetup", "--find", "--show", self.image).strip()

    def _unmount(self):
        deadline = time.monotonic() + _BUSY_S
        while self.mounted:
            done = subprocess.run(["umount", self.path], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                self.mounted = False
                return
            assert time.monotonic() < deadline, done.stderr
            time.sleep(0.02)

    def _is_unused(self):
        """False if somebody uses the disk for longer. A sandbox does until its last process is gone."""
        deadline = time.monotonic() + _SANDBOX_S
        while True:
            try:
                os.close(os.open(self.device, os.O_RDWR | os.O_EXCL))
                return True
            except OSError:
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.02)

    def sync(self):
        """Everything that was written is on the device."""
        folder = os.open(self.path, os.O_RDONLY)
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
            if self.mounted:
                self._unmount()
                self._is_unused()
        finally:
            if self.device:
                subprocess.run(["losetup", "--detach", self.device], check=False)
            shutil.rmtree(self.folder, ignore_errors=True)


class PowerServer(Server):
    """A server whose data is on a disk of its own."""

    def __init__(self, *flags, commit_s=60, environment=None):
        need_power()
        self.disk = Disk(commit_s=commit_s)
        super().__init__(*flags, environment=environment)
        self.data = self.disk.path / "data"
        self.boot_id = self.folder / "boot_id"
        self.flags += ["--boot-id-file", str(self.boot_id)]
        self._new_boot()

    def _new_boot(self):
        self.boot_id.write_text(f"{uuid.uuid4()}\n")

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
