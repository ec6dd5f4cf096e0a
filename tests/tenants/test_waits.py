"""Requests that wait for one tenant's session cost no thread of the server: another tenant is served meanwhile."""

import itertools
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import requests

from rest_client import Client
from sessions_client import Keep, text_of, wait_for

WORKERS = 4
EXECUTES = 60
RATIO_MAX = 20  # of the slowest request during the attack to the median before it, in the same run
SHARE_MAX = 0.25  # of the time that the session takes to fall asleep: requests that wait for it take all of it
_numbers = itertools.count(1)

# Uncaptured when the session is put to sleep, which then has to keep all of it.
MANY_FILES = """
import os
for n in range(12_000):
    with open(f'f{n}', 'wb') as f: f.write(os.urandom(512))
print('written', flush=True)
import time; time.sleep(600)
"""


class Tenant(Keep):
    """A principal with a key, a workspace and a session of its own."""

    def __init__(self, server, name):
        super().__init__(server, Client(server).make_principal(f"{name}-{next(_numbers)}")[1].key)
        self.workspace = self.call("POST", "/api/v1/workspaces", 201, json={"name": f"{name}-{next(_numbers)}"}).json()["id"]
        self.session = self.create(workspace=self.workspace, folder="own", timeout_s=600)
        self.run(self.session, "1")

    def send(self, method, path, **options):
        """On a connection of its own; the status and the answer's body."""
        answer = requests.request(method, self.server.url + path, timeout=300, headers=dict(self.http.headers), **options)
        return answer.status_code, answer.json() if answer.content else None

    def path(self, what=""):
        return f"/api/v1/sessions/{self.session['id']}{what}"


class Neighbour(Tenant):
    """Measures its own requests again and again: `with neighbour:` around the attack."""

    def __init__(self, server):
        super().__init__(server, "neighbour")
        self.asked = {"1+1": self._cell, "put": self._put, "healthz": self._healthz}
        rounds = [{name: self._time(ask) for name, ask in self.asked.items()} for _ in range(10)]
        self.idle_s = {name: statistics.median(one[name] for one in rounds) for name in self.asked}
        self.slowest_s = dict.fromkeys(self.asked, 0.0)
        self.rounds = 0

    def _cell(self):
        assert self.run(self.session, "1+1")["end"] == "ok"

    def _put(self):
        self.http.put(f"{self.server.url}/api/v1/workspaces/{self.workspace}/files/note", data=str(next(_numbers)), timeout=180).raise_for_status()

    def _healthz(self):
        self.call("GET", "/healthz")

    @staticmethod
    def _time(ask):
        began = time.monotonic()
        ask()
        return time.monotonic() - began

    def __enter__(self):
        self.ended, self.failure = threading.Event(), None
        self.began = time.monotonic()
        self.thread = threading.Thread(target=self._measure)
        self.thread.start()
        return self

    def _measure(self):
        try:
            while not self.ended.is_set():
                for name, ask in self.asked.items():
                    self.slowest_s[name] = max(self.slowest_s[name], self._time(ask))
                self.rounds += 1
                self.ended.wait(0.02)
        except Exception as error:  # told by __exit__, on the test's own thread
            self.failure = error

    def __exit__(self, kind, error, trace):
        self.ended.set()
        self.thread.join()
        if self.failure is not None:
            raise self.failure

    def check(self, attack_s):
        print(f"{self.rounds} rounds in {attack_s:.2f} s: idle {self.idle_s}, slowest {self.slowest_s}")
        assert self.rounds >= 5
        for name in self.asked:
            assert self.slowest_s[name] <= max(RATIO_MAX * self.idle_s[name], SHARE_MAX * attack_s), name


def writes_many_files(attacker):
    """Runs a cell whose files are not kept yet; its address."""
    execution = attacker.start(attacker.session, MANY_FILES)
    attacker.printed_until(execution, "written")
    return execution


def test_executes_on_a_session_that_falls_asleep_do_not_delay_another_tenant(make_user_server):
    server = make_user_server("--worker-threads", str(WORKERS))
    attacker, neighbour = Tenant(server, "attacker"), Neighbour(server)
    cell = writes_many_files(attacker)
    with ThreadPoolExecutor(EXECUTES + 2) as threads:
        with neighbour:
            began = time.monotonic()
            slept = threads.submit(attacker.send, "POST", attacker.path("/sleep"))
            wait_for(lambda: attacker.call("GET", attacker.path()).json()["status"] == "asleep" or slept.running())
            ran = [threads.submit(attacker.send, "POST", attacker.path("/executions"), json={"code": f"print({n})"}) for n in range(EXECUTES)]
            again = threads.submit(attacker.send, "POST", attacker.path("/sleep"))
            assert slept.result()[0] == 200
            attack_s = time.monotonic() - began
        answers = [one.result() for one in ran]
        assert again.result()[0] == 200
    neighbour.check(attack_s)
    # Each waited for its turn and ran in the woken session, or was ended by the second sleep.
    assert {status for status, _ in answers} == {200}, answers
    for number, (_, done) in enumerate(answers):
        assert done["end"] == "interrupted" or text_of(done) == f"{number}\n", done
    assert attacker.wait(cell)["end"] == "interrupted"
    assert len(attacker.files("own", workspace=attacker.workspace)) == 12_000


def test_a_delete_waits_for_the_session_and_answers_those_behind_it(make_user_server):
    server = make_user_server("--worker-threads", str(WORKERS))
    attacker, neighbour = Tenant(server, "attacker"), Neighbour(server)
    writes_many_files(attacker)
    with ThreadPoolExecutor(EXECUTES + 2) as threads:
        with neighbour:
            began = time.monotonic()
            deleted = threads.submit(attacker.send, "DELETE", attacker.path())
            wait_for(lambda: not deleted.running() or time.monotonic() > began + 0.5)
            ran = [threads.submit(attacker.send, "POST", attacker.path("/executions"), json={"code": "1"}) for _ in range(EXECUTES)]
            assert deleted.result()[0] == 204
            attack_s = time.monotonic() - began
            answers = [one.result()[0] for one in ran]
    neighbour.check(attack_s)
    assert set(answers) <= {404, 410}, answers
    assert len(attacker.files("own", workspace=attacker.workspace)) == 12_000


def test_requests_over_the_queue_are_refused_at_once(make_user_server):
    server = make_user_server("--worker-threads", str(WORKERS))
    attacker = Tenant(server, "attacker")
    writes_many_files(attacker)
    count = 130  # the queue of a session has 100 places
    with ThreadPoolExecutor(count + 1) as threads:
        slept = threads.submit(attacker.send, "POST", attacker.path("/sleep"))
        time.sleep(0.3)
        ran = [threads.submit(attacker.send, "POST", attacker.path("/executions"), json={"code": "1"}) for _ in range(count)]
        statuses = [one.result()[0] for one in ran]
        assert slept.result()[0] == 200
    assert statuses.count(429) >= count - 101 - 20 and statuses.count(200) >= 1, statuses
    assert set(statuses) == {200, 429}, statuses


def test_a_request_whose_client_left_is_not_run(make_user_server):
    server = make_user_server("--worker-threads", str(WORKERS))
    attacker = Tenant(server, "attacker")
    writes_many_files(attacker)
    with ThreadPoolExecutor(2) as threads:
        slept = threads.submit(attacker.send, "POST", attacker.path("/sleep"))
        time.sleep(0.3)
        try:
            requests.post(server.url + attacker.path("/executions"), json={"code": "open('left', 'w').write('x')"},
                          headers=dict(attacker.http.headers), timeout=0.5)
            left = False
        except requests.Timeout:
            left = not slept.done()
        assert slept.result()[0] == 200
    done = attacker.run(attacker.session, "import os; print(os.path.exists('left'))")
    if left:  # else the sleep was over first
        assert text_of(done) == "False\n" and done["number"] == 3, done
