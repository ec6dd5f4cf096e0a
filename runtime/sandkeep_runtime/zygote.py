"""The zygote: imports the usual packages and forks the main process of each session.

It runs in the read-only root of its runtime, with one thread, as root of the machine or of a user namespace. It never runs user code.
Packets on its descriptors mirror src/sandbox/inside/wire.h.
"""

import array
import ctypes
import gc
import importlib
import os
import select
import signal
import socket
import struct
import sys

SOCKET, REPORTS, LIBRARY, PROGRAM, FILTER = 3, 4, 5, 6, 7

FORK_REQUEST = struct.Struct("=I")  # warm
FORK_REPLY = struct.Struct("=iii")  # step, errno, pid
EXIT_REPORT = struct.Struct("=ii")  # pid, status
FORK_FDS = 5  # pidfd of init, gate, channel, output, errors
STEP_ZYGOTE_FORK = 37

# Modules that most code imports. Each one costs start-up time once, and a little per fork, because page tables are copied.
PRELOAD = (
    "asyncio", "base64", "collections", "csv", "ctypes", "datetime", "decimal", "fractions", "functools", "glob", "hashlib", "io",
    "itertools", "json", "logging", "math", "multiprocessing", "pathlib", "pickle", "random", "re", "shutil", "sqlite3", "ssl",
    "statistics", "string", "subprocess", "tempfile", "textwrap", "threading", "time", "traceback", "typing", "urllib.request", "uuid",
    "warnings", "zipfile", "zoneinfo", "numpy", "pandas", "matplotlib", "matplotlib.pyplot", "PIL.Image",
)


def load_library():
    library = ctypes.PyDLL(f"/proc/self/fd/{LIBRARY}", use_errno=True)
    library.sk_session_enter.argtypes = [ctypes.c_int] * 5
    if library.sk_load_filter(FILTER) != 0:
        raise OSError("cannot read the system call filter")
    for fd in (LIBRARY, FILTER):
        os.close(fd)
    return library


def preload():
    for name in PRELOAD:
        try:
            importlib.import_module(name)
        except ImportError as error:
            print(f"sandkeep: the runtime has no {name}: {error}", file=sys.stderr)


def check_alone():
    """Checks that there is only one thread. Another would not survive the fork, and its locks would stay locked in every session."""
    tasks = os.listdir("/proc/self/task")
    if len(tasks) != 1:
        raise RuntimeError(f"the zygote has {len(tasks)} threads")


class Zygote:
    def __init__(self, library, kernel):
        self.library = library
        self.kernel = kernel
        self.socket = socket.socket(fileno=SOCKET)
        self.reports = socket.socket(fileno=REPORTS)

    def serve(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.wake_fds = (wake_read, wake_write)
        self.reply(FORK_REPLY.pack(0, 0, 0))
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        poll.register(wake_read, select.POLLIN)
        while True:
            for fd, _ in poll.poll():
                if fd == wake_read:
                    os.read(wake_read, 4096)
                else:
                    self.serve_request()
            self.reap()

    def serve_request(self):
        packet, fds = self.receive()
        if not packet:
            os._exit(0)  # the server is gone, or no longer needs this zygote
        (warm,) = FORK_REQUEST.unpack(packet)
        try:
            pid = self.fork_session(warm, fds)
            pidfd = os.pidfd_open(pid)
        except OSError as error:
            self.reply(FORK_REPLY.pack(STEP_ZYGOTE_FORK, error.errno, 0))
        else:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [pidfd]))]
            self.reply(FORK_REPLY.pack(0, 0, pid), rights)
            os.close(pidfd)
        for fd in fds:
            os.close(fd)

    def reply(self, packet, rights=()):
        try:
            self.socket.sendmsg([packet], rights)
        except (BrokenPipeError, ConnectionResetError):
            os._exit(0)  # the server exited before this zygote was ready, or during a request

    def receive(self):
        packet, fds, _, _ = socket.recv_fds(self.socket, FORK_REQUEST.size, FORK_FDS)
        return packet, fds

    def fork_session(self, warm, fds):
        # Later children start in this pid namespace. The next request sets another, and the zygote forks nothing else.
        if self.library.sk_children_go_to(fds[0]) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        pid = os.fork()
        if pid == 0:
            self.become_session(warm, fds)
        return pid

    def become_session(self, warm, fds):
        try:
            # These descriptor numbers are reused soon, so no object of the zygote may close them later.
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self.socket.detach()
            self.reports.detach()
            self.kernel.prepare(warm)
            channel = self.library.sk_session_enter(*fds)
            self.kernel.run(channel)
        finally:
            os._exit(1)

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            try:
                self.reports.send(EXIT_REPORT.pack(pid, status))
            except OSError:
                return


def main():
    os.makedirs("/tmp/.home", exist_ok=True)
    os.makedirs("/tmp/.shm", exist_ok=True)
    library = load_library()
    from sandkeep_runtime import fonts

    fonts.prepare_cache()
    preload()
    from sandkeep_runtime.kernel import Kernel

    kernel = Kernel()
    sys.path[:] = [""] + [entry for entry in sys.path if not entry.startswith("/proc/self/fd")]
    os.close(PROGRAM)
    sys.argv[:] = [""]
    check_alone()
    gc.collect()
    gc.freeze()
    Zygote(library, kernel).serve()
