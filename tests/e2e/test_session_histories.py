"""Random histories of sessions: several folders at once, each with two sessions and a client from outside, under a server that is killed and stopped.

Each folder has one thread, which knows what its folder must look like after every answer. What was under way when the server went may have
happened, in part or not at all; everything else must be there. SK_SEED repeats the choices, though not the moments.
"""

import json
import random
import threading

import requests

from durability import LONG, Ledger, Wire, make_random, sha256, verify
from kept_folders import entries, in_trash
from session_cells import INVENTORY, content, make_cell
from sessions_client import USERS, Keep, UserServer, text_of
from test_crash import audit_holds

BUDGET_S = 600 if LONG else 25
FOLDERS = 3
WORKSPACE = "/api/v1/workspaces/default"
ENDINGS = ["os._exit(1)", "os.kill(os.getpid(), 9)"]


class Cut(Exception):
    """The server went while a request was under way."""


class Chaos:
    """Kills or stops the server now and then, and starts it again."""

    def __init__(self, server, rng):
        self.server, self.rng = server, rng
        self.up = threading.Event()
        self.up.set()
        self.over = threading.Event()
        self.folders = []
        self.kills = self.stops = 0
        self.failure = None
        self.thread = threading.Thread(target=self.run)

    def await_steps(self, more):
        """Until the folders did so many more steps, which a busy machine takes longer for; false when the test is over."""
        wanted = more + sum(folder.steps for folder in self.folders)
        while sum(folder.steps for folder in self.folders) < wanted:
            if self.over.wait(0.02):
                return False
        return not self.over.is_set()

    def run(self):
        try:
            while self.await_steps(self.rng.randint(5, 60)):
                # Not a wait for anything: the moment within the requests under way is what is random here.
                self.over.wait(self.rng.random() * 0.3)
                self.up.clear()
                if self.rng.random() < 0.7:
                    self.kills += 1
                    self.server.kill()
                else:
                    self.stops += 1
                    code = self.server.stop()
                    assert code == 0, self.server.log()[-3000:]
                self.server.start()
                self.up.set()
        except BaseException as failure:  # pylint: disable=broad-except
            self.failure = failure
            self.over.set()
            self.up.set()


class Folder:
    """One folder's history. `allowed` has, for each path that a request under way touches, the contents it may have (None: no file)."""

    def __init__(self, name, rng, ledger, chaos):
        self.name, self.rng, self.ledger, self.chaos = name, rng, ledger, chaos
        self.server = chaos.server
        self.keep = Keep(self.server)
        self.sessions = [self.keep.create(folder=name, name=name) for _ in range(2)]
        self.files = {}
        self.allowed = {}
        self.removed = set()
        self.was_there = False  # a folder is made with the first thing in it
        self.steps = 0
        self.done = []  # the last steps, for the message of a failure
        self.failure = None
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.chaos.over.is_set():
                try:
                    self.step()
                    self.check()
                except Cut as cut:
                    self.done.append(f"cut: {cut}")
                    self.reconcile()
        except BaseException as failure:  # pylint: disable=broad-except
            self.failure = failure
            self.chaos.over.set()

    # Requests.

    def send(self, method, path, expected, **options):
        """The answer; Cut when the server went, or was going, meanwhile."""
        up = self.chaos.up.is_set()
        try:
            answer = self.keep.http.request(method, self.server.url + path, timeout=120, **options)
        except requests.Timeout:
            raise
        except requests.RequestException as error:
            raise Cut(f"{method} {path}") from error
        if answer.status_code not in expected:
            if answer.status_code >= 500 and not (up and self.chaos.up.is_set()):
                raise Cut(f"{method} {path}: {answer.status_code}")
            raise AssertionError(f"{method} {path} -> {answer.status_code}: {answer.text[:1000]}")
        return answer

    def execute(self, session, code):
        done = self.send("POST", f"/api/v1/sessions/{session['id']}/executions", {200}, json={"code": code}).json()
        self.ledger.acknowledged([{"version": {"id": item["version_id"], "sha256": item["sha256"]}} for item in done["kept"]])
        assert done["not_kept"] == [], done
        return done

    def put(self, path, made):
        self.ledger.sending(made)
        change = self.send("PUT", f"{WORKSPACE}/files/{self.name}/{path}", {200, 201}, data=made).json()
        self.ledger.acknowledged([change])

    # Steps.

    def step(self):
        self.steps += 1
        kinds = [self.run_cell] * 6 + [self.end_kernel] * 2 + [self.put_outside, self.move_outside, self.delete_outside] * 2 + [self.purge_outside, self.go_to_sleep, self.replace_session]
        kind = self.rng.choice(kinds)
        self.done = self.done[-30:] + [kind.__name__]
        kind()

    def settle(self, after):
        """The answer came: the folder looks like this."""
        self.files, self.allowed = after, {}

    def run_cell(self, ending=None):
        cell = make_cell(self.rng, self.files, sizes=(0, 5, 900, 3000))
        for states in cell.states.values():
            for made in states:
                if made is not None:
                    self.ledger.sending(made)
        self.removed |= cell.removed
        self.allowed = cell.states
        session = self.rng.choice(self.sessions)
        code = cell.code + (f"\n{ending}" if ending else "")
        self.done.append(f"{session['id']}: {code}")
        done = self.execute(session, code)
        if done["end"] == "interrupted" or (done["end"] == "crash" and ending is None):
            assert not self.chaos.up.is_set() or self.chaos.stops, done
            raise Cut(f"the execution ended with {done['end']}")
        assert ending or done["end"] == "ok", done
        for item in done["kept"]:
            path = item["path"].removeprefix(self.name + "/")
            # Files that another cell left when the server went are named by the next answer.
            assert path not in cell.after or item["sha256"] in {sha256(made) for made in cell.states.get(path, [cell.after[path]]) if made is not None}, (item, code)
        self.settle(cell.after)

    def end_kernel(self):
        self.run_cell(self.rng.choice(ENDINGS))

    def put_outside(self):
        path, made = f"{self.rng.choice(['', 'd/'])}f{self.rng.randrange(8)}", content(self.rng.random(), self.rng.choice([0, 50, 2000]))
        self.allowed = {path: [self.files.get(path), made]}
        self.put(path, made)
        self.settle({**self.files, path: made})

    def move_outside(self):
        free = [path for path in (f"o{number}" for number in range(6)) if path not in self.files]
        if not self.files or not free:
            return
        path, target = self.rng.choice(sorted(self.files)), self.rng.choice(free)
        self.allowed = {path: [self.files[path], None], target: [None, self.files[path]]}
        self.send("POST", f"{WORKSPACE}/move", {200}, json={"from": f"{self.name}/{path}", "to": f"{self.name}/{target}"})
        after = dict(self.files)
        after[target] = after.pop(path)
        self.settle(after)

    def delete_outside(self):
        if not self.files:
            return None
        path = self.rng.choice(sorted(self.files))
        self.removed.add(path)
        self.allowed = {path: [self.files[path], None]}
        gone = self.send("DELETE", f"{WORKSPACE}/files/{self.name}/{path}", {200}).json()
        self.settle({other: made for other, made in self.files.items() if other != path})
        return gone["id"]

    def purge_outside(self):
        """Its versions are gone for ever; the ledger is told before."""
        if not self.files:
            return
        path = self.rng.choice(sorted(self.files))
        history = self.send("GET", f"{WORKSPACE}/versions/{self.name}/{path}", {200}).json()["items"]
        self.removed.add(path)
        self.allowed = {path: [self.files[path], None]}
        gone = self.send("DELETE", f"{WORKSPACE}/files/{self.name}/{path}", {200}).json()["id"]
        self.settle({other: made for other, made in self.files.items() if other != path})
        self.ledger.purging([version["id"] for version in history])
        self.send("DELETE", f"{WORKSPACE}/trash/{gone}", {200})

    def go_to_sleep(self):
        self.send("POST", f"/api/v1/sessions/{self.rng.choice(self.sessions)['id']}/sleep", {200})

    def replace_session(self):
        number = self.rng.randrange(2)
        self.send("DELETE", f"/api/v1/sessions/{self.sessions[number]['id']}", {204})
        self.sessions[number] = self.send("POST", "/api/v1/sessions", {201}, json={"folder": self.name, "name": self.name}).json()

    # What must hold.

    def listed(self):
        answer = self.send("GET", f"{WORKSPACE}/list?folder={self.name}", {200, 404})
        if answer.status_code == 404:
            assert not self.was_there, self.explain({}, {path: sha256(made) for path, made in self.files.items()})
            return {}
        self.was_there = True
        try:
            return {path: entry["sha256"] for path, entry in entries(self.keep, self.name).items()}
        except requests.RequestException as error:
            raise Cut("a listing") from error

    def check(self):
        expected = {path: sha256(made) for path, made in self.files.items()}
        found = self.listed()
        assert found == expected, self.explain(found, expected)
        if self.rng.random() < 0.2:
            self.check_copies()

    def check_copies(self):
        """Code sees what the workspace has, in both sessions; and the trash has only what was deleted."""
        for session in self.sessions:
            done = self.execute(session, INVENTORY)
            if done["end"] != "ok":
                raise Cut(f"the execution ended with {done['end']}")
            seen = json.loads(text_of(done).split("INVENTORY")[1])
            expected = {path: sha256(made) for path, made in self.files.items()}
            assert seen == expected, self.explain(seen, expected)
        try:
            trashed = set(in_trash(self.keep, self.name))
        except requests.RequestException as error:
            raise Cut("the trash") from error
        assert trashed <= self.removed, f"nobody deleted {trashed - self.removed}"

    def explain(self, found, expected):
        wrong = {path: (expected.get(path), found.get(path)) for path in {*found, *expected} if found.get(path) != expected.get(path)}
        return f"{self.name} (expected, found): {wrong}\nafter {self.steps} steps, the last:\n" + "\n".join(self.done)

    def reconcile(self):
        """The server went. What was under way may have happened in part; the model takes over what is there."""
        while True:
            self.chaos.up.wait()
            if self.chaos.over.is_set():
                return
            try:
                self.wait_for_executions()
                found = self.listed()
                for path in {*self.files, *self.allowed, *found}:
                    allowed = [sha256(made) if made is not None else None for made in self.allowed.get(path, [self.files.get(path)])]
                    assert found.get(path) in allowed, self.explain(found, {path: sha256(made) for path, made in self.files.items()}) + f"\n{path} may be one of {allowed}"
                after = {}
                for path in found:
                    after[path] = self.send("GET", f"{WORKSPACE}/files/{self.name}/{path}", {200}).content
                    assert sha256(after[path]) == found[path]
                self.settle(after)
                return
            except Cut:
                continue

    def wait_for_executions(self):
        """What was accepted and never started runs after the start of the server; a session that is being deleted may be gone."""
        for session in self.sessions:
            page = self.send("GET", f"/api/v1/sessions/{session['id']}/executions", {200, 404, 410})
            for item in page.json().get("items", []):
                if item["status"] != "done":
                    self.send("GET", f"/api/v1/sessions/{session['id']}/executions/{item['id']}?wait=true", {200})
        for number, session in enumerate(self.sessions):
            if self.send("GET", f"/api/v1/sessions/{session['id']}", {200, 404, 410}).json().get("status") in (None, "deleted"):
                self.sessions[number] = self.send("POST", "/api/v1/sessions", {201}, json={"folder": self.name, "name": self.name}).json()


def test_random_histories_of_sessions_lose_nothing():
    rng = make_random()
    ledger = Ledger()
    server = UserServer(rng.choice(USERS), "--session-copy-keep-s", "1", "--log-level", "warn").start()
    try:
        chaos = Chaos(server, random.Random(rng.random()))
        folders = [Folder(f"folder{number}", random.Random(rng.random()), ledger, chaos) for number in range(FOLDERS)]
        chaos.folders = folders
        for one in [chaos, *folders]:
            one.thread.start()
        chaos.over.wait(BUDGET_S)
        chaos.over.set()
        for one in [chaos, *folders]:
            one.thread.join()
        for one in [chaos, *folders]:
            if one.failure:
                raise AssertionError(f"{one.failure}\n{server.state()}") from one.failure
        with Wire(server) as wire:
            checked = ledger.check_versions(wire)
            verify(wire)
            held, said = audit_holds(wire, server.folder)
            assert held, said
        steps = sum(folder.steps for folder in folders)
        print(f"{steps} steps, {chaos.kills} kills, {chaos.stops} stops, {checked} versions read back")
        assert steps > FOLDERS, "the load was too light to prove anything"
        assert server.stop() == 0 and "fatal" not in server.log()
    finally:
        server.remove()
