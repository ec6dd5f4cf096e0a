"""Bash as the second language of a session: one shell that keeps its variables, functions and folder between cells."""

import collections
import os
import select
import signal
import subprocess

DATA = "/mnt/data"
CELL = "/tmp/.home/.sandkeep-cell"
BEFORE, AFTER = CELL + "-before", CELL + "-after"
COMMANDS, STATUSES = 198, 199  # in the shell; high numbers, to avoid those that scripts use

# An interrupt ends the cell but not the shell, so its variables are kept. "builtin", because a cell may define functions of these names. What runs
# around a cell is in files of its own, so that the lines of the cell count from 1.
LOOP = f"""
trap 'return 130 2>/dev/null' INT
while builtin :; do
  IFS= builtin read -r -u {COMMANDS} __sandkeep_cell || {{ builtin [ $? -gt 128 ] && builtin continue; builtin break; }}
  case $__sandkeep_cell in around) builtin source {BEFORE};; esac
  builtin source {CELL}
  __sandkeep_status=$?
  case $__sandkeep_cell in around) builtin source {AFTER};; esac
  builtin printf '%d\\n' "$__sandkeep_status" >&{STATUSES}
done
"""

Around = collections.namedtuple("Around", "before after")  # scripts

KILL_AFTER_S = 1.0
INTERRUPTS_MAX = 5


def end_group(process):
    """Interrupts a process group and kills the processes that ignore the interrupt."""
    for number, patience_s in ((signal.SIGINT, KILL_AFTER_S), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(patience_s)
            if number == signal.SIGINT:
                continue  # the rest of the group may still run
        except subprocess.TimeoutExpired:
            pass


def write_script(path, code):
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(code)


class Bash:
    def __init__(self, kernel):
        self.kernel = kernel
        self.process = None
        self.folder = None

    def run(self, code, around=None):
        """Runs a cell, with the scripts of `around` before and after it. Returns its status and exit code."""
        if "\0" in code:
            self.kernel.send_error("ValueError", "a shell script cannot contain a zero byte", "ValueError: zero byte")
            return "error", None
        write_script(CELL, code)
        if around:
            write_script(BEFORE, around.before)
            write_script(AFTER, around.after)
        try:
            if self.process is None or self.process.poll() is not None:
                with self.kernel.interrupts:
                    self.start()
            os.write(self.commands, b"around\n" if around else b"run\n")
            code = self.wait()
        except KeyboardInterrupt:
            with self.kernel.interrupts:
                if not self.ends_when_interrupted():
                    self.stop()
            return "interrupted", None
        return ("ok" if code == 0 else "error"), code

    def folder_to_start_in(self):
        """Returns the folder of the last shell, or of Python. Code may have removed either; the default is /mnt/data."""
        try:
            folder = self.folder or os.getcwd()
        except OSError:
            return DATA
        return folder if os.path.isdir(folder) else DATA

    def start(self):
        commands_read, self.commands = os.pipe2(os.O_CLOEXEC)
        self.statuses, statuses_write = os.pipe2(os.O_CLOEXEC)

        def place_descriptors():
            os.dup2(commands_read, COMMANDS)
            os.dup2(statuses_write, STATUSES)

        self.process = subprocess.Popen(
            ["/bin/bash", "--noprofile", "--norc", "-c", LOOP],
            stdin=subprocess.DEVNULL,
            cwd=self.folder_to_start_in(),
            start_new_session=True,
            close_fds=False,
            preexec_fn=place_descriptors,
        )
        os.close(commands_read)
        os.close(statuses_write)
        self.folder = None

    def wait(self):
        """Waits for the cell and returns its exit code. A cell may also end the shell: `exit 3`."""
        line = b""
        while not line.endswith(b"\n"):
            piece = os.read(self.statuses, 64)
            if not piece:
                code = self.process.wait()
                self.forget()
                return code if code >= 0 else 128 - code
            line += piece
        return int(line)

    def ends_when_interrupted(self):
        """Interrupts the running cell. Returns whether the cell ended and the shell is still alive."""
        if self.process is None or self.process.poll() is not None:
            return False
        # Retry: between fork and exec, a child can consume the interrupt without effect.
        for _ in range(INTERRUPTS_MAX):
            os.killpg(self.process.pid, signal.SIGINT)
            ready, _, _ = select.select([self.statuses], [], [], KILL_AFTER_S / INTERRUPTS_MAX)
            if ready:
                self.wait()
                return self.process is not None
        return False

    def stop(self):
        """Ends the shell. The next cell starts another in the same folder."""
        try:
            self.folder = os.readlink(f"/proc/{self.process.pid}/cwd")
        except OSError:
            self.folder = None
        end_group(self.process)
        self.forget()

    def forget(self):
        os.close(self.commands)
        os.close(self.statuses)
        self.process = None


def run_command(command, interrupts):
    """Runs a !command; its output goes to Python's output. Returns the exit code, negative for a signal, as in subprocess."""
    process = None
    try:
        with interrupts:  # an interrupt must see the started process, or none
            process = subprocess.Popen(["/bin/bash", "-c", command], stdin=subprocess.DEVNULL, start_new_session=True)
        return process.wait()
    except KeyboardInterrupt:
        if process is not None:
            with interrupts:
                end_group(process)
        raise
