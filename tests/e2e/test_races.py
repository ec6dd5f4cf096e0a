"""Nobody overwrites anybody: clients that race for one file, servers that race for one folder, and a server that is told to stop amid it all."""

import signal
import socket
import subprocess
import threading

import pytest

from durability import LONG, Ledger, Lost, Wire, all_pages, at, verify
from sandkeep_server import ROOT_KEY, Server, binary

WORKSPACE = "/api/v1/workspaces/default"
ROUNDS = 10_000 if LONG else 2000
FLAGS = ("--sandbox", "off", "--log-level", "warn")


@pytest.fixture(scope="module")
def racecourse():
    """One server for the races, without requests in its log."""
    server = Server(*FLAGS).start()
    yield server
    code = server.stop()
    server.remove()
    assert code == 0


def race(*runners):
    """All at once; the failure of any of them is the test's."""
    failures = []
    go = threading.Barrier(len(runners))

    def run(runner):
        try:
            go.wait()
            runner()
        except BaseException as failure:  # pylint: disable=broad-except
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(runner,)) for runner in runners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def versions_of(wire, path):
    return list(all_pages(wire, f"{WORKSPACE}/versions/{path}"))


def assert_one_line_of_versions(wire, path, ids):
    """Exactly these versions, numbered without a gap, each based on the one before, and each with its own bytes."""
    found = versions_of(wire, path)
    assert {version["id"] for version in found} == set(ids)
    assert [version["number"] for version in found] == list(range(len(found), 0, -1))
    for newer, older in zip(found, found[1:]):
        assert newer["base_id"] == older["id"]


def test_counting_with_preconditions_loses_no_update(racecourse):
    """Each of two clients reads a number and writes the next one, if nobody else wrote meanwhile."""
    ids = []
    refused = []

    def count():
        with Wire(racecourse) as wire:
            done = 0
            while done < ROUNDS // 2:
                read = wire.call("GET", at("count")).ok()
                answer = wire.call("PUT", at("count"), str(int(read.body) + 1).encode(), {"If-Match": read.headers["ETag"]})
                if answer.status == 412:
                    error = answer.json()["error"]
                    assert error["code"] == "precondition_failed" and error["current_version_id"] != read.headers["ETag"].strip('"')
                    refused.append(1)
                    continue
                ids.append(answer.ok().json()["version"]["id"])
                done += 1

    with Wire(racecourse) as wire:
        ids.append(wire.call("PUT", at("count"), b"0").ok().json()["version"]["id"])
        race(count, count)
        assert wire.call("GET", at("count")).ok().body == str(ROUNDS).encode()
        assert refused, "the two never met: nothing was tested"
        assert len(set(ids)) == ROUNDS + 1
        assert_one_line_of_versions(wire, "count", ids)
        for version in versions_of(wire, "count")[:: max(1, ROUNDS // 100)]:
            assert wire.call("GET", f"/k/{version['id']}/count").ok().body == str(version["number"] - 1).encode()


def test_counting_under_a_lock_loses_no_update(racecourse):
    """The same without preconditions: whoever holds the lock is alone. Fences grow with every holder."""
    rounds = ROUNDS // 10
    fences = []

    def count():
        with Wire(racecourse) as wire:
            for _ in range(rounds // 2):
                lock = {}
                while "token" not in lock:
                    lock = wire.call("POST", f"{WORKSPACE}/locks", {"path": "locked", "ttl_s": 60, "wait_s": 30}).json()
                number = int(wire.call("GET", at("locked")).ok().body) + 1
                fences.append(lock["fence"])
                wire.call("PUT", at("locked"), str(number).encode(), {"X-Sandkeep-Lock": lock["token"], "X-Sandkeep-Fence": str(lock["fence"])}).ok()
                wire.call("POST", f"{WORKSPACE}/locks/release", {"token": lock["token"]}).ok()

    def intrude():
        """Somebody who does not ask for the lock gets in only while nobody has it."""
        with Wire(racecourse) as wire:
            for _ in range(rounds // 4):
                read = wire.call("GET", at("locked")).ok()
                answer = wire.call("PUT", at("locked"), read.body, {"If-Match": read.headers["ETag"]})
                assert answer.status in (200, 412, 423), answer.body

    with Wire(racecourse) as wire:
        wire.call("PUT", at("locked"), b"0").ok()
        race(count, count, intrude)
        assert wire.call("GET", at("locked")).ok().body == str(rounds).encode()
        assert fences == sorted(set(fences))


def test_without_either_every_write_stays_a_version(racecourse):
    ledger, heads = Ledger(), []

    def write(name):
        with Wire(racecourse) as wire:
            for number in range(ROUNDS // 8):
                content = f"{name} {number}".encode()
                ledger.sending(content)
                change = wire.call("PUT", at("free"), content).ok().json()
                ledger.acknowledged([change])
            heads.append(change["version"]["id"])

    with Wire(racecourse) as wire:
        race(*(lambda name=name: write(name) for name in "abcd"))
        assert len(ledger) == 4 * (ROUNDS // 8)
        found = versions_of(wire, "free")
        assert len(found) == len(ledger) and [version["number"] for version in found] == list(range(len(ledger), 0, -1))
        assert found[0]["id"] in heads and found[0]["is_head"]
        ledger.check_versions(wire)


def test_writers_from_one_base_are_both_kept_and_the_file_says_so(racecourse):
    """Each names the version that it began with. Nobody's bytes are lost, and who was overtaken is told."""
    answers = []

    def write(name, base):
        with Wire(racecourse) as wire:
            answers.append(wire.call("PUT", at("base"), name.encode(), {"X-Sandkeep-Base": base}).ok().json())

    with Wire(racecourse) as wire:
        for number in range(20):
            base = wire.call("PUT", at("base"), f"round {number}".encode(), {"If-Match": "*"} if number else {}).ok().json()["version"]["id"]
            answers.clear()
            race(lambda: write(f"{number} left", base), lambda: write(f"{number} right", base))
            assert sorted(answer["diverged"] for answer in answers) == [False, True]
            assert {wire.call("GET", f"/k/{answer['version']['id']}/x").ok().body for answer in answers} == {f"{number} left".encode(), f"{number} right".encode()}
            assert all(answer["version"]["base_id"] == base for answer in answers)


def test_of_many_that_create_one_file_exactly_one_does(racecourse):
    for number in range(20):
        made = []

        def create(name, number=number, made=made):
            with Wire(racecourse) as wire:
                made.append(wire.call("PUT", at(f"new/{number}"), name.encode(), {"If-None-Match": "*"}).status)

        race(*(lambda name=name: create(name) for name in "abcde"))
        assert sorted(made) == [201, 412, 412, 412, 412]


def test_of_many_that_move_one_file_exactly_one_does(racecourse):
    with Wire(racecourse) as wire:
        for number in range(20):
            wire.call("PUT", at(f"move/{number}"), b"x").ok()
            moved = []

            def move(name, number=number, moved=moved):
                with Wire(racecourse) as own:
                    moved.append((own.call("POST", f"{WORKSPACE}/move", {"from": f"move/{number}", "to": f"moved/{number}-{name}"}).status, name))

            race(*(lambda name=name: move(name) for name in "abcd"))
            winners = [name for status, name in moved if status == 200]
            assert len(winners) == 1 and {status for status, name in moved if name not in winners} == {404}, moved
            found = wire.call("GET", f"{WORKSPACE}/list?folder=moved&glob={number}-*").ok().json()["items"]
            assert [entry["name"] for entry in found] == [f"{number}-{winners[0]}"]


def test_moves_that_cross_each_other_never_lose_a_folder(racecourse):
    """Each moves its folder into the other's: one of them at most can be carried out, and nothing may end up inside itself."""
    with Wire(racecourse) as wire:
        for number in range(20):
            for side in ("left", "right"):
                wire.call("PUT", at(f"cross/{number}/{side}/file"), side.encode()).ok()

            def move(side, other, number=number):
                with Wire(racecourse) as own:
                    answer = own.call("POST", f"{WORKSPACE}/move", {"from": f"cross/{number}/{side}", "to": f"cross/{number}/{other}/{side}"})
                    assert answer.status in (200, 404, 400, 409), answer.body

            race(lambda: move("left", "right"), lambda: move("right", "left"))
            found = wire.call("GET", f"{WORKSPACE}/list?folder=cross/{number}&recursive=true").ok().json()["items"]
            assert len([entry for entry in found if entry["kind"] == "file"]) == 2, found
        verify(wire)


def test_a_second_server_leaves_the_first_alone_and_may_follow_it(make_server):
    """The folder is its holder's while that lives, however it ends."""
    first = make_server(*FLAGS)
    ledger = Ledger()
    stop = threading.Event()

    def write():
        with Wire(first) as wire:
            number = 0
            while not stop.is_set():
                number += 1
                content = f"{number}".encode() * 1000
                ledger.sending(content)
                ledger.acknowledged([wire.call("PUT", at("file"), content).ok().json()])

    def intrude():
        for _ in range(5):
            command = [str(binary()), "serve", "--data", str(first.data), "--listen", "127.0.0.1:0", "--sandbox", "off"]
            refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env={"HOME": str(first.folder), "SANDKEEP_ROOT_KEY": ROOT_KEY})
            assert refused.returncode != 0 and "another server" in refused.stderr, refused
        stop.set()

    race(write, intrude)
    with Wire(first) as wire:
        ledger.check_versions(wire)
        verify(wire)
    second = Server(*FLAGS)
    try:
        second.data = first.data
        first.kill()
        second.start()
        with Wire(second) as wire:
            ledger.check_versions(wire)
    finally:
        second.remove()


def half_sent(server, path, length):
    """An upload whose second half is still to come, and that the server has begun to take."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    head = [f"PUT {at(path)} HTTP/1.1", "Host: x", f"Authorization: Bearer {ROOT_KEY}", f"Content-Length: {length}", "Expect: 100-continue", "", ""]
    connection.sendall("\r\n".join(head).encode())
    assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.sendall(b"a" * (length // 2))
    return connection


def test_sigterm_lets_requests_finish_and_refuses_new_ones(make_server):
    """Under load: whatever was taken is answered, and what was answered is kept."""
    server = make_server(*FLAGS)
    ledger = Ledger()
    failures = []

    def write(name):
        try:
            with Wire(server) as wire:
                for number in range(1_000_000):
                    content = f"{name} {number}".encode() * 200
                    ledger.sending(content)
                    answer = wire.call("PUT", at(f"{name}/{number % 10}"), content)
                    if answer.status == 503:
                        return
                    ledger.acknowledged([answer.ok().json()])
        except Lost:
            pass
        except BaseException as failure:  # pylint: disable=broad-except
            failures.append(failure)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    uploads = [half_sent(server, f"half/{number}", 400_000) for number in range(4)]
    ledger.wait_for(50, lambda: not failures)
    server.process.send_signal(signal.SIGTERM)
    # Those that the server answers no more have seen that it stops.
    for thread in threads:
        thread.join()
    assert not failures, failures
    for upload in uploads:
        upload.sendall(b"b" * 200_000)
    for upload in uploads:
        assert upload.recv(65536).startswith(b"HTTP/1.1 201"), server.log()
        upload.close()
    assert server.process.wait(60) == 0, server.log()
    assert "fatal" not in server.log()
    server.start()
    with Wire(server) as wire:
        ledger.check_versions(wire)
        for number in range(4):
            assert wire.call("GET", at(f"half/{number}")).ok().body == b"a" * 200_000 + b"b" * 200_000
        verify(wire)
