"""The power goes: whatever an answer promised is there after the next boot, and nothing is there that nobody wrote.

The data folder is on a file system whose power is really cut (see power.py), so that a missing fsync shows. After a boot a session's copy of its
files may hold anything: files that lost their bytes, old ones, deletions that were never answered. None of that may become the current version of a
file, be taken for a deletion, or be thrown away.
"""

import json
import random
import signal
import threading
from pathlib import Path

import pytest

from durability import LONG, Ledger, Lost, Wire, all_pages, at, make_random, sha256, verify
from kept_folders import entries, entries_if_any, in_trash, sleep, versions
from power import DROP_LOG, KEEP_LOG, PowerServer
from session_cells import INVENTORY, make_cell
from sessions_client import Keep, text_of, wait_for
from test_crash import WORKSPACE, Worker, audit_holds, make_workers

CUTS = 60 if LONG else 5
SESSION_CUTS = 60 if LONG else 3
KIB = 1 << 10


@pytest.fixture
def make_power_server():
    made = []

    def make(*flags, **options):
        made.append(PowerServer(*flags, **options))
        return made[-1].start()

    yield make
    for one in made:
        one.remove()


class PowerWire(Wire):
    """A connection whose last answer comes before the power goes. What a server says while its disk is already dead, nobody would have heard."""

    def call(self, method, path, body=None, headers=None):
        answer = super().call(method, path, body, headers)
        if self.server.failing.is_set():
            raise Lost(f"{method} {path}: {answer.status} after the power was gone")
        return answer


class Uploader(Worker):
    """Uploads files in parts, over several boots. A part that was acknowledged need not be sent again."""

    def __init__(self, name, rng, ledger):
        super().__init__(name, rng, ledger)
        self.open = []
        self.completing = None

    def begin(self, wire):
        pieces = [self.bytes(1, 300 * KIB) for _ in range(self.rng.randint(1, 6))]
        whole = b"".join(pieces)
        self.ledger.sending(whole)
        wanted = {"filename": f"{self.name}.bin", "purpose": "user_data", "bytes": len(whole), "mime_type": "application/octet-stream"}
        made = wire.call("POST", "/v1/uploads", wanted).ok().json()
        self.open.append({"id": made["id"], "pieces": pieces, "parts": [], "whole": whole})

    def send_part(self, wire, upload):
        boundary = b"part-" + self.rng.randbytes(8).hex().encode()
        piece = upload["pieces"][len(upload["parts"])]
        body = b'--%b\r\nContent-Disposition: form-data; name="data"; filename="p"\r\n\r\n%b\r\n--%b--\r\n' % (boundary, piece, boundary)
        made = wire.call("POST", f"/v1/uploads/{upload['id']}/parts", body, {"Content-Type": f"multipart/form-data; boundary={boundary.decode()}"}).ok().json()
        upload["parts"].append(made["id"])

    def complete(self, wire, upload):
        self.completing = upload
        done = wire.call("POST", f"/v1/uploads/{upload['id']}/complete", {"part_ids": upload["parts"]}).ok().json()
        self.open.remove(upload)
        self.completing = None
        self.assert_whole(wire, done["file"]["id"], upload)
        self.ledger.acknowledged()

    def assert_whole(self, wire, file, upload):
        content = wire.call("GET", f"/v1/files/{file}/content").ok().body
        assert sha256(content) == sha256(upload["whole"]), "an upload has other bytes than its parts"

    def step(self, wire):
        if len(self.open) < 4:
            self.begin(wire)
        upload = self.rng.choice(self.open)
        if len(upload["parts"]) < len(upload["pieces"]):
            self.send_part(wire, upload)
        else:
            self.complete(wire, upload)

    def check(self, wire, listed):
        if self.completing:
            # Done or not, and then it can be done now.
            again = wire.call("POST", f"/v1/uploads/{self.completing['id']}/complete", {"part_ids": self.completing["parts"]})
            if again.status == 200:
                self.assert_whole(wire, again.json()["file"]["id"], self.completing)
            else:
                digests = {entry["sha256"] for entry in listed.values()}
                assert sha256(self.completing["whole"]) in digests, f"neither complete nor open: {again.status} {again.body}"
            self.open.remove(self.completing)
            self.completing = None
        for upload in list(self.open):
            while len(upload["parts"]) < len(upload["pieces"]):
                self.send_part(wire, upload)
            self.complete(wire, upload)


class Locker(Worker):
    """Takes, renews and gives back locks. A lock that was given is held, and numbers never come again."""

    def __init__(self, name, rng, ledger):
        super().__init__(name, rng, ledger)
        self.held = {f"{name}/{number}": None for number in range(4)}
        self.fence = 0
        self.under_way = None

    def step(self, wire):
        path = self.rng.choice(list(self.held))
        self.under_way = path
        lock = self.held[path]
        if lock is None:
            lock = wire.call("POST", f"{WORKSPACE}/locks", {"path": path, "ttl_s": 3600}).ok().json()
            assert lock["fence"] > self.fence, f"{lock['fence']} was given before, when {self.fence} was the last"
            self.fence = lock["fence"]
            self.held[path] = lock
        elif self.rng.random() < 0.3:
            self.held[path].update(wire.call("POST", f"{WORKSPACE}/locks/renew", {"token": lock["token"], "ttl_s": 3000}).ok().json())
        else:
            wire.call("POST", f"{WORKSPACE}/locks/release", {"token": lock["token"]}).ok()
            self.held[path] = None
        self.under_way = None
        self.ledger.acknowledged()

    def check(self, wire, listed):
        found = {lock["path"]: lock for lock in wire.call("GET", f"{WORKSPACE}/locks").ok().json()["items"] if lock["path"] in self.held}
        for path, lock in self.held.items():
            if path == self.under_way:
                if path in found and (lock is None or found[path]["id"] != lock["id"]):
                    wire.call("DELETE", f"{WORKSPACE}/locks/{found[path]['id']}").ok()  # its token never arrived
                    self.fence = max(self.fence, found[path]["fence"])
                    self.held[path] = None
                elif path not in found:
                    self.held[path] = None
                continue
            assert (path in found) == (lock is not None), f"{path}: {lock} was acknowledged, {found.get(path)} is there"
            assert lock is None or (found[path]["id"], found[path]["fence"]) == (lock["id"], lock["fence"])
        self.under_way = None


class Trasher(Worker):
    """Deletes, restores and purges. Each file is where it was put last."""

    def __init__(self, name, rng, ledger):
        super().__init__(name, rng, ledger)
        self.files = {}  # id -> [path, place, version]
        self.number = 0
        self.under_way = None

    def step(self, wire):
        self.number += 1
        if len(self.files) < 5:
            path, content = f"{self.name}/{self.number}", self.bytes(1, 200 * KIB)
            self.ledger.sending(content)
            made = wire.call("PUT", at(path), content).ok().json()
            self.ledger.acknowledged([made])
            self.files[made["entry"]["id"]] = [path, "file", made["version"]["id"]]
            return
        file = self.rng.choice(list(self.files))
        path, place, version = self.files[file]
        if place == "file":
            self.under_way = file, "trash"
            wire.call("DELETE", at(path)).ok()
        elif self.rng.random() < 0.6:
            self.under_way = file, "file"
            wire.call("POST", f"{WORKSPACE}/trash/{file}/restore", {}).ok()
        else:
            self.under_way = file, "purged"
            self.ledger.purging([version])
            wire.call("DELETE", f"{WORKSPACE}/trash/{file}").ok()
            self.ledger.purged([version])
        self.move(*self.under_way)
        self.under_way = None
        self.ledger.acknowledged()

    def move(self, file, place):
        if place == "purged":
            del self.files[file]
        else:
            self.files[file][1] = place

    def check(self, wire, listed):
        trash = {entry["id"] for entry in all_pages(wire, f"{WORKSPACE}/trash")}
        places = {entry["id"]: "file" for entry in listed.values()} | {file: "trash" for file in trash}
        for file, (path, place, _) in list(self.files.items()):
            found = places.get(file, "purged")
            allowed = {place} | ({self.under_way[1]} if self.under_way and self.under_way[0] == file else set())
            assert found in allowed, f"{path} is {found}, not {allowed}"
            self.move(file, found)
        self.under_way = None


class Talker(Worker):
    """Stores messages of a conversation."""

    def __init__(self, name, rng, ledger):
        super().__init__(name, rng, ledger)
        self.texts = {}
        self.under_way = None

    def step(self, wire):
        name, text = str(self.rng.randrange(20)), f"text {self.rng.random()}"
        self.under_way = name, text
        wire.call("PUT", f"/api/v1/conversations/{self.name}/messages/{name}", {"role": "user", "text": text}).ok()
        self.texts[name] = text
        self.under_way = None
        self.ledger.acknowledged()

    def check(self, wire, listed):
        for name in {*self.texts, *([self.under_way[0]] if self.under_way else [])}:
            answer = wire.call("GET", f"/api/v1/conversations/{self.name}/messages/{name}")
            found = answer.json()["text"] if answer.status == 200 else None
            allowed = {self.texts.get(name)} | ({self.under_way[1]} if self.under_way and self.under_way[0] == name else set())
            assert found in allowed, f"message {name} is {found!r}, not one of {allowed}"
            if found:
                self.texts[name] = found
        self.under_way = None


class Follower(Worker):
    """Reads the journal. What it once saw stays, and means the same for ever."""

    def __init__(self, name, rng, ledger):
        super().__init__(name, rng, ledger)
        self.seen = {}
        self.last = 0

    def step(self, wire):
        for event in wire.call("GET", f"{WORKSPACE}/events?after={self.last}&wait=1").ok().json()["items"]:
            self.seen[event["seq"]] = event["hash"]
            self.last = event["seq"]

    def check(self, wire, listed):
        after = max(0, self.last - 500)
        found = {}
        while after < self.last:
            page = wire.call("GET", f"{WORKSPACE}/events?after={after}").ok().json()
            found.update({event["seq"]: event["hash"] for event in page["items"]})
            assert page["cursor"] > after, f"the journal ends at {after}; {self.last} was seen"
            after = page["cursor"]
        for seq, digest in found.items():
            assert self.seen.get(seq, digest) == digest, f"event {seq} is another one now"


def run_worker(worker, server):
    """As Worker.run, over a wire that knows that the disk may fail."""
    try:
        with PowerWire(server) as wire:
            while True:
                worker.step(wire)
    except Lost:
        pass
    except BaseException as failure:  # pylint: disable=broad-except
        worker.failure = failure


def press_and_cut(server, workers, ledger, rng, answers):
    """All workers at once; the power goes after some answers, somewhere inside the next requests."""
    server.failing = threading.Event()
    threads = [threading.Thread(target=run_worker, args=(worker, server)) for worker in workers]
    for thread in threads:
        thread.start()
    more = rng.randint(1, answers)
    for _ in range(2):
        ledger.wait_for(more // 2 + 1, lambda: all(thread.is_alive() for thread in threads))
        if rng.random() < 0.5:
            server.disk.write_back_some(rng, server.data)
    # Not a wait for anything: the moment of the cut within the requests under way is what is random here.
    threading.Event().wait(rng.random() * 0.03)
    server.failing.set()
    how, kill_first = rng.choice([DROP_LOG, DROP_LOG, KEEP_LOG]), rng.random() < 0.5
    print(f"cut: {how=} {kill_first=}")
    server.cut_power(how, kill_first)
    for thread in threads:
        thread.join()
    for worker in workers:
        if worker.failure:
            raise AssertionError(f"the worker {worker.name} failed:\n{server.log()[-3000:]}") from worker.failure


def cut_while_starting(server, rng):
    server.launch()
    threading.Event().wait(rng.random() * 0.1)
    server.cut_power(rng.choice([DROP_LOG, KEEP_LOG]))


@pytest.mark.parametrize("commit_s", [60, 1])
def test_acknowledged_writes_survive_power_cuts(make_power_server, commit_s):
    rng = make_random()
    ledger = Ledger()
    workers = make_workers(rng, ledger)
    workers += [kind(kind.__name__.lower(), random.Random(rng.random()), ledger) for kind in (Uploader, Locker, Trasher, Talker, Follower)]
    server = make_power_server("--sandbox", "off", "--log-level", "warn", "--disk-reserve-bytes", "0", commit_s=commit_s)
    for _ in range(CUTS):
        press_and_cut(server, workers, ledger, rng, 60)
        if rng.random() < 0.3:
            cut_while_starting(server, rng)
        server.start()
        with Wire(server) as wire:
            listed = ledger.check_listing(wire)
            for worker in workers:
                worker.check(wire, listed)
            ledger.check_new_versions(wire, rng, older=20)
            held, said = audit_holds(wire, server.folder)
            assert held, said
    with Wire(server) as wire:
        checked = ledger.check_versions(wire)
        verify(wire)
    print(f"{CUTS} cuts, {checked} versions acknowledged and read back")
    assert server.stop() == 0


# Sessions.

EMPTY = sha256(b"")


def dictionaries(value):
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from dictionaries(item)


def names_as_recovered(answers, path):
    """Whether answers tell that the file was recovered, in their lists or in what they show to people."""
    for item in dictionaries(answers):
        if item.get("path") == path and "recovered" in (item.get("change"), *(name for name, value in item.items() if value is True)):
            return True
        if any(path in line and "recover" in line for line in str(item.get("text", "")).splitlines()):
            return True
    return False


def on_disk(server, session):
    """The files of a session's copy, as the power cut left them: path -> sha256."""
    copy = Path(server.data) / "copies" / session["id"].removeprefix("s_")
    return {str(path.relative_to(copy)): sha256(path.read_bytes()) for path in copy.rglob("*") if path.is_file() and not path.is_symlink()}


def is_recovered(version):
    return version["source"].get("recovered") is True


class Coder(Worker):
    """Code in a session that writes, overwrites in place, appends, replaces, renames and deletes, in a folder of its own."""

    def __init__(self, name, rng, ledger, keep):
        super().__init__(name, rng, ledger)
        self.session = keep.create(folder=name, timeout_s=60)
        self.folder = name
        self.files = {}  # path -> bytes, as the last answer left them
        self.cell = None  # under way
        self.answered = set()  # executions
        self.removed = set()  # paths that some cell deleted, moved away or replaced
        self.awake = False
        self.known_recovered = set()

    def step(self, wire):
        cell = make_cell(self.rng, self.files)
        for made in cell.after.values():
            self.ledger.sending(made)
        self.removed |= cell.removed
        self.cell = cell
        done = wire.call("POST", f"/api/v1/sessions/{self.session['id']}/executions", {"code": cell.code}).ok().json()
        assert done["end"] == "ok" and done["not_kept"] == [], done
        for item in done["kept"]:
            path = item["path"].removeprefix(self.folder + "/")
            assert item["sha256"] in self.digests(path), f"{path} was kept with other bytes"
        self.ledger.acknowledged([{"version": {"id": item["version_id"], "sha256": item["sha256"]}} for item in done["kept"]])
        self.answered.add(done["id"])
        self.files, self.cell, self.awake = cell.after, None, True

    def digests(self, path):
        """What a path may hold: what the last answer left, or what the cell under way makes of it (None: no file)."""
        states = self.cell.states.get(path) if self.cell else None
        return {sha256(made) if made is not None else None for made in states or [self.files.get(path)]}

    def is_of_the_cell_under_way(self, path, version):
        """Whether a capture during the cell met the file between its truncation and its first bytes."""
        execution = version["source"].get("execution_id")
        return bool(self.cell and path in self.cell.states and execution and execution not in self.answered)

    def check(self, keep, disk):
        """After a boot. `disk` is what the cut left of the copy."""
        listed = entries_if_any(keep, self.folder)
        for path in {*self.files, *(self.cell.states if self.cell else ()), *listed}:
            found = listed[path]["sha256"] if path in listed else None
            if found in self.digests(path):
                continue
            assert found is not None, f"{path} is gone, and nobody deleted it"
            history = versions(keep, f"{self.folder}/{path}")
            if found == EMPTY and self.is_of_the_cell_under_way(path, history[0]):
                continue
            assert path not in self.files and is_recovered(history[0]), (
                f"{path} has bytes that no answer spoke of: {found}, not one of {self.digests(path)}; "
                f"{[(v['number'], v['sha256'], v['is_head'], v['source']) for v in history]}")
        trashed = set(in_trash(keep, self.folder))
        assert trashed <= self.removed, f"nobody deleted {trashed - self.removed}"
        self.next_cell(keep, disk)
        self.cell = None

    def next_cell(self, keep, disk):
        done = keep.run(self.session, INVENTORY)
        assert done["end"] == "ok", done
        # An execution that was accepted before the cut and had not started may have run first.
        path = f"/api/v1/sessions/{self.session['id']}/executions"
        answers = [keep.call("GET", f"{path}/{item['id']}").json() for item in keep.call("GET", path).json()["items"][:3]]
        inventory = json.loads(text_of(done).split("INVENTORY")[1])
        heads = {path: entry["sha256"] for path, entry in entries_if_any(keep, self.folder).items()}
        assert inventory == heads, f"code sees {inventory}, the workspace has {heads}"
        histories = {path: versions(keep, f"{self.folder}/{path}") for path in heads}
        if self.awake:
            for path, digest in disk.items():
                if digest == EMPTY and path in histories:
                    continue  # of a kept file the cut had left no bytes
                if path in self.removed and path not in histories and (digest == EMPTY or self.ledger.has_kept(digest)):
                    continue  # a file that was deleted or moved away, and whose bytes are kept where it went
                assert path in histories, f"{path} was on the disk and is nowhere now"
                assert digest in [version["sha256"] for version in histories[path]], f"{path} had other bytes on the disk, which are nowhere now"
        for path, history in histories.items():
            for version in history:
                if is_recovered(version) and version["id"] not in self.known_recovered:
                    self.known_recovered.add(version["id"])
                    assert names_as_recovered(answers, f"{self.folder}/{path}"), f"{path} was recovered, and no answer says so: {answers}"
        self.files = {path: keep.read(f"{self.folder}/{path}") for path in heads}
        for made in self.files.values():
            self.ledger.sending(made)
        self.awake = True


def session_server(make_power_server, **options):
    return make_power_server("--log-level", "warn", "--disk-reserve-bytes", "0", environment={"SANDKEEP_SANDBOX": "required"}, **options)


def test_sessions_keep_what_was_answered_over_power_cuts(make_power_server):
    rng = make_random()
    server = session_server(make_power_server, commit_s=rng.choice([1, 60]))
    ledger = Ledger()
    coders = [Coder(f"coder{number}", random.Random(rng.random()), ledger, Keep(server)) for number in range(4)]
    for _ in range(SESSION_CUTS):
        press_and_cut(server, coders, ledger, rng, 60)
        disks = [on_disk(server, coder.session) for coder in coders]
        server.start()
        with Wire(server) as wire:
            ledger.check_new_versions(wire, rng, older=20)
            for coder, disk in zip(coders, disks):
                coder.check(Keep(server), disk)
            held, said = audit_holds(wire, server.folder)
            assert held, said
    with Wire(server) as wire:
        checked = ledger.check_versions(wire)
        verify(wire)
    print(f"{SESSION_CUTS} cuts, {checked} versions answered and read back")
    assert server.stop() == 0


@pytest.mark.parametrize("how", [DROP_LOG, KEEP_LOG], ids=["log dropped", "log kept"])
def test_files_that_lost_their_bytes_in_the_copy_are_not_the_current_ones(make_power_server, how):
    server = session_server(make_power_server)
    keep = Keep(server)
    session = keep.create(folder="w")
    keep.run(session, "for i in range(30): open(f'f{i}', 'w').write(f'first {i}' * 100)")
    server.disk.sync()
    done = keep.run(session, "for i in range(15):\n    with open(f'f{i}', 'r+') as f: f.write('second')")
    keep.run(session, "import os; os.remove('f29'); os.rename('f28', 'g28'); os.mkdir('d')")
    done = keep.run(session, "for i in range(30): open(f'd/n{i}', 'w').write(f'new {i}' * 1000)")
    assert len(done["kept"]) == 30
    before = {path: entry["sha256"] for path, entry in entries(keep, "w").items()}
    server.cut_power(how)
    left = on_disk(server, session)
    assert left != before, "the cut lost nothing, so this test proves nothing"
    server.start()
    keep = Keep(server)
    done = keep.run(session, INVENTORY)
    after = {path: entry for path, entry in entries(keep, "w").items()}
    assert {path: after[path]["sha256"] for path in before} == before
    assert in_trash(keep, "w") == ["f29"]
    for path in set(after) - set(before):
        assert is_recovered(versions(keep, f"w/{path}")[0]) and names_as_recovered(done, f"w/{path}"), path
    assert json.loads(text_of(done).split("INVENTORY")[1]) == {path: entry["sha256"] for path, entry in after.items()}


def test_what_an_unanswered_cell_did_before_a_power_cut_is_kept_beside_and_named(make_power_server):
    server = session_server(make_power_server)
    keep = Keep(server)
    session = keep.create(folder="w")
    keep.run(session, "for name in ('removed', 'renamed', 'changed', 'same'): open(name, 'w').write(f'{name} before')\nimport os\nos.mkdir('d'); open('d/f', 'w').write('deep')")
    ids = {path: entry["id"] for path, entry in entries(keep, "w").items()}
    code = ("import os, shutil, time\nprint('ready', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)\n"
            "os.remove('removed'); os.rename('renamed', 'new-name'); open('changed', 'w').write('changed after'); shutil.rmtree('d')\n"
            "open('unknown', 'w').write('unknown'); open('done', 'w').close(); time.sleep(1000)")
    execution = keep.start(session, code)
    keep.printed_until(execution, "ready")
    copy = Path(server.data) / "copies" / session["id"].removeprefix("s_")
    # The server sees nothing of it, the disk has all of it.
    server.process.send_signal(signal.SIGSTOP)
    (copy / "go").touch()
    wait_for((copy / "done").exists)
    server.disk.sync()
    server.cut_power()
    server.start()
    keep = Keep(server)
    done = keep.run(session, INVENTORY)
    heads = entries(keep, "w")
    # No deletion and no rename is believed, and no change becomes the current version.
    for path in ("removed", "renamed", "changed", "same"):
        assert keep.read(f"w/{path}") == f"{path} before".encode() and heads[path]["id"] == ids[path]
    assert keep.read("w/d/f") == b"deep" and in_trash(keep, "w") == []
    # All that is on the disk is kept, marked, and named.
    assert keep.read("w/new-name") == b"renamed before" and keep.read("w/unknown") == b"unknown"
    for path in ("new-name", "unknown"):
        assert is_recovered(versions(keep, f"w/{path}")[0]) and heads[path]["id"] not in ids.values()
    beside = [version for version in versions(keep, "w/changed") if is_recovered(version)]
    assert [(version["is_head"], keep.http.get(version["link"]).text) for version in beside] == [(False, "changed after")]
    for path in ("new-name", "unknown", "changed"):
        assert names_as_recovered(done, f"w/{path}"), (path, done)
    assert json.loads(text_of(done).split("INVENTORY")[1]) == {path: entry["sha256"] for path, entry in heads.items()}
    # Named once; and what code does now counts again.
    done = keep.run(session, "import os; os.remove('removed'); os.rename('renamed', 'moved'); open('changed', 'w').write('changed again')")
    assert not names_as_recovered(done, "w/unknown") and done["deleted"] == ["w/removed"] and done["renamed"] == [{"from": "w/renamed", "to": "w/moved"}]
    assert keep.read("w/changed") == b"changed again"
    assert keep.wait(execution)["end"] == "crash"


@pytest.mark.parametrize("end", ["stop", "sleep", "exit"])
def test_the_copy_of_a_session_that_ended_well_is_whole_after_a_power_cut(make_power_server, end):
    server = session_server(make_power_server)
    keep = Keep(server)
    session = keep.create(folder="w")
    keep.put("w/from-outside", b"outside" * 1000)
    keep.run(session, "import os\nos.mkdir('d')\nfor i in range(30): open(f'd/f{i}', 'w').write(f'first {i}' * 1000)")
    server.disk.sync()
    # Not open(…, 'w') on what is there: the file system itself writes that out in time.
    keep.run(session, "for i in range(15):\n    with open(f'd/f{i}', 'r+') as f: f.write(f'second {i}' * 1000)\n    open(f'd/n{i}', 'w').write(f'new {i}' * 1000)")
    keep.run(session, "os.remove('d/f29'); os.rename('d/f28', 'g')")
    if end == "stop":
        assert server.stop() == 0
    elif end == "sleep":
        sleep(keep, session)
    else:
        keep.run(session, "os._exit(0)")
    before = {path: entry["sha256"] for path, entry in entries(keep, "w").items()} if end != "stop" else None
    server.cut_power(KEEP_LOG)
    server.start()
    keep = Keep(server)
    before = before or {path: entry["sha256"] for path, entry in entries(keep, "w").items()}
    done = keep.run(session, INVENTORY)
    assert json.loads(text_of(done).split("INVENTORY")[1]) == before
    assert done["kept"] == [] and done["deleted"] == [] and in_trash(keep, "w") == ["d/f29"]
    assert {path: entry["sha256"] for path, entry in entries(keep, "w").items()} == before
    assert len(before) == 45


def test_without_a_power_cut_what_code_did_is_believed_after_a_kill(make_power_server):
    server = session_server(make_power_server)
    keep = Keep(server)
    session = keep.create(folder="w")
    keep.run(session, "for name in ('removed', 'renamed', 'changed'): open(name, 'w').write(name)")
    keep.start(session, "import os, time\nos.remove('removed'); os.rename('renamed', 'moved'); open('changed', 'w').write('again'); open('done', 'w').close(); time.sleep(1000)")
    copy = Path(server.data) / "copies" / session["id"].removeprefix("s_")
    wait_for((copy / "done").exists)
    server.kill()
    server.start()
    keep = Keep(server)
    assert keep.files("w") == ["changed", "done", "moved"] and keep.read("w/changed") == b"again"
    assert not any(is_recovered(version) for path in ("changed", "done", "moved") for version in versions(keep, f"w/{path}"))
