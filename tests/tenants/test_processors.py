"""Processor, memory and processes of sessions: what one tenant uses up, others and the server still get. As root, with control groups, and as an ordinary user, without."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from neighbour import Neighbour, tenant
from sessions_client import USERS, text_of, wait_for

MIB = 1 << 20
BUSY = "for i in $(seq {}); do (while :; do :; done) >/dev/null 2>&1 & done; echo started"
SPIN = """
import time
began, used = time.monotonic(), time.process_time()
while time.monotonic() < began + {seconds}: pass
print(time.process_time() - used)
"""
HOLD = """
import time
held = bytearray({mib} << 20)
for at in range(0, len(held), 4096): held[at] = 1
print('held', flush=True)
time.sleep({seconds})
"""
BUFFERS = """
import os, socket
pairs = []
def fill():
    while True:
        for one in (pair := socket.socketpair()):
            one.setblocking(False)
            try:
                while True: one.send(bytes(1 << 16))
            except BlockingIOError: pass
        pairs.append(pair)
for _ in range(8):
    if os.fork() == 0:
        try: fill()
        except OSError: __import__('signal').pause()
for _ in range(8): os.wait()
"""

as_each_user = pytest.mark.parametrize("uid", USERS, ids=lambda uid: "root" if uid == 0 else "user")


@as_each_user
def test_sixty_busy_processes_leave_the_processor_to_another_tenant(make_user_server, uid):
    server = make_user_server(uid=uid)
    greedy, neighbour = tenant(server, "greedy"), Neighbour(server)
    session = greedy.create(workspace=greedy.workspace, folder="busy")
    with neighbour:
        assert greedy.run(session, BUSY.format(60), language="bash")["end"] == "ok"
        runs = len(neighbour.times_s)
        wait_for(lambda: len(neighbour.times_s) >= runs + 20 or neighbour.failure)
    neighbour.check(has_shares=uid == 0)


def test_sixteen_busy_sessions_of_one_principal_get_as_much_as_one_of_another(make_user_server):
    if 0 not in USERS:
        pytest.skip("an ordinary user has no cpu controller here")
    server = make_user_server(uid=0)
    many, single = tenant(server, "many"), tenant(server, "single")
    sessions = [(many, many.create(workspace=many.workspace, folder=f"s{number}")) for number in range(16)]
    sessions.append((single, single.create(workspace=single.workspace, folder="only")))
    with ThreadPoolExecutor(len(sessions)) as threads:
        list(threads.map(lambda one: one[0].run(one[1], "1+1"), sessions))
        used = list(threads.map(lambda one: float(text_of(one[0].run(one[1], SPIN.format(seconds=4)))), sessions))
    print(f"processor time: one principal {sum(used[:-1]):.2f} s in 16 sessions, the other {used[-1]:.2f} s in one")
    # A fair machine gives 16 times as much to the single one; the bound leaves room for other programs.
    assert used[-1] > 3 * sum(used[:-1]) / 16


@as_each_user
def test_buffers_of_sockets_count_as_memory(make_user_server, uid):
    server = make_user_server(uid=uid)
    greedy, neighbour = tenant(server, "greedy"), Neighbour(server)
    session = greedy.create(workspace=greedy.workspace, folder="buffers", memory="256 MiB")
    with neighbour:
        done = greedy.run(session, BUFFERS, timeout_s=60)
    neighbour.check(has_shares=uid == 0)
    # The watcher ends the session; the kernel ends the processes that fill the buffers, or the session.
    assert done["end"] == "oom" or uid == 0, done


@as_each_user
def test_memory_of_all_sessions_is_admitted_before_one_wakes(make_user_server, uid):
    server = make_user_server("--sessions-memory-max-bytes", "600 MiB", uid=uid)
    greedy, other = tenant(server, "greedy"), tenant(server, "other")
    large = greedy.create(workspace=greedy.workspace, folder="large")
    small = other.create(workspace=other.workspace, folder="small")
    held = greedy.start(large, HOLD.format(mib=400, seconds=600))
    greedy.printed_until(held, "held")
    refused = other.run(small, "1+1", status=429)
    assert refused["error"]["code"] == "too_many_requests" and "memory" in refused["error"]["message"]
    assert refused["error"]["retry_after_seconds"] > 0
    # Idle, it makes room, although its variables still hold the memory.
    greedy.call("POST", f"{held}/cancel")
    assert greedy.wait(held)["end"] == "interrupted"
    deadline = time.monotonic() + 60
    while (answer := other.http.post(f"{server.url}/api/v1/sessions/{small['id']}/executions", json={"code": "1+1"})).status_code == 429:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert answer.json()["end"] == "ok"
    wait_for(lambda: greedy.get(large)["status"] == "asleep")


@as_each_user
def test_background_processes_end_with_a_limit_of_their_own(make_user_server, uid):
    server = make_user_server("--background-time-max-s", "2", uid=uid)
    keep = tenant(server, "tenant")
    busy = keep.create(workspace=keep.workspace, folder="busy", idle_minutes=0)
    calm = keep.create(workspace=keep.workspace, folder="calm", idle_minutes=0)
    keep.run(calm, "kept = 42")
    assert "started" in text_of(keep.run(busy, BUSY.format(1), language="bash"))
    wait_for(lambda: keep.get(busy)["status"] == "asleep")
    done = keep.run(busy, "1+1")
    assert done["woke"] and "background_time_max_s" in str(done["outputs"]), done
    assert "background_time_max_s" not in str(keep.run(busy, "1+1")["outputs"])
    # Without processes, a session that may stay awake stays awake.
    assert "42" in str(keep.run(calm, "kept")["outputs"])
