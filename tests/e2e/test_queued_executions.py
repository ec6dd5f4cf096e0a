"""Executions that wait, run or have just ended when the server stops or is killed: each of them is known afterwards, and none runs twice."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import threading
from pathlib import Path

import pytest
import requests

from durability import LONG, make_random
from kept_folders import entries_if_any
from moving_trees import control_groups
from sandkeep_server import ROOT_KEY
from sessions_client import USERS, Keep, UserServer, wait_for


@pytest.fixture(params=USERS, ids=lambda uid: "root" if uid == 0 else "user")
def make_server(request):
    made = []

    def make(*flags):
        made.append(UserServer(request.param, *flags).start())
        return made[-1]

    yield make
    for one in made:
        code, log = one.stop(), one.log()
        one.remove()
        assert code == 0 and "fatal" not in log, log


BLOCK = "open('started', 'w').write('x')\nprint('ready', flush=True)\nimport time; time.sleep(1000)"


def append(name):
    return f"with open('log', 'a') as log: log.write('{name}\\n')"


def log_lines(keep, folder):
    return keep.read(f"{folder}/log").decode().split() if "log" in keep.files(folder) else []


def test_queued_executions_are_run_once_after_the_server_was_killed(make_server):
    server = make_server()
    keep = Keep(server)
    session = keep.create(folder="w")
    running = keep.start(session, BLOCK)
    queued = {f"q{number}": keep.start(session, append(f"q{number}")) for number in range(5)}
    keep.printed_until(running, "ready")
    listed = keep.call("GET", f"/api/v1/sessions/{session['id']}/executions").json()["items"]
    assert {item["id"] for item in listed} >= {Path(path).name for path in [running, *queued.values()]}
    server.kill()
    server.start()
    keep = Keep(server)
    assert keep.wait(running)["end"] == "crash"
    for name, execution in queued.items():
        done = keep.wait(execution)
        assert done["status"] == "done" and done["end"] == "ok", (name, done)
        assert done["code"] == append(name)
    assert log_lines(keep, "w") == list(queued)
    # Once for ever, also after further restarts.
    server.kill()
    server.start()
    keep = Keep(server)
    keep.run(session, "1")
    assert log_lines(keep, "w") == list(queued)
    assert keep.wait(running)["end"] == "crash" and keep.wait(queued["q0"])["end"] == "ok"


def test_a_queued_execution_that_was_cancelled_is_not_run_after_the_server_was_killed(make_server):
    server = make_server()
    keep = Keep(server)
    session = keep.create(folder="w")
    running = keep.start(session, BLOCK)
    cancelled, queued = keep.start(session, append("cancelled")), keep.start(session, append("queued"))
    keep.printed_until(running, "ready")
    keep.http.post(f"{server.url}{cancelled}/cancel", timeout=60).raise_for_status()
    assert keep.wait(cancelled)["end"] == "interrupted"
    server.kill()
    server.start()
    keep = Keep(server)
    assert keep.wait(queued)["end"] == "ok" and keep.wait(cancelled)["end"] == "interrupted"
    assert log_lines(keep, "w") == ["queued"]


def test_a_queued_execution_keeps_its_time_limit_over_a_kill(make_server):
    server = make_server()
    keep = Keep(server)
    session = keep.create(folder="w", timeout_s=1)
    running = keep.start(session, BLOCK, timeout_s=300)
    queued = keep.start(session, "import time; time.sleep(3)", timeout_s=300)
    keep.printed_until(running, "ready")
    server.kill()
    server.start()
    keep = Keep(server)
    assert keep.wait(queued)["end"] == "ok"


def test_executions_that_are_killed_at_random_moments_are_known_and_run_at_most_once(make_server):
    rng = make_random()
    server = make_server()
    keep = Keep(server)
    sessions = [keep.create(folder=f"s{number}") for number in range(3)]
    accepted = {session["id"]: {} for session in sessions}
    for turn in range(25 if LONG else 3):
        stop = threading.Event()

        def submit(session, turn=turn, stop=stop):
            mine = Keep(server)
            for number in range(50):
                name = f"t{turn}-{number}"
                try:
                    accepted[session["id"]][name] = mine.start(session, append(name))
                except (requests.RequestException, AssertionError):
                    return  # the server is gone, or its queue is full
                if stop.is_set():
                    return

        threads = [threading.Thread(target=submit, args=(session,)) for session in sessions]
        for thread in threads:
            thread.start()
        # Not a wait for anything: the moment of the kill is what is random here.
        stop.wait(0.2 + rng.random() * (3 if turn == 0 else 1.5))
        server.kill()
        stop.set()
        for thread in threads:
            thread.join()
        server.start()
        keep = Keep(server)
        for session in sessions:
            ended = {name: keep.wait(execution) for name, execution in accepted[session["id"]].items()}
            lines = log_lines(keep, session["folder"])
            assert len(lines) == len(set(lines)), "an execution ran twice"
            for name, done in ended.items():
                assert done["status"] == "done" and done["end"] in ("ok", "crash"), (name, done)
                assert done["end"] == "crash" or name in lines, f"{name} ended well and left nothing"
            # All but the one that was running are run.
            assert len([name for name, done in ended.items() if done["end"] == "crash"]) <= turn + 1


def test_every_version_knows_its_execution_after_a_kill_right_after_the_answer(make_server):
    rng = make_random()
    server = make_server()
    clients, kills = 6, 25 if LONG else 4
    sessions = [Keep(server).create(folder=f"s{number}") for number in range(clients)]
    answered, lock = {}, threading.Condition()
    for turn in range(kills):
        before = len(answered)

        def press(session, turn=turn):
            mine = Keep(server)
            for number in range(10_000):
                try:
                    done = mine.run(session, f"open('t{turn}-{number}', 'w').write('{turn} {number}')")
                except requests.RequestException:
                    return
                with lock:
                    answered[done["id"]] = done
                    lock.notify_all()

        threads = [threading.Thread(target=press, args=(session,)) for session in sessions]
        for thread in threads:
            thread.start()
        with lock:
            wanted = before + clients + rng.randint(1, 10)
            assert lock.wait_for(lambda: len(answered) >= wanted, 120)  # pylint: disable=cell-var-from-loop
        server.kill()
        for thread in threads:
            thread.join()
        server.start()
        keep = Keep(server)
        for done in list(answered.values())[before:]:
            found = keep.call("GET", f"/api/v1/sessions/{done['session_id']}/executions/{done['id']}").json()
            same = ("number", "code", "status", "end", "kept", "outputs")
            assert {name: found[name] for name in same} == {name: done[name] for name in same}
        for session in sessions:
            for path in entries_if_any(keep, session["folder"]):
                version = keep.call("GET", f"/api/v1/workspaces/default/versions/{session['folder']}/{path}").json()["items"][0]
                # Its files are kept, so its row is there, whether or not the answer came. What the restart found in the copy has none.
                if "execution_id" in version["source"]:
                    keep.call("GET", f"/api/v1/sessions/{session['id']}/executions/{version['source']['execution_id']}")


# A server that stops while everything is in use.


def process_tree(root):
    """The processes below one: pid -> time of start, by which a pid that is used again is told apart."""
    children = {}
    for line in subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True, check=True).stdout.splitlines()[1:]:
        pid, parent = map(int, line.split())
        children.setdefault(parent, []).append(pid)
    found, todo = {}, [root]
    while todo:
        for pid in children.get(todo.pop(), []):
            started = start_of(pid)
            if started:
                found[pid] = started
                todo.append(pid)
    return found


def start_of(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rsplit(")", 1)[1].split()
    return None if fields[0] == "Z" else fields[19]


class Stalled:
    """An upload whose client has sent a part of it and then sends a byte now and then, or none."""

    def __init__(self, server, name, slow):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=120)
        head = f"PUT /api/v1/workspaces/default/files/{name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ROOT_KEY}\r\nContent-Length: 1000000\r\n\r\n"
        self.socket.sendall(head.encode() + b"x" * 300_000)
        self.slow = slow
        self.ended = threading.Event()

    def run(self):
        try:
            if self.slow:
                while not self.ended.wait(0.05):
                    self.socket.sendall(b"y")
            while self.socket.recv(65536):
                pass
        except OSError:
            pass
        self.ended.set()


def send_and_forget(call):
    """Calls that the end of the server cuts off, or answers."""
    def run():
        try:
            call()
        except (requests.RequestException, AssertionError):
            pass
    return run


def test_what_a_long_run_printed_and_kept_is_in_its_record_after_the_server_was_killed(make_server):
    server = make_server()
    keep = Keep(server)
    session = keep.create(folder="w")
    running = keep.start(session, "print('early', flush=True)\nopen('first', 'w').write('x')\nimport time; time.sleep(1000)")
    keep.printed_until(running, "w/first")  # the event that says that it is kept
    wait_for(lambda: "early" in str(keep.call("GET", running).json()["outputs"]), 30)
    wait_for(lambda: saved_output(server, Path(running).name), 30)
    server.kill()
    server.start()
    done = Keep(server).wait(running)
    assert done["end"] == "crash" and "early" in str(done["outputs"]), done
    assert [file["path"] for file in done["kept"]] == ["w/first"], done


def test_an_answer_without_files_is_in_the_record_after_the_server_was_killed(make_server):
    server = make_server()
    answered = {}
    for number in range(8):
        keep = Keep(server)
        session = keep.create()
        done = keep.run(session, f"print({number})")
        server.kill()
        answered[f"/api/v1/sessions/{session['id']}/executions/{done['id']}"] = done
        server.start()
    keep = Keep(server)
    for path, done in answered.items():
        found = keep.call("GET", path).json()
        assert (found["end"], found["outputs"]) == (done["end"], done["outputs"]), found


def test_an_id_that_a_stream_told_is_known_after_the_server_was_killed(make_server):
    server = make_server()
    keep = Keep(server)
    session = keep.create(folder="w")
    path = f"/api/v1/sessions/{session['id']}/executions"
    with keep.http.post(f"{server.url}{path}", json={"code": BLOCK}, stream=True, timeout=60, headers={"Accept": "text/event-stream"}) as answer:
        started = next(line for line in answer.iter_lines(decode_unicode=True) if line.startswith("data:"))
        server.kill()
    execution = json.loads(started.removeprefix("data:"))["id"]
    server.start()
    keep = Keep(server)
    assert keep.call("GET", f"{path}/{execution}").json()["end"] == "crash"
    assert [item["id"] for item in keep.call("GET", path).json()["items"]] == [execution]


def saved_output(server, execution):
    """Whether the record on disk has it already."""
    with sqlite3.connect(f"file:{server.data}/catalog.db?mode=ro", uri=True) as catalog:
        rows = catalog.execute("SELECT detail FROM executions WHERE id = ?", [bytes.fromhex(execution.removeprefix("x_"))]).fetchall()
    return any("early" in row[0] for row in rows)


def follow(server):
    with requests.get(f"{server.url}/api/v1/workspaces/default/events", params={"after": 0}, stream=True, timeout=120,
                      headers={"Accept": "text/event-stream", "Authorization": f"Bearer {ROOT_KEY}"}) as answer:
        for _ in answer.iter_lines():
            pass


@pytest.mark.parametrize("how", ["SIGTERM", "SIGTERM twice", "SIGKILL"])
def test_a_server_that_stops_while_everything_is_in_use_ends_and_leaves_nothing(make_server, how):
    server = make_server("--drain-timeout-s", "2")
    keep = Keep(server)
    keep.put("other/file", b"kept")
    session, second = keep.create(folder="w"), keep.create(folder="v")
    running = keep.start(session, BLOCK)
    queued = {f"q{number}": keep.start(session, append(f"q{number}")) for number in range(4)}
    keep.run(second, "open('answered', 'w').write('answered')")
    held = keep.call("POST", "/api/v1/workspaces/default/locks", 201, json={"path": "locked", "ttl_s": 3600}).json()
    uploads = [Stalled(server, "slow", slow=True), Stalled(server, "stalled", slow=False)]
    calls = [lambda: Keep(server).call("POST", "/api/v1/workspaces/default/locks", 201, json={"path": "locked", "wait_s": 60}),
             lambda: follow(server),
             lambda: Keep(server).wait(queued["q3"]),
             lambda: Keep(server).run(session, append("waited")),
             lambda: Keep(server).events("never.*", wait=60)]
    threads = [threading.Thread(target=send_and_forget(call)) for call in calls] + [threading.Thread(target=upload.run) for upload in uploads]
    for thread in threads:
        thread.start()
    keep.printed_until(running, "ready")
    pid, below = server.process.pid, process_tree(server.process.pid)
    assert below
    os.kill(pid, signal.SIGKILL if how == "SIGKILL" else signal.SIGTERM)
    if how == "SIGTERM twice":
        threading.Event().wait(0.3)  # not a wait for anything: somewhere within the stop
        os.kill(pid, signal.SIGTERM)
    code = server.process.wait(60)
    assert code in {"SIGTERM": (0,), "SIGTERM twice": (0, -signal.SIGTERM), "SIGKILL": (-signal.SIGKILL,)}[how], server.log()[-3000:]
    for upload in uploads:
        upload.ended.set()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    wait_for(lambda: not [one for one, started in below.items() if start_of(one) == started], 30)
    assert str(server.folder) not in Path("/proc/self/mountinfo").read_text()
    if how == "SIGTERM":
        assert control_groups(pid) == []
    server.kill()
    server.start()
    wait_for(lambda: control_groups(pid) == [], 30)
    keep = Keep(server)
    assert keep.wait(running)["end"] in ("crash", "interrupted")
    assert keep.read("w/started") == b"x" and keep.read("v/answered") == b"answered" and keep.read("other/file") == b"kept"
    ended = {name: keep.wait(execution) for name, execution in queued.items()}
    lines = log_lines(keep, "w")
    assert len(lines) == len(set(lines)), lines
    for name, done in ended.items():
        assert done["status"] == "done" and done["end"] in ("ok", "interrupted"), (name, done)
        assert (done["end"] == "ok") == (name in lines), (name, done["end"], lines)
    assert [lock["id"] for lock in keep.call("GET", "/api/v1/workspaces/default/locks").json()["items"]] == [held["id"]]
    names = [item["path"] for item in keep.call("GET", "/api/v1/workspaces/default/list").json()["items"]]
    assert sorted(names) == ["other", "v", "w"], "half an upload is no file"
    assert keep.call("POST", "/api/v1/verify").json()["ok"]
    assert [item["path"] for item in keep.call("GET", "/api/v1/workspaces/default/trash").json()["items"]] == []
    assert keep.run(second, "print(open('answered').read())")["end"] == "ok"
