"""Locks: taken, waited for, broken, fenced. That every write honours them is in test_rest_changes.py."""

import threading
import time

import pytest

from rest_client import Client


@pytest.fixture
def friend(api, ws, unique):
    """Somebody else who may write here; their view of the workspace."""
    principal, client = api.make_principal(unique("friend"))
    api.put(f"{ws.root}/members/{principal}", 200, json={"role": "write"})
    return ws.seen_by(client)


def test_a_lock_is_taken_listed_renewed_and_released(api, ws):
    lock = ws.lock("a.txt", purpose="editing", ttl_s=60)
    assert lock["token"] and lock["path"] == "a.txt" and lock["deep"] and not lock["shared"] and lock["owner"]["name"] == "admin"
    listed = api.get(f"{ws.root}/locks", 200).json()["items"]
    assert [item["id"] for item in listed] == [lock["id"]] and "token" not in listed[0] and listed[0]["purpose"] == "editing"
    renewed = ws.post("locks/renew", 200, token=lock["token"], ttl_s=3600)
    assert renewed["expires_at"] > lock["expires_at"] and renewed["fence"] == lock["fence"]
    api.post(f"{ws.root}/locks/release", 204, json={"token": lock["token"]})
    assert api.get(f"{ws.root}/locks", 200).json()["items"] == []
    api.error("POST", f"{ws.root}/locks/release", 404, "not_found", json={"token": lock["token"]})
    api.error("POST", f"{ws.root}/locks/renew", 404, "not_found", json={"token": lock["token"]})


@pytest.mark.parametrize("body", [
    {}, {"path": "a", "ttl_s": 59}, {"path": "a", "ttl_s": 3601}, {"path": "a", "ttl_s": "60"}, {"path": "a", "wait_s": 61}, {"path": "a", "wait_s": -1},
    {"path": "a", "deep": "yes"}, {"path": "a", "purpose": "x" * 501}, {"path": "a", "exclusive": True}, {"path": 5},
])
def test_a_lock_that_cannot_be_is_400(api, ws, body):
    api.error("POST", f"{ws.root}/locks", 400, "bad_request", json=body)
    assert api.get(f"{ws.root}/locks", 200).json()["items"] == []


def test_a_second_lock_is_refused_and_told_who_holds_the_first(ws, friend):
    """adolfousier/opencrabs #1153, ugcs/GeoHammer #912: nobody sees that a file is in use by somebody; a rule in the prompt "died in 1 day"."""
    lock = ws.lock("d", purpose="moving house")
    for path in ("d", "d/a.txt", "d/e/f"):
        error = friend.client.error("POST", f"{ws.root}/locks", 423, "locked", json={"path": path})
        assert error["holder"] == "admin" and error["purpose"] == "moving house" and error["expires_at"] == lock["expires_at"]
    friend.lock("other")
    friend.client.error("POST", f"{ws.root}/locks", 423, "locked", json={"path": ""})


def test_shared_locks_stand_beside_each_other_but_not_beside_exclusive_ones(ws, friend):
    ws.lock("a.txt", shared=True)
    mine = friend.lock("a.txt", shared=True)
    friend.client.error("POST", f"{ws.root}/locks", 423, "locked", json={"path": "a.txt"})
    friend.put("a.txt", b"x", 201, X_Sandkeep_Lock=mine["token"])


def test_a_deep_lock_covers_everything_below_and_a_shallow_one_does_not(ws, friend):
    ws.put("d/e/a.txt", b"x")
    deep = ws.lock("d")
    friend.client.error("PUT", ws.file("d/e/a.txt"), 423, "locked", data=b"y")
    friend.client.error("PUT", ws.file("d/new/b.txt"), 423, "locked", data=b"y")
    friend.client.error("POST", f"{ws.root}/mkdir", 423, "locked", json={"path": "d/new"})
    friend.put("dd.txt", b"y")
    friend.put("d/e/a.txt", b"z", X_Sandkeep_Lock=deep["token"])
    ws.client.post(f"{ws.root}/locks/release", 204, json={"token": deep["token"]})
    ws.lock("d", deep=False)
    friend.put("d/e/a.txt", b"y")
    friend.client.error("DELETE", ws.file("d"), 423, "locked")
    friend.client.error("PUT", ws.file("d/new.txt"), 423, "locked", data=b"y")


def test_a_path_without_anything_can_be_locked(ws, friend):
    lock = ws.lock("not/yet.txt")
    friend.client.error("PUT", ws.file("not/yet.txt"), 423, "locked", data=b"x")
    friend.client.error("POST", f"{ws.root}/mkdir", 423, "locked", json={"path": "not/yet.txt"})
    ws.put("not/yet.txt", b"x", 201, X_Sandkeep_Lock=lock["token"])


def test_locks_below_a_path_are_listed(api, ws):
    ws.lock("a/b")
    ws.lock("c")
    assert [item["path"] for item in api.get(f"{ws.root}/locks?below=a", 200).json()["items"]] == ["a/b"]
    assert len(api.get(f"{ws.root}/locks", 200).json()["items"]) == 2


def test_a_folder_with_a_lock_inside_cannot_be_moved_or_deleted(ws, friend):
    ws.put("d/a.txt", b"x")
    ws.lock("d/a.txt")
    friend.client.error("DELETE", ws.file("d"), 423, "locked")
    friend.client.error("POST", f"{ws.root}/move", 423, "locked", json={"from": "d", "to": "e"})
    assert ws.paths() == ["d", "d/a.txt"]


def test_the_owner_breaks_a_lock_and_the_old_holder_is_fenced_off(api, ws, friend):
    held = friend.lock("a.txt")
    friend.client.error("DELETE", f"{ws.root}/locks/{held['id']}", 403, "forbidden")
    api.delete(f"{ws.root}/locks/{held['id']}", 204)
    api.error("DELETE", f"{ws.root}/locks/{held['id']}", 404, "not_found")
    api.error("DELETE", f"{ws.root}/locks/first", 400, "bad_request")
    assert "lock.break" in [event["kind"] for event in ws.events()["items"]]
    ours = ws.lock("a.txt")
    assert ours["fence"] > held["fence"]
    ws.put("a.txt", b"ours", X_Sandkeep_Lock=ours["token"], X_Sandkeep_Fence=str(ours["fence"]))
    late = friend.client.put(ws.file("a.txt"), data=b"late", headers={"X-Sandkeep-Lock": held["token"], "X-Sandkeep-Fence": str(held["fence"])})
    assert late.status_code == 412
    api.post(f"{ws.root}/locks/release", 204, json={"token": ours["token"]})
    friend.client.error("PUT", ws.file("a.txt"), 412, "precondition_failed", data=b"later", headers={"X-Sandkeep-Fence": str(held["fence"])})
    assert ws.read("a.txt") == b"ours"


def wait_for_lock(friend, path, wait_s, results):
    results.append(friend.client.post(f"{friend.root}/locks", json={"path": path, "wait_s": wait_s}))


def test_waiting_for_a_lock_ends_when_it_is_released(api, ws, friend):
    held = ws.lock("a.txt")
    results = []
    waiter = threading.Thread(target=wait_for_lock, args=(friend, "a.txt", 30, results))
    waiter.start()
    waiter.join(0.5)
    assert waiter.is_alive() and not results
    begin = time.monotonic()
    api.post(f"{ws.root}/locks/release", 204, json={"token": held["token"]})
    waiter.join(20)
    assert results[0].status_code == 201 and time.monotonic() - begin < 10
    assert results[0].json()["fence"] > held["fence"]
    ws.client.error("PUT", ws.file("a.txt"), 423, "locked", data=b"x")


def test_waiting_for_a_lock_ends_with_423_when_nobody_gives_it_back(ws, friend):
    ws.lock("a.txt", purpose="long")
    begin = time.monotonic()
    error = friend.client.error("POST", f"{ws.root}/locks", 423, "locked", json={"path": "a.txt", "wait_s": 1})
    assert error["purpose"] == "long" and time.monotonic() - begin >= 0.9


def test_a_free_lock_is_not_waited_for(ws):
    begin = time.monotonic()
    ws.lock("a.txt", wait_s=30)
    assert time.monotonic() - begin < 15


def test_a_client_that_left_while_waiting_does_not_get_the_lock(api, ws, friend, server):
    import socket
    held = ws.lock("a.txt")
    body = b'{"path": "a.txt", "wait_s": 60}'
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(f"POST {ws.root}/locks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {friend.client.key}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        time.sleep(0.3)
    time.sleep(0.5)
    api.post(f"{ws.root}/locks/release", 204, json={"token": held["token"]})
    time.sleep(0.5)
    assert api.get(f"{ws.root}/locks", 200).json()["items"] == []


def test_of_many_that_wait_each_gets_it_in_turn(api, ws, server):
    count = 8
    order = []

    def take(number):
        mine = ws.seen_by(Client(server))
        lock = mine.lock("shared.txt", wait_s=60)
        order.append(lock["fence"])
        mine.client.put(mine.file("shared.txt"), data=f"{number}", headers={"X-Sandkeep-Lock": lock["token"], "X-Sandkeep-Fence": str(lock["fence"])}).raise_for_status()
        mine.client.post(f"{mine.root}/locks/release", 204, json={"token": lock["token"]})

    threads = [threading.Thread(target=take, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    assert len(order) == count and order == sorted(order)
    assert ws.entry("shared.txt")["version_count"] == count


def test_a_lock_that_runs_out_frees_its_path_and_is_on_the_record(make_server):
    api = Client(make_server("--lock-ttl-min-s", "1", "--lock-ttl-max-s", "10"))
    ws = api.workspace("w")
    held = ws.lock("a.txt", ttl_s=1)
    got = ws.lock("a.txt", ttl_s=10, wait_s=30)
    assert got["fence"] > held["fence"]
    deadline = time.monotonic() + 30
    while "lock.expire" not in [event["kind"] for event in ws.events()["items"]]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    stale = api.put(ws.file("a.txt"), data=b"x", headers={"X-Sandkeep-Lock": held["token"]})
    assert stale.status_code == 412


def test_a_lock_acquired_at_the_deadline_stays_with_its_waiter(make_server):
    """A lock that runs out just when the wait for it ends."""
    api = Client(make_server("--lock-ttl-min-s", "1"))
    ws = api.workspace("w")
    acquired = []

    def take(path):
        mine = ws.seen_by(Client(api.server))
        mine.lock(path, ttl_s=1)
        answer = mine.client.post(f"{ws.root}/locks", json={"path": path, "ttl_s": 60, "wait_s": 1})
        if answer.status_code == 201:
            acquired.append(answer.json())
        else:
            assert answer.status_code == 423, answer.text

    threads = [threading.Thread(target=take, args=(f"{number}.txt",)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert acquired
    held = {lock["id"] for lock in api.get(f"{ws.root}/locks", 200).json()["items"]}
    for lock in acquired:
        assert lock["id"] in held, f"{lock['path']} was answered and released"
        api.error("POST", f"{ws.root}/locks", 423, "locked", json={"path": lock["path"]})
        ws.put(lock["path"], b"mine", 201, X_Sandkeep_Lock=lock["token"])
    assert len(held) == len(acquired)


def test_a_server_that_stops_answers_waiters_and_leaves_no_lock_behind(make_server):
    server = make_server()
    api = Client(server)
    ws = api.workspace("w")
    held = ws.lock("a.txt")
    answers = []
    body = {"path": "a.txt", "wait_s": 60}
    threads = [threading.Thread(target=lambda: answers.append(Client(server).post(f"{ws.root}/locks", json=body))) for _ in range(5)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 20
    while api.metric("sandkeep_http_requests_under_way") < 6 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert server.stop() == 0
    for thread in threads:
        thread.join(30)
    assert [answer.status_code for answer in answers] == [503] * 5
    server.start()
    assert [lock["id"] for lock in api.get(f"{ws.root}/locks", 200).json()["items"]] == [held["id"]]


def test_every_step_of_a_lock_is_in_the_journal(api, ws):
    lock = ws.lock("a.txt")
    ws.post("locks/renew", 200, token=lock["token"])
    api.post(f"{ws.root}/locks/release", 204, json={"token": lock["token"]})
    events = ws.events(kinds="lock.*")["items"]
    assert [event["kind"] for event in events] == ["lock.acquire", "lock.renew", "lock.release"]
    assert {event["facts"]["lock_id"] for event in events} == {lock["id"]} and lock["token"] not in str(events)
