"""The kernel: receives cells from the channel, runs them in an IPython shell, and sends back their output."""

import os
import random
import sys
import tempfile
import time

import sandkeep
from sandkeep_runtime import fonts, tools
from sandkeep_runtime.bash import Bash
from sandkeep_runtime.channel import Channel, Closed, TooLarge
from sandkeep_runtime.interrupts import Interrupts
from sandkeep_runtime.shell import make_shell, safe_str
from sandkeep_runtime.streams import Streams

DATA = "/mnt/data"

ZYGOTE_CELLS = (
    "1 + 1",
    "import numpy as np, pandas as pd\nframe = pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})\nframe.describe()\nframe",
    "import matplotlib.pyplot as plt\nfig, axes = plt.subplots()\naxes.plot([1, 2])\naxes.set_title('x')\nplt.show()",
    "x = !true",
    "raise ValueError('x')",
)
SESSION_CELLS = ("import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': ['x', 'y']}).sum()",)


class Kernel:
    """Created once in the zygote and forked with it. prepare() and run() are called in each session."""

    def __init__(self):
        self.channel = None
        self.interrupts = Interrupts()
        self.streams = Streams(lambda: self.channel.send({"t": "order"}))
        self.sent_error = False
        self.bash = Bash(self)
        self.shell = make_shell(self)
        self.warm_up(ZYGOTE_CELLS)

    # In the zygote.

    def warm_up(self, cells):
        """Runs typical first cells, so that caches, lazy imports and page faults are paid for in advance."""
        for cell in cells:
            self.shell.run(cell)
        self.shell.forget_warm_up()

    # In a session, still privileged, before it waits in the pool. No user code has run.

    def prepare(self, warm):
        """Resets random state that the fork copied, so sessions differ. With `warm`, copies memory now instead of while a caller waits."""
        if warm:
            self.warm_up(SESSION_CELLS)
        random.seed()
        tempfile._name_sequence = None
        tempfile.tempdir = None
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed()

    # In a session, confined.

    def run(self, channel_fd):
        self.pid = os.getpid()
        self.streams.open()
        self.channel = Channel(channel_fd, self.interrupts, self.streams.write_mark)
        os.register_at_fork(after_in_child=self.leave)
        sandkeep._request = self.channel.request
        self.set_up_folders()
        self.interrupts.end()
        while True:
            try:
                self.obey(self.channel.next_command())
            except (Closed, ConnectionError):
                os._exit(0)

    def set_up_folders(self):
        for folder in ("/tmp/.home", "/tmp/.shm"):
            os.makedirs(folder, exist_ok=True)
        fonts.link_cache()
        os.environ.update(HOME="/home/user", USER="user", LOGNAME="user", SHELL="/bin/bash", PWD=DATA, TMPDIR="/tmp", TERM="dumb")

    def obey(self, command):
        kind = command.get("t")
        if kind == "execute":
            self.execute(command)
        elif kind == "configure":
            os.environ.update(command.get("env", {}))
            if "word" in command:
                self.streams.word = command["word"].encode("ascii")

    def leave(self):
        """Detaches a child that code forked from the channel, which belongs to its parent."""
        if self.channel is not None:
            self.channel.socket.close()
            self.channel = None
        sandkeep._request = None
        self.streams.leave()

    def execute(self, command):
        self.sent_error = False
        began, cpu_began = time.perf_counter(), time.process_time()
        status, exit_code = self.run_code(command)
        if os.getpid() != self.pid:
            os._exit(0)  # a child that code forked and that returned here
        if status == "interrupted" and not self.sent_error:
            self.send_error("KeyboardInterrupt", "", "KeyboardInterrupt")
        done = {
            "t": "done",
            "id": command.get("id"),
            "status": status,
            "count": self.shell.execution_count - 1,
            "wall_us": int((time.perf_counter() - began) * 1e6),
            "cpu_us": int((time.process_time() - cpu_began) * 1e6),
        }
        if exit_code is not None:
            done["exit_code"] = exit_code
        self.send(done)

    def run_code(self, command):
        try:
            self.interrupts.begin()
            try:
                outcome = self.run_cell(command["code"], command.get("language"), command.get("tools"))
            finally:
                self.interrupts.end()
        except KeyboardInterrupt:
            outcome = "interrupted", None
        except SystemExit:
            outcome = "ok", 0
        except Closed:
            raise
        except BaseException as error:
            # Errors that neither IPython nor bash handles, such as code with a zero byte or a full /tmp. The session continues.
            self.interrupts.end()
            name, value = type(error).__name__, safe_str(error)
            if not self.sent_error:
                self.send_error(name, value, f"{name}: {value}")
            outcome = "error", None
        self.interrupts.end()  # repeated, because an interrupt may have aborted the first call
        return outcome

    def run_cell(self, code, language, offered):
        if language == "bash":
            return tools.run_bash(offered, code, self.bash) if offered else self.bash.run(code)
        if not offered:
            return self.shell.run(code)
        with tools.Offer(offered, self.shell.user_ns):
            return self.shell.run(code)

    def send(self, message):
        """Sends a message after flushing earlier output."""
        self.streams.flush()
        if self.channel is not None:  # None while warming up and in a child that code forked
            self.channel.send(message)

    def send_error(self, name, value, text):
        self.sent_error = True
        try:
            self.send({"t": "error", "name": name, "value": value, "traceback": text})
        except TooLarge:
            self.send({"t": "error", "name": name[:1000], "value": value[:10000], "traceback": text[-100000:]})

