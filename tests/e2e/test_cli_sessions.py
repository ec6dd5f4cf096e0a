"""`sandkeep run`, `shell`, `doctor`: code from the command line, also at a terminal."""

import json
import os
import pty
import select
import signal
import termios
import time

import pytest

from sandkeep_cli import Cli
from sandkeep_server import ROOT_KEY, Server
from sessions_client import Keep, wait_for


@pytest.fixture(scope="module")
def server():
    one = Server(environment={"SANDKEEP_SANDBOX": "required"}).start()
    yield one
    assert one.stop() == 0
    one.remove()


@pytest.fixture
def cli(server, tmp_path):
    return Cli(tmp_path, server=server.url, key=ROOT_KEY)


def test_run_has_the_programs_exit_code(cli):
    assert cli("run", "-", stdin=b"print(6 * 7)").out == "42\n"
    assert "To exit" not in cli("run", "-", stdin=b"import sys; sys.exit(7)", code=7).err
    assert "ZeroDivisionError" in cli("run", "-", stdin=b"1 / 0", code=1).err
    cli("run", "--bash", "-", stdin=b"exit 9", code=9)


def test_run_of_what_is_no_file_blames_the_path(cli):
    for path in ("nope.py", "nope/nope.py", "."):
        ran = cli("run", path, code=3)
        assert path in ran.err and "Check the path" in ran.err and "bug" not in ran.err
    assert cli("run", "--json", "nope.py", code=3).error["code"] == "not_found"


def test_an_exported_program_asks_for_ipython_only_where_a_cell_needs_it(cli, server):
    keep = Keep(server)
    session = keep.create(name="plain")
    cli("run", "--session", session["id"], "-", stdin=b"print(1)")
    assert "IPython" not in cli("sessions", "export", session["id"], "--format", "py").out
    cli("run", "--session", session["id"], "--bash", "-", stdin=b"true")
    cli("sessions", "export", session["id"], "x.py")
    assert "IPython" in (cli.folder / "x.py").read_text()
    assert ".ipynb" in cli("sessions", "export", session["id"], "x.txt", code=2).err
    assert not (cli.folder / "x.txt").exists()


def read_until(stream, word):
    text = b""
    while word not in text:
        piece = os.read(stream.fileno(), 65536)
        assert piece, text
        text += piece


def test_the_first_ctrl_c_cancels_a_run_and_shows_what_was_kept(cli, server):
    (cli.folder / "long.py").write_text("import time\ntry:\n    print('ready', flush=True)\n"
                                        "    time.sleep(1000)\nfinally:\n    open('end.txt', 'w').write('x')\n")
    running = cli.start("run", "--name", "interrupted", "long.py")
    read_until(running.stdout, b"ready")
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"/end.txt  http" in err and err.rstrip().endswith(b"\nended: interrupted")
    keep = Keep(server)
    [session] = [one for one in keep.call("GET", "/api/v1/sessions").json()["items"] if one["name"] == "interrupted"]
    [execution] = keep.call("GET", f"/api/v1/sessions/{session['id']}/executions").json()["items"]
    assert execution["status"] == "done" and execution["end"] == "interrupted"


def test_a_second_ctrl_c_leaves_a_run_at_once(cli):
    (cli.folder / "deaf.py").write_text("import time\nword = 'ready'\nwhile True:\n    try:\n        print(word, flush=True)\n        time.sleep(1000)\n"
                                        "    except KeyboardInterrupt:\n        word = 'heard'\n")
    running = cli.start("run", "deaf.py")
    read_until(running.stdout, b"ready")
    running.send_signal(signal.SIGINT)
    read_until(running.stdout, b"heard")
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130 and b"ended:" not in err


def test_ctrl_c_of_a_run_that_waits_for_its_turn_cancels_it(cli, server):
    keep = Keep(server)
    session = keep.create(name="busy")
    first = keep.start(session, "print('ready', flush=True)\nimport time; time.sleep(1000)")
    keep.printed_until(first, "ready")
    (cli.folder / "next.py").write_text("import time; time.sleep(1000)")
    running = cli.start("run", "--session", session["id"], "next.py")
    wait_for(lambda: keep.get(session)["execution_count"] == 2)
    running.send_signal(signal.SIGINT)
    keep.call("POST", f"{first}/cancel")
    running.communicate(timeout=60)
    assert running.returncode == 130
    newest = keep.call("GET", f"/api/v1/sessions/{session['id']}/executions").json()["items"][0]
    assert newest["code"] == "import time; time.sleep(1000)" and newest["end"] == "interrupted"


def test_an_unknown_session_is_told_with_the_command_that_lists(cli):
    hint = cli("run", "--json", "--session", "s_018f6b2c9d3e7a41b5c60d7e8f901234", "-", stdin=b"1", code=3).error["hint"]
    command = hint.split("'")[1].removeprefix("sandkeep ").split()
    assert cli(*command, "--json").json_lines is not None


def test_a_shell_that_reads_a_pipe_keeps_variables_and_shows_links(cli):
    lines = b"x = 20\ndef f(n):\n    return n + 1\n\nprint(f(x))\nopen('a.txt', 'w').write('hi')\n!echo from the shell\n:files\n:session\n"
    done = cli("shell", "--name", "piped", stdin=lines)
    assert done.lines[0] == "21" and "from the shell" in done.lines and any(line.endswith("/a.txt") for line in done.lines)
    assert "/a.txt  http" in done.err
    cli("shell", stdin=b"1 / 0\n", code=1)


class Terminal:
    """The shell at a real terminal."""

    def __init__(self, cli, *words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cli.folder)
            os.execvpe(cli.command(*words)[0], cli.command(*words), {**cli.environment, "TERM": "xterm"})
        self.text = ""

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def expect(self, text, timeout_s=60):
        deadline = time.monotonic() + timeout_s
        while text not in self.text:
            ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no {text!r} in {self.text!r}"
            try:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
            except OSError as gone:
                raise AssertionError(f"it ended without {text!r}: {self.text!r}") from gone
        self.text = self.text.split(text, 1)[1]

    def expect_prompt(self):
        """The line editor prints its prompt before it takes over the terminal; until then, Ctrl-C is a signal."""
        self.expect(">>> ")
        wait_for(lambda: not termios.tcgetattr(self.fd)[3] & termios.ISIG)

    def code(self, timeout_s=60):
        deadline = time.monotonic() + timeout_s
        while True:
            ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                raise AssertionError(f"it did not end after {self.text!r}")
            try:
                got = os.read(self.fd, 65536)
            except OSError:
                break
            if not got:
                break
            self.text += got.decode(errors="replace")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_a_shell_lists_the_files_of_a_new_session_and_goes_on(cli):
    done = cli("shell", stdin=b":files\nprint(6 * 7)\n")
    assert done.lines[-2:] == ["no files yet", "42"]


def test_run_says_that_a_lock_keeps_a_file_back_and_what_to_do(cli):
    cli("run", "--folder", "locked", "-", stdin=b"open('a.txt', 'w').write('1')")
    cli("lock", "acquire", "locked/a.txt")
    told = cli("run", "--folder", "locked", "-", stdin=b"open('a.txt', 'w').write('22')").err
    assert "not the newest version" in told and "sandkeep sessions retry s_" in told
    assert cli("cat", "locked/a.txt").out == "1"


def test_run_says_that_its_session_woke(cli, server):
    session = cli("run", "--json", "-", stdin=b"x = 1").json["session_id"]
    assert "was asleep" not in cli("run", "--session", session, "-", stdin=b"x").err
    Keep(server).call("POST", f"/api/v1/sessions/{session}/sleep")
    assert "was asleep" in cli("run", "--session", session, "-", stdin=b"1").err


def test_short_runs_in_a_row_make_room_for_each_other(cli):
    for _ in range(18):
        assert cli("run", "-", stdin=b"1").out == "1\n"


def test_a_shell_at_a_terminal_edits_lines_interrupts_and_remembers(cli):
    terminal = Terminal(cli, "shell")
    terminal.expect_prompt()
    terminal.type("x = 4X\x7f1\n")  # a backspace
    terminal.expect_prompt()
    terminal.type("print('so', x)\n")
    terminal.expect("so 41")
    terminal.expect_prompt()
    terminal.type("never typed to its end \x03")
    terminal.expect("^C")
    terminal.expect_prompt()
    terminal.type("print('wait' + 'ing', flush=True)\nimport time; time.sleep(60)\n")
    terminal.expect("waiting")
    terminal.expect(">>> ")
    time.sleep(0.5)  # the cell has no way to say that it sleeps
    terminal.type("\x03")
    terminal.expect("KeyboardInterrupt")
    terminal.expect_prompt()
    terminal.type("\x1b[A\x1b[A\x1b[A\n")  # three lines up: the one that printed
    terminal.expect("so 41")
    terminal.expect_prompt()
    terminal.type("\x04")
    assert terminal.code() == 0
    history = cli.folder / ".local/state/sandkeep/shell_history"
    assert oct(history.stat().st_mode)[-3:] == "600"


def test_the_doctor_reports_every_layer(cli):
    text = cli("doctor").out
    assert "Code can run here." in text and "system call filter" in text
    report = json.loads(cli("doctor", "--json").out)
    assert report["complete"] and {"name", "present", "need", "detail", "advice"} <= set(report["layers"][0])
