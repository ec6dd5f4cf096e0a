"""Transfers against servers and people that misbehave: lies, stalls, Ctrl-C; and the progress bar."""

import hashlib
import http.server
import json
import os
import pty
import re
import select
import signal
import subprocess
import threading
import time

import pytest
from sandkeep_cli import Cli

CONTENT = b"the true bytes"


def entry(path, content=CONTENT, kind="file"):
    return {"path": path, "kind": kind, "size": len(content), "sha256": hashlib.sha256(content).hexdigest(), "mode": "0644",
            "mtime": "2026-03-01T12:00:00Z", "changed_at": "2026-03-01T12:00:00Z", "version_id": "v_" + "1" * 32, "version_count": 1}


class Impostor(http.server.ThreadingHTTPServer):
    """Speaks just enough of the REST dialect to lie in it."""

    daemon_threads = True

    def __init__(self, entries, send_bytes):
        self.entries = entries
        self.send_bytes = send_bytes
        super().__init__(("127.0.0.1", 0), ImpostorRequest)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class ImpostorRequest(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if "/files/" in self.path:
            self.server.send_bytes(self)
        elif "/list" in self.path:
            self.answer({"items": self.server.entries, "has_more": False})
        elif "/entries/folder" in self.path:
            self.answer(entry("folder", b"", "folder"))
        else:
            self.answer(self.server.entries[0])


@pytest.fixture
def impostor():
    made = []

    def make(entries, send_bytes):
        made.append(Impostor(entries, send_bytes))
        return made[-1]

    yield make
    for one in made:
        one.shutdown()
        one.server_close()


def send(content, announce=None):
    def act(request):
        request.send_response(200)
        request.send_header("Content-Length", str(announce or len(content)))
        request.end_headers()
        request.wfile.write(content)
        request.wfile.flush()
        if announce:
            request.close_connection = True

    return act


def names(folder):
    return sorted(os.listdir(folder))


def test_bytes_that_do_not_match_their_hash_are_not_put_in_place(impostor, tmp_path):
    cli = Cli(tmp_path, impostor([entry("a.txt")], send(b"the other bytes")).url, workspace="w")
    (tmp_path / "a.txt").write_bytes(b"what was here")
    assert cli("get", "a.txt", "--json", code=8).error["code"] == "corrupt"
    assert (tmp_path / "a.txt").read_bytes() == b"what was here"
    assert names(tmp_path) == ["a.txt"]


def test_an_answer_that_breaks_off_leaves_nothing_behind(impostor, tmp_path):
    cli = Cli(tmp_path, impostor([entry("a.txt")], send(CONTENT[:5], announce=len(CONTENT))).url, workspace="w")
    cli("get", "a.txt", code=6)
    assert names(tmp_path) == []


@pytest.mark.parametrize("path", ["folder/../../evil.txt", "folder//etc/evil", "elsewhere/x", "folder/..", "folder/a\0b"])
def test_a_server_cannot_write_outside_the_target(impostor, tmp_path, path):
    cli = Cli(tmp_path, impostor([entry(path)], send(CONTENT)).url, workspace="w")
    ran = cli.start("get", "folder", "safe/here")
    ran.communicate(timeout=60)
    assert ran.returncode in (1, 2)
    assert names(tmp_path) == []


def test_ctrl_c_removes_what_is_half_written(impostor, tmp_path):
    begun = threading.Event()

    def stall(request):
        request.send_response(200)
        request.send_header("Content-Length", str(len(CONTENT)))
        request.end_headers()
        request.wfile.write(CONTENT[:3])
        request.wfile.flush()
        begun.set()
        request.rfile.read(1)  # until the client goes

    cli = Cli(tmp_path, impostor([entry("a.txt")], stall).url, workspace="w")
    running = cli.start("get", "a.txt", "a.txt")
    assert begun.wait(30)
    deadline = time.monotonic() + 30
    while not any(name.endswith(".part") for name in names(tmp_path)) and time.monotonic() < deadline:
        os.sched_yield()
    assert any(name.endswith(".part") for name in names(tmp_path))
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert b"interrupted" in err
    assert names(tmp_path) == []


def test_a_wrong_key_ends_a_transfer_of_many_at_once(server, tmp_path):
    for number in range(50):
        path = tmp_path / "many" / f"{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    cli = Cli(tmp_path, server, key="no-such-key-anywhere", workspace="default")
    ran = cli("put", "-j", "2", "many", "target/", code=4)
    assert ran.err.count("sandkeep:") < 10, "it stops asking"
    assert "50 of 50 files could not be stored" in ran.err


def test_a_file_that_is_shorter_than_it_says_is_reported(server, ws, tmp_path):
    # A file of the kernel's that claims a page and holds a few bytes, as one does that shrinks while it is read.
    source = "/sys/kernel/mm/transparent_hugepage/enabled"
    if not os.path.exists(source):
        pytest.skip(f"there is no {source} here")
    cli = Cli(tmp_path, server, workspace=ws.id)
    assert cli("put", source, "odd.txt", "--json", code=5).error["code"] == "conflict"
    cli("ls", "odd.txt", code=3)


class Screen:
    """A terminal behind standard error, and what was written to it."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        self.text = b""

    def read_until(self, pattern, timeout_s=30):
        deadline = time.monotonic() + timeout_s
        while not re.search(pattern, self.text):
            ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"never saw {pattern}: {self.text[-500:]!r}"
            self.text += os.read(self.master, 65536)

    def close(self):
        os.close(self.master)
        os.close(self.slave)


def test_a_terminal_shows_progress_and_a_file_does_not(server, ws, tmp_path):
    cli = Cli(tmp_path, server, workspace=ws.id)
    screen = Screen()
    running = cli.start("put", "-", "slow.bin", stdin=subprocess.PIPE, stderr=screen.slave)
    running.stdin.write(b"x" * 1_000_000)
    running.stdin.flush()
    screen.read_until(rb"put +977 KiB")
    screen.read_until(rb"/s")
    running.stdin.close()
    out = running.stdout.read()
    assert running.wait(60) == 0
    running.stdout.close()
    screen.read_until(rb"\r\x1b\[2K$")
    screen.close()
    assert b"slow.bin" in out and b"\x1b" not in out
    quiet = cli("put", "-", "slow2.bin", stdin=b"x" * 1000)
    assert quiet.err == ""


def test_colours_appear_on_a_terminal_and_not_with_no_color(server, ws, tmp_path):
    cli = Cli(tmp_path, server, workspace=ws.id)
    for variables, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        cli.environment = {**Cli(tmp_path, server, workspace=ws.id).environment, **variables}
        screen = Screen()
        running = cli.start("cat", "none", stderr=screen.slave)
        screen.read_until(rb"sandkeep:")
        running.wait(30)
        running.stdout.close()
        screen.close()
        assert (b"\x1b[31m" in screen.text) == coloured
