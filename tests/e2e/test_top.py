"""What operators see of a server: `sandkeep top`, GET /api/v1/top and /metrics, while tenants run code."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import pytest
import requests
from sandkeep_cli import Cli
from sessions_client import USERS, Keep, UserServer, wait_for

HOSTILE = "\x1b[2Jtenant"


@pytest.fixture(scope="module")
def server():
    one = UserServer(USERS[-1]).start()
    yield one
    code, log = one.stop(), one.log()
    one.remove()
    assert code == 0 and "fatal" not in log, log


def tenant(server, name):
    """A principal with a key of its own."""
    admin = Keep(server)
    principal = admin.call("POST", "/api/v1/principals", 201, json={"name": name}).json()["id"]
    secret = admin.call("POST", "/api/v1/keys", 201, json={"name": "k", "principal_id": principal}).json()["secret"]
    return Keep(server, secret)


@pytest.fixture(scope="module")
def busy(server):
    """Two tenants: one has a cell that runs and one that waits behind it, the other an idle session."""
    ada, bob = tenant(server, "ada"), tenant(server, "bob")
    idle = bob.create(name="bobs-idle")
    bob.run(idle, "1")
    session = ada.create(name="adas-work", timeout_s=600)
    running = ada.start(session, "held = bytearray(b'x') * (100 << 20)\nprint('begun', flush=True)\nwhile True: pass", timeout_s=600)
    ada.printed_until(running, "begun")
    waiting = ada.start(session, "1", timeout_s=600)
    yield {"ada": ada, "bob": bob, "running": running, "waiting": waiting}
    for execution in (waiting, running):
        ada.call("POST", f"{execution}/cancel", 200)
    ada.wait(running)


@pytest.fixture
def cli(server, tmp_path):
    return Cli(tmp_path, server)


def top(server, **query):
    return Keep(server).call("GET", "/api/v1/top", params=query).json()


def with_rates(server):
    """A snapshot that has one before it."""
    return wait_for(lambda: (found := top(server)) and found["server"]["cpu_percent"] is not None and found)


def row(rows, what, name):
    return next(r for r in rows if (r[what]["name"] if what else r["name"]) == name)


def test_tenants_and_sessions_are_shown_with_what_they_use(server, busy):
    # One core is kept busy: two snapshots of a loop show it, however slow the machine is.
    shown = wait_for(lambda: (found := with_rates(server)) and row(found["sessions"], None, "adas-work")["cpu_percent"] and found)
    ada, bob = row(shown["tenants"], "principal", "ada"), row(shown["tenants"], "principal", "bob")
    assert ada["sessions"]["awake"] == 1 and ada["executions"] == {"running": 1, "waiting": 1}
    assert bob["sessions"]["awake"] == 1 and bob["executions"] == {"running": 0, "waiting": 0}
    assert bob["memory_bytes"] > 0 and ada["memory_bytes"] - bob["memory_bytes"] > 50 << 20
    assert ada["cpu_percent"] > bob["cpu_percent"]
    session = row(shown["sessions"], None, "adas-work")
    assert session["state"] == "running" and session["running_since"] and session["executions_waiting"] == 1
    assert session["workspace"]["name"] == "default" and session["principal"]["name"] == "ada" and session["processes"] >= 1
    assert row(shown["sessions"], None, "bobs-idle")["state"] == "idle"
    assert [q["name"] for q in shown["queues"]][:2] == ["requests", "sessions"]
    assert shown["disk"]["free_bytes"] > 0 and shown["server"]["connections"]["open"] > 0
    assert shown["all"]["executions"] == {"running": 1, "waiting": 1}


def test_a_session_whose_processes_were_killed_is_not_shown_as_idle(server):
    carol = tenant(server, "carol")
    session = carol.create(name="carols-killed")
    carol.run(session, "import os\nos.kill(os.getpid(), 9)")
    shown = wait_for(lambda: (found := top(server)) and any((r["name"], r["state"]) == ("carols-killed", "asleep") for r in found["sessions"]) and found)
    killed = row(shown["sessions"], None, "carols-killed")
    assert killed["awake_since"] is None and killed["memory_bytes"] == 0, killed
    assert row(shown["tenants"], "principal", "carol")["sessions"]["awake"] == 0
    carol.call("DELETE", f"/api/v1/sessions/{session['id']}", 204)
    wait_for(lambda: all(r["name"] != "carols-killed" for r in top(server)["sessions"]))


def test_rows_are_bounded_and_the_rest_is_summed(server, busy):
    shown = top(server, sort="memory", limit=1)
    assert [r["principal"]["name"] for r in shown["tenants"]] == ["ada"]
    assert [r["name"] for r in shown["sessions"]] == ["adas-work"]
    assert shown["other_tenants"]["count"] >= 2 and shown["other_tenants"]["sessions"]["awake"] == 1
    assert shown["other_sessions"]["count"] == 1 and shown["other_sessions"]["memory_bytes"] > 0


def test_requests_of_a_tenant_are_a_rate(server, busy):
    def rate():
        for _ in range(20):
            busy["bob"].call("GET", "/api/v1/me")
        return row(top(server, sort="requests")["tenants"], "principal", "bob")["requests_per_s"]

    assert wait_for(rate) > 0


def test_others_are_refused(server, busy, tmp_path):
    busy["ada"].call("GET", "/api/v1/top", 403)
    Keep(server, "no-key-at-all").call("GET", "/api/v1/top", 401)
    key = busy["ada"].http.headers["Authorization"].removeprefix("Bearer ")
    refused = Cli(tmp_path, server, key=key)("top", "--once", "--json", code=4)
    assert refused.error["code"] == "forbidden"


def test_metrics_name_tenants_to_administrators_only(server, busy):
    def metrics(**headers):
        return requests.get(server.url + "/metrics", headers=headers, timeout=60).text

    everyone = metrics()
    assert re.search(r"^sandkeep_executions_running 1$", everyone, re.M) and re.search(r'^sandkeep_queue_waiting\{queue="sessions"\} \d+$', everyone, re.M)
    assert re.search(r"^sandkeep_sandbox_memory_bytes [1-9]\d{8,}$", everyone, re.M), everyone
    hers = metrics(Authorization=busy["ada"].http.headers["Authorization"])
    assert '"unauthorized"' in metrics(Authorization="Bearer wrong-wrong-wrong")
    wait_for(lambda: re.search(r'^sandkeep_http_refused_total\{status="401"\} [1-9]', metrics(), re.M))
    for text in (everyone, hers):
        assert "ada" not in re.sub("metadata", "", text) and "sandkeep_principal" not in text
    admin = metrics(Authorization=Keep(server).http.headers["Authorization"])
    assert re.search(r'^sandkeep_principal_executions_running\{principal="p_[0-9a-f]{32}",name="ada"\} 1$', admin, re.M), admin
    assert 'principal="others"' in admin


def test_top_prints_once_without_a_terminal(cli, busy):
    shown = cli("top").lines
    assert shown[0].startswith("up ") and "requests/s" in shown[0]
    heading = next(line for line in shown if line.startswith("TENANT"))
    assert heading.split() == ["TENANT", "CPU%", "MEMORY", "PROCESSES", "AWAKE", "ASLEEP", "RUNNING", "WAITING", "REQUESTS/S", "KEPT"]
    ada = next(line for line in shown if line.startswith("ada "))
    assert "MiB" in ada and "-" not in ada.split()[1]
    assert any(line.startswith("adas-work") and " running " in line for line in shown)
    assert not any("\x1b" in line for line in shown)
    by_memory = [line.split()[0] for line in cli("top", "--once", "--sort", "memory").lines if line]
    assert by_memory.index("ada") < by_memory.index("bob")


def test_top_prints_json(cli, busy):
    shown = cli("top", "--once", "--json").json
    assert row(shown["tenants"], "principal", "ada")["executions"]["running"] == 1
    assert shown["server"]["cpu_percent"] is not None


def test_top_refuses_what_it_does_not_know(cli, server):
    assert "--sort cpu" in cli("top", "--sort", "name", code=2).err
    cli("top", "--interval", "0", code=2)
    cli("top", "ada", code=2)


def test_a_hostile_name_does_not_reach_the_terminal(cli, server, busy):
    session = busy["bob"].create(name=HOSTILE)
    busy["bob"].run(session, "1")
    shown = wait_for(lambda: (found := cli("top", "--once").out) and "tenant" in found and found)
    assert "\x1b" not in shown and "\\x1b[2Jtenant" in shown
    busy["bob"].call("DELETE", f"/api/v1/sessions/{session['id']}", 204)


class Screen:
    """The program on a terminal of 100 by 30."""

    def __init__(self, cli, *words):
        self.fd, self.other = pty.openpty()
        self.resize(30, 100)
        self.before = termios.tcgetattr(self.other)
        # The terminal sends the signal of Ctrl-C to the session that it controls.
        self.process = subprocess.Popen(cli.command(*words), cwd=cli.folder, env={**cli.environment, "TERM": "xterm"},
                                        stdin=self.other, stdout=self.other, stderr=self.other, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.text = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.other, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, word, timeout_s=60):
        """What came up to and with `word`, which is taken away."""
        deadline = time.monotonic() + timeout_s
        while word not in self.text:
            ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{word!r} did not come: {self.text!r}"
            self.text += os.read(self.fd, 65536).decode(errors="replace")
        shown, _, self.text = self.text.partition(word)
        return shown + word

    def send(self, keys):
        os.write(self.fd, keys)

    def end(self):
        """The exit code; the terminal is as it was."""
        code = self.process.wait(60)
        assert termios.tcgetattr(self.other) == self.before
        os.close(self.fd)
        os.close(self.other)
        return code


LEFT, ENTERED = "\x1b[?1049l", "\x1b[?1049h"


def test_a_terminal_gets_a_view_that_q_ends(cli, busy):
    screen = Screen(cli, "top", "--interval", "1")
    screen.read_until(ENTERED)
    shown = screen.read_until("sorted by cpu")
    assert "adas-work" in shown and "bobs-idle" in shown
    screen.send(b"m")
    screen.read_until("sorted by memory")
    screen.send(b"\x1b[C")
    screen.read_until("sorted by requests")
    screen.send(b"q")
    screen.read_until(LEFT)
    assert screen.end() == 0


def test_ctrl_c_restores_the_terminal(cli, busy):
    screen = Screen(cli, "top")
    screen.read_until("sorted by cpu")
    screen.send(b"\x03")
    screen.read_until(LEFT)
    assert screen.end() == 130


def test_the_view_follows_the_size_of_the_terminal(cli, busy):
    screen = Screen(cli, "top", "--interval", "3600")
    screen.read_until("sorted by cpu")
    screen.resize(10, 40)
    shown = screen.read_until("sorted by cpu").rpartition("\x1b[H")[2]
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", shown).split("\n")
    assert len(lines) == 10 and max(map(len, lines)) == 40, lines
    screen.send(b"q")
    screen.read_until(LEFT)
    assert screen.end() == 0


def test_json_with_an_interval_is_a_line_for_each_look(cli, busy):
    process = cli.start("top", "--json", "--interval", "1")
    looks = [json.loads(process.stdout.readline()) for _ in range(3)]
    process.terminate()
    process.communicate(timeout=60)
    assert looks[0]["time"] < looks[1]["time"] < looks[2]["time"]
