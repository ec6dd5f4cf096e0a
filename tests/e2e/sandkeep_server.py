"""A real server in a folder of its own, for tests: start, stop, kill, start again."""

import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

PROJECT = pathlib.Path(__file__).resolve().parents[2]
ROOT_KEY = "root-key-of-the-end-to-end-tests"


def binary():
    return pathlib.Path(os.environ.get("SANDKEEP_BINARY", PROJECT / "build" / "release" / "sandkeep"))


def fixtures_binary():
    """The same server with the fixtures of MCP's conformance suite (tests/mcp_fixtures)."""
    return binary().with_name("sandkeep_mcp_fixtures")


class Server:
    """`sandkeep serve` on a port that the kernel chose. Keeps its port and its data over restarts."""

    def __init__(self, *flags, environment=None, scheme="http", folder=None, program=None):
        self.program = program or binary()
        self.flags = list(flags)
        self.environment = environment or {}
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="sandkeep-e2e-"))
        self.data = self.folder / "data"
        self.log_path = self.folder / "server.log"
        self.port = 0
        self.scheme = scheme
        self.process = None
        # What tests saw of it; see rest_client.py.
        self.minted = {}
        self.purged = set()
        self.document = None

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def start(self, timeout_s=30):
        self.launch()
        self.port = int(re.search(r":(\d+)", self._wait_ready(time.monotonic() + timeout_s)).group(1))
        return self

    def command(self):
        return [str(self.program), "serve", "--data", str(self.data), "--listen", f"127.0.0.1:{self.port}", *self.flags]

    def launch(self):
        """Starts without waiting until it is ready."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "SANDKEEP_ROOT_KEY": ROOT_KEY,
                       "SANDKEEP_SANDBOX": "off",  # a start without Python is quick; tests of sessions turn it on
                       **({} if os.geteuid() == 0 else {"SANDKEEP_LIMITS": "approximate"}),  # an ordinary user may have no control groups
                       **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS") or k == "TMPDIR"}, **self.environment}
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command(), env=environment, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL)

    def _wait_ready(self, deadline):
        """The address in the line `ready http://…`. The pipe is read on, so that the server never waits for us."""
        text = b""
        fd = self.process.stdout.fileno()
        while True:
            ready, _, _ = select.select([fd], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(fd, 65536) if ready else b""
            text += piece
            found = re.search(rb"^ready (https?://\S+:\d+)\s", text, re.M)
            if found:
                return found.group(1).decode().split("://")[1]
            if not piece:
                self.kill()
                raise RuntimeError(f"the server did not become ready:\n{text.decode()}\n{self.log()}")

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def state(self):
        """For the messages of tests that fail: whether it runs, how it ended, and what it said last."""
        code = self.process.poll() if self.process else "stopped by the test"
        return f"the server {'runs' if code is None else f'ended: {code}'}; its log ends with:\n{self.log()[-2000:]}"

    def stop(self, timeout_s=60):
        """SIGTERM, as an operator does. The exit code."""
        if self.process is None:
            return None
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout_s)
        self.process.stdout.close()
        self.process = None
        return code

    def kill(self):
        """SIGKILL: what was acknowledged must survive it."""
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process = None

    def remove(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
