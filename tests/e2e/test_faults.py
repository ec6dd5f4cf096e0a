"""Every operation on the data folder fails once: an error to the client or a server that stops, never a lost or torn version.

The server runs with build/*/libfault.so preloaded (tests/fault/faultlib.c), which makes the N-th file operation below the data folder fail, or kills
the server there. A fixed script of requests runs against it; then a server without faults is started on the same folder and must have every version
that was acknowledged, list nothing torn, verify clean, and take new writes.
"""

import os
import pathlib
import random
import shutil
import subprocess
import tempfile

import pytest

from durability import LONG, Ledger, Lost, Wire, at, form, make_random, verify
from sandkeep_server import Server, binary

MIB = 1 << 20
FAULT_LIBRARY = pathlib.Path(binary()).parent / "libfault.so"
WORKSPACE = "/api/v1/workspaces/default"
# Runs of one kind of fault in an ordinary run of the tests: all N when there are no more than this, else some, spread evenly from a random first.
RUNS_MAX = 10_000 if LONG else 35
RUNS_MAX_WRITE = 10_000 if LONG else 20
# The faults are ours, so the disk need not be a slow one.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 256 * MIB else None
# Background work would only blur which operation is the N-th.
FLAGS = ("--sandbox", "off", "--log-level", "warn", "--scrub-interval-s", "0", "--gc-interval-s", "0", "--catalog-readers", "2")


class Script:
    """The requests, and what they acknowledged. Contents are the same in every run."""

    def __init__(self, ledger):
        self.ledger = ledger
        self.acknowledged = {}
        rng = random.Random(7)
        self.large = rng.randbytes(3 * MIB)
        self.middle = rng.randbytes(200_000)
        self.small = rng.randbytes(1000)
        self.other = rng.randbytes(150_000)

    def put(self, wire, path, content):
        self.ledger.sending(content)
        answer = wire.call("PUT", at(path), content)
        if answer.status < 300:
            self.ledger.acknowledged([answer.json()])
        return answer

    def overwrite_large(self, wire):
        return self.put(wire, "large.bin", self.large[:MIB] + b"changed" + self.large[MIB + 7:])

    def post(self, wire):
        files = {"one.txt": b"one", "two.bin": self.other, "sub/three.txt": b"three"}
        for content in files.values():
            self.ledger.sending(content)
        body, headers = form(files)
        answer = wire.call("POST", at("post"), body, headers)
        if answer.status < 300:
            self.ledger.acknowledged(answer.json()["items"])
        return answer

    def batch(self, wire):
        changes = [{"op": "put", "path": f"batch/{number}", "content": f"batch {number}" + "x" * number * 40_000} for number in range(3)]
        for change in changes:
            self.ledger.sending(change["content"].encode())
        answer = wire.call("POST", f"{WORKSPACE}/batch", {"changes": changes})
        if answer.status < 300:
            self.ledger.acknowledged(answer.json()["items"])
        return answer

    def purge(self, wire):
        """Of what the template put into the trash."""
        trashed = wire.call("GET", f"{WORKSPACE}/trash").ok().json()["items"]
        if not trashed:
            return None
        self.ledger.purging([entry["version_id"] for entry in trashed])
        answer = wire.call("DELETE", f"{WORKSPACE}/trash")
        if answer.status < 300:
            self.ledger.purged([entry["version_id"] for entry in trashed])
        return answer

    def steps(self):
        return {
            "create": lambda wire: self.put(wire, "new/small.txt", self.small),
            "overwrite": lambda wire: self.put(wire, "old.txt", b"overwritten"),
            "middle": lambda wire: self.put(wire, "middle.bin", self.middle),
            "large": lambda wire: self.put(wire, "large.bin", self.large),
            "overwrite large": self.overwrite_large,
            "post": self.post,
            "batch": self.batch,
            "move": lambda wire: wire.call("POST", f"{WORKSPACE}/move", {"from": "kept.bin", "to": "moved/kept.bin"}),
            "trash": lambda wire: wire.call("DELETE", at("doomed.txt")),
            "purge": self.purge,
            "gc": lambda wire: wire.call("POST", "/api/v1/gc"),
        }

    def run(self, server):
        """Each step once, whatever becomes of the others, until the server is gone."""
        try:
            with Wire(server) as wire:
                for name, step in self.steps().items():
                    answer = step(wire)
                    self.acknowledged[name] = answer is not None and answer.status < 300
                    if answer is not None and answer.status >= 300:
                        error = answer.json()["error"]
                        assert error["code"] in ("internal", "disk_full", "unavailable", "not_found") and error["request_id"], error
        except Lost:
            pass


class Faulty:
    """A copy of the template folder, a server on it whose N-th operation fails, and what became of it."""

    def __init__(self, template, folder, **fault):
        self.ledger = Ledger()
        for content in template.contents.values():
            self.ledger.sending(content)
        self.ledger.acknowledged(template.changes)
        self.report = folder / "report"
        self.report.unlink(missing_ok=True)
        self.server = Server(*FLAGS, folder=tempfile.mkdtemp(prefix="sandkeep-fault-", dir=MEMORY))
        shutil.copytree(template.data, self.server.data)
        variables = {"FAULT_" + name.upper(): str(value) for name, value in fault.items()}
        self.server.environment = {"LD_PRELOAD": str(FAULT_LIBRARY), "FAULT_DIR": str(self.server.data), "FAULT_REPORT": str(self.report), **variables}
        self.script = Script(self.ledger)
        self.started = False
        self.hit_before_the_end = False
        self.stopped_by_itself = False
        self.exit_code = None

    def run(self):
        try:
            self.server.start()
            self.started = True
            self.script.run(self.server)
        except RuntimeError:
            return self  # it did not become ready, which it may
        self.hit_before_the_end = self.hit is not None
        try:
            # One that lost its connection is about to end.
            self.exit_code = self.server.process.wait(10 if len(self.script.acknowledged) < len(self.script.steps()) else 0)
            self.stopped_by_itself = True
        except subprocess.TimeoutExpired:
            self.exit_code = self.server.stop()
        return self

    @property
    def count(self):
        return int(self.report.read_text().splitlines()[0])

    @property
    def hit(self):
        """"OPERATION PATH" of what failed; None when nothing did."""
        lines = self.report.read_text(errors="replace").splitlines()
        return lines[1].removeprefix("hit ") if len(lines) > 1 else None

    def check_folder(self):
        """With a server that has no faults, everything must be as it was acknowledged."""
        self.server.kill()
        self.server.environment = {}
        self.server.start()
        with Wire(self.server) as wire:
            listed = self.ledger.check_listing(wire)
            for folder in ("post", "batch"):
                found = len([path for path in listed if path.startswith(folder + "/")])
                assert found in (0, 3), f"{folder} was kept in part"
                assert found == 3 or not self.script.acknowledged.get(folder), f"{folder} was acknowledged and is lost"
            assert ("kept.bin" in listed) != ("moved/kept.bin" in listed)
            assert "kept.bin" not in listed or not self.script.acknowledged.get("move")
            assert "doomed.txt" not in listed or not self.script.acknowledged.get("trash")
            self.ledger.check_versions(wire)
            verify(wire)
            wire.call("POST", "/api/v1/gc").ok()
            self.ledger.check_versions(wire)
            self.script.put(wire, "after.bin", self.script.other + b"new").ok()
            self.ledger.check_versions(wire)
        assert self.server.stop() == 0


class Template:
    """A folder with some history, as a server left it that was stopped properly."""

    def __init__(self):
        self.contents = {"old.txt": b"old", "kept.bin": random.Random(1).randbytes(200_000), "doomed.txt": b"doomed", "trashed.bin": random.Random(2).randbytes(190_000)}
        server = Server(*FLAGS)
        server.start()
        with Wire(server) as wire:
            self.changes = [wire.call("PUT", at(path), content).ok().json() for path, content in self.contents.items()]
            wire.call("DELETE", at("trashed.bin")).ok()
        assert server.stop() == 0
        self.folder = server.folder
        self.data = server.data


@pytest.fixture(scope="module")
def template():
    assert FAULT_LIBRARY.exists(), f"{FAULT_LIBRARY} is not built: script/build release fault"
    made = Template()
    yield made
    shutil.rmtree(made.folder)


def chosen(total, runs_max):
    """All of 1…total, or as many as an ordinary run has time for."""
    step = max(1, -(-total // runs_max))
    return range(make_random().randint(1, step), total + 1, step)


def run_all(template, folder, judge=None, **fault):
    """For every N: a run whose N-th operation goes wrong, and a look at what is left."""
    with_none = Faulty(template, folder, **{key: value for key, value in fault.items() if key == "op"})
    try:
        assert with_none.run().exit_code == 0
        assert all(with_none.script.acknowledged.values()), with_none.script.acknowledged
        total = with_none.count
        with_none.check_folder()
    finally:
        with_none.server.remove()
    assert total > 0
    hits = 0
    for number in chosen(total, RUNS_MAX_WRITE if "write" in fault.get("op", "write") else RUNS_MAX):
        one = Faulty(template, folder, n=number, **fault)
        try:
            one.run()
            where = f"{fault}, operation {number} of {total}: {one.hit}"
            hits += one.hit is not None
            try:
                if judge:
                    judge(one)
                one.check_folder()
            except BaseException as error:
                raise AssertionError(f"{where}\n{one.server.log()[-2000:]}") from error
        finally:
            one.server.remove()
    print(f"{fault}: {hits} of {total} operations failed")
    assert hits > 0


def must_stop(one):
    """What the disk holds after a failed fsync is unknown: nobody may go on with it.

    A failure while it ends anyway is only told. SQLite does not look at how its sync of the folder went; the server syncs that itself before it begins."""
    begun = one.started and one.hit_before_the_end and one.hit != f"fsync {one.server.data}"
    assert one.stopped_by_itself or not begun, f"it went on after {one.hit}"
    assert not one.stopped_by_itself or one.exit_code == -6, one.exit_code


def must_be_killed(one):
    assert one.hit is None or one.exit_code == -9 or not one.started, one.exit_code


def must_not_notice(one):
    """SQLite gives up when the file that it shares memory through cannot be made larger, which is at the start."""
    if not one.started and one.hit.endswith("-shm"):
        return
    assert one.exit_code == 0 and all(one.script.acknowledged.values()), one.script.acknowledged


def test_a_failed_fsync_stops_the_server_and_loses_nothing(template, tmp_path):
    run_all(template, tmp_path, must_stop, op="fsync", errno="EIO")


@pytest.mark.parametrize("operation", ["write", "rename", "create", "unlink", "truncate", "fsync"])
def test_a_full_disk_at_any_operation_loses_nothing(template, tmp_path, operation):
    run_all(template, tmp_path, op=operation, errno="ENOSPC")


@pytest.mark.parametrize("operation", ["write", "rename", "create", "unlink", "truncate"])
def test_an_operation_that_fails_loses_nothing(template, tmp_path, operation):
    run_all(template, tmp_path, op=operation, errno="EIO")


@pytest.mark.parametrize("errno", ["EIO", "ENOSPC"])
def test_a_disk_that_takes_nothing_from_some_moment_on_loses_nothing(template, tmp_path, errno):
    run_all(template, tmp_path, op="write,create,rename,truncate,allocate,mkdir", errno=errno, sticky=1)


def test_a_write_that_is_cut_short_is_completed(template, tmp_path):
    run_all(template, tmp_path, must_not_notice, op="write", short=1)


def test_a_kill_at_any_operation_loses_nothing(template, tmp_path):
    run_all(template, tmp_path, must_be_killed, kill=1)


def test_a_kill_in_the_middle_of_a_write_loses_nothing(template, tmp_path):
    run_all(template, tmp_path, must_be_killed, op="write", kill=1, short=1)


def test_a_catalog_whose_log_cannot_be_moved_into_it_loses_nothing(template, tmp_path):
    """Writes to the log go well, those to the catalog itself do not. The log grows past the size at which writers wait for it to be emptied."""
    one = Faulty(template, tmp_path, op="write", n=1, sticky=1)
    one.server.environment["FAULT_DIR"] = str(one.server.data / "catalog.db")
    try:
        one.server.start()
        with Wire(one.server) as wire:
            for number in range(40):
                changes = [{"op": "put", "path": f"many/{number}-{part}", "content": f"{number} {part} " + "x" * 60_000} for part in range(30)]
                for change in changes:
                    one.ledger.sending(change["content"].encode())
                answer = wire.call("POST", f"{WORKSPACE}/batch", {"changes": changes})
                if answer.status < 300:
                    one.ledger.acknowledged(answer.json()["items"])
            assert one.script.put(wire, "after.bin", one.script.middle).status == 201
        assert one.hit, "the log was never moved"
        assert (one.server.data / "catalog.db-wal").stat().st_size > 64 * MIB
        one.server.kill()
        one.server.environment = {}
        one.server.start()
        with Wire(one.server) as wire:
            assert len(one.ledger.check_listing(wire)) > 1000
            verify(wire)
    finally:
        one.server.remove()
