"""Requests that a client sends again because it did not hear the answer: their code runs once, and each is answered with that one execution."""

import sqlite3
import threading

import pytest

from sandkeep_server import Server
from sessions_client import Keep, wait_for

BLOCK = "print('ready', flush=True)\nimport time; time.sleep(1000)"
APPEND = "with open('log', 'a') as log: log.write('x')"


@pytest.fixture(scope="module")
def server():
    one = Server(environment={"SANDKEEP_SANDBOX": "required"}).start()
    yield one
    assert one.stop() == 0
    one.remove()


class Asking:
    """Requests to one session, and the header that says which are answered with an earlier execution."""

    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        self.keep = Keep(server)
        self.session = self.keep.create(folder=folder)
        self.path = f"/api/v1/sessions/{self.session['id']}/executions"

    def post(self, code, key, status=200, **more):
        answer = self.keep.call("POST", self.path, status, json={"code": code, **more}, headers={"Idempotency-Key": key})
        return answer.json(), answer.headers.get("Idempotent-Replayed") == "true"

    def post_beside(self, code, key):
        """Waits for the answer on a thread; a server that dies takes it along."""
        def ask():
            try:
                Keep(self.server).call("POST", self.path, json={"code": code}, headers={"Idempotency-Key": key})
            except OSError:
                pass

        thread = threading.Thread(target=ask)
        thread.start()
        return thread

    def newest(self):
        items = self.keep.call("GET", self.path).json()["items"]
        return items[0] if items else None

    def log(self):
        return self.keep.read(f"{self.folder}/log").decode() if "log" in self.keep.files(self.folder) else ""


def test_a_repeat_joins_what_runs_and_is_answered_from_the_record_of_what_is_over(server):
    asking = Asking(server, "joined")
    first, again = asking.post(BLOCK, "key 1", 202, wait=False)
    assert not again
    second, again = asking.post(BLOCK, "key 1", 202, wait=False)
    assert again and second["id"] == first["id"]
    asking.keep.printed_until(f"{asking.path}/{first['id']}", "ready")
    waiting = asking.post_beside(BLOCK, "key 1")
    asking.keep.call("POST", f"{asking.path}/{first['id']}/cancel")
    waiting.join(60)
    assert not waiting.is_alive()
    for more in ({}, {"wait": True}):
        third, again = asking.post(BLOCK, "key 1", **more)
        assert again and third["id"] == first["id"] and third["end"] == "interrupted" and "ready" in str(third["outputs"])
    assert asking.keep.get(asking.session)["execution_count"] == 1


def test_a_repeat_of_a_session_that_sleeps_does_not_wake_it(server):
    asking = Asking(server, "asleep")
    first, _ = asking.post(APPEND, "k")
    asking.keep.call("POST", f"/api/v1/sessions/{asking.session['id']}/sleep")
    second, again = asking.post(APPEND, "k")
    assert again and second["id"] == first["id"] and [file["path"] for file in second["kept"]] == ["asleep/log"]
    assert asking.keep.get(asking.session)["status"] == "asleep" and asking.log() == "x"


def test_a_repeat_that_streams_gets_the_whole_answer(server):
    asking = Asking(server, "streamed")
    first, _ = asking.post("print('hello')", "k")
    answer = asking.keep.call("POST", asking.path, json={"code": "print('hello')", "stream": True}, headers={"Idempotency-Key": "k"})
    assert answer.headers["Idempotent-Replayed"] == "true" and "event: done" in answer.text and first["id"] in answer.text


def test_a_key_is_for_one_piece_of_code_in_one_session(server):
    asking, other = Asking(server, "one"), Asking(server, "other")
    first, _ = asking.post(APPEND, "k")
    for wanted in ({"code": "print('else')"}, {"code": APPEND, "language": "bash"}):
        refused = asking.keep.call("POST", asking.path, 409, json=wanted, headers={"Idempotency-Key": "k"}).json()["error"]
        assert refused["code"] == "conflict"
    elsewhere, again = other.post(APPEND, "k")
    assert not again and elsewhere["id"] != first["id"]
    without = asking.keep.run(asking.session, APPEND)
    assert without["id"] != first["id"] and asking.log() == "xx"


@pytest.mark.parametrize("key", ["", "k" * 256, "tab\tinside"])
def test_a_key_that_is_no_short_text_is_refused(server, key):
    asking = Asking(server, "bad")
    asking.keep.call("POST", asking.path, 400, json={"code": "1"}, headers={"Idempotency-Key": key})
    asking.post("1", "k" * 255)


def test_two_equal_requests_at_once_run_once(server):
    asking = Asking(server, "at once")
    threads = [asking.post_beside(APPEND, "k") for _ in range(6)]
    for thread in threads:
        thread.join()
    assert asking.log() == "x"


def test_a_repeat_after_the_server_was_killed_finds_what_it_left(make_user_server):
    server = make_user_server()
    asking = Asking(server, "killed")
    code = APPEND + "\n" + BLOCK
    thread = asking.post_beside(code, "running")
    running = wait_for(asking.newest)
    asking.keep.printed_until(f"{asking.path}/{running['id']}", "ready")
    waiting = asking.post_beside(APPEND, "waiting")
    wait_for(lambda: asking.keep.get(asking.session)["execution_count"] == 2)
    server.kill()
    thread.join()
    waiting.join()
    server.start()
    asking.keep = Keep(server)
    crashed, again = asking.post(code, "running")
    assert again and crashed["id"] == running["id"] and crashed["end"] == "crash"
    # What had not begun runs now, once, whether or not anybody asks for it.
    done, again = asking.post(APPEND, "waiting")
    assert again and done["end"] == "ok" and done["number"] == 2
    assert asking.log() == "xx"


def test_a_key_is_forgotten_after_a_day(make_user_server):
    server = make_user_server()
    asking = Asking(server, "later")
    first, _ = asking.post(APPEND, "k")
    server.stop()
    db = sqlite3.connect(server.data / "catalog.db")
    db.execute("UPDATE executions SET created_us = created_us - 23 * 3600 * 1000000")
    db.commit()
    db.close()
    server.start()
    asking.keep = Keep(server)
    assert asking.post(APPEND, "k")[0]["id"] == first["id"]
    server.stop()
    db = sqlite3.connect(server.data / "catalog.db")
    db.execute("UPDATE executions SET created_us = created_us - 2 * 3600 * 1000000")
    db.commit()
    db.close()
    server.start()
    asking.keep = Keep(server)
    second, again = asking.post(APPEND, "k")
    assert not again and second["id"] != first["id"] and asking.log() == "xx"
    assert asking.post(APPEND, "k")[0]["id"] == second["id"]
