"""fsync(file) before rename before fsync(directory) before the answer, on every way that makes something durable."""

import pathlib
import random
import shutil
import subprocess

import pytest

from durability import LONG, Wire, at, form
from operation_order import Operation, OrderChecker, read_record
from sandkeep_server import Server, binary

KIB, MIB = 1 << 10, 1 << 20
WORKSPACE = "/api/v1/workspaces/default"
BUILD = pathlib.Path(binary()).parent
# Background work would answer nobody, and so could not be checked against an answer.
FLAGS = ("--log-level", "warn", "--scrub-interval-s", "0", "--gc-interval-s", "0")


class Recorded:
    """A server on a new data folder whose file operations are recorded. It never leaves two requests under way at once."""

    def __init__(self, *flags):
        self.server = Server(*FLAGS, *flags)
        area = self.server.folder / "area"
        area.mkdir()
        self.server.data = area / "data"
        self.record = self.server.folder / "record"
        self.server.environment = {"LD_PRELOAD": str(BUILD / "libfault.so"), "FAULT_DIR": str(area), "FAULT_RECORD": str(self.record)}
        self.random = random.Random(11)

    def __enter__(self):
        self.server.start()
        self.wire = Wire(self.server)
        return self

    def __exit__(self, *_):
        self.wire.close()
        self.server.remove()

    def call(self, method, path, body=None, headers=None, expect=(200, 201, 202, 204)):
        answer = self.wire.call(method, path, body, headers)
        assert answer.status in expect, f"{method} {path} -> {answer.status}: {answer.body[:500]}"
        return answer

    def put(self, path, size):
        content = self.random.randbytes(size)
        self.call("PUT", at(path), content)
        return content

    def checked(self):
        """The order so far."""
        checker = OrderChecker(read_record(self.record), self.server.data)
        assert checker.problems == []
        return checker

    def stopped(self):
        self.wire.close()
        assert self.server.stop() == 0, self.server.log()
        checker = OrderChecker(read_record(self.record), self.server.data).finish()
        assert checker.problems == []
        return checker


@pytest.fixture
def recorded():
    with Recorded() as one:
        yield one


def test_the_first_start_is_durable_before_its_first_answer():
    with Recorded() as one:
        one.server.environment["SANDKEEP_ROOT_KEY"] = ""
        one.call("GET", "/health", expect=(200, 404))
        one.call("GET", f"{WORKSPACE}/list")
        checker = one.checked()
        assert checker.answers >= 1
        names = {path.name for path in one.server.data.iterdir()}
        assert {"catalog.db", "blobs", "audit.key"} <= names, names


def test_the_root_key_file_is_durable_before_the_first_answer():
    one = Recorded()
    del_key = {"SANDKEEP_ROOT_KEY": ""}
    one.server.environment |= del_key
    with one:
        key_file = one.server.data / "root.key"
        assert key_file.exists()
        one.wire.headers["Authorization"] = f"Bearer {key_file.read_text().strip()}"
        one.call("GET", f"{WORKSPACE}/list")
        assert one.checked().answers >= 1


@pytest.mark.parametrize("size", [100, 200 * KIB, 900 * KIB, 9 * MIB], ids=["inline", "file", "large file", "chunks"])
def test_a_put_is_durable_before_its_answer(recorded, size):
    recorded.put("a.bin", size)
    recorded.put("a.bin", size)
    recorded.call("PUT", at("a.bin"), recorded.put("b.bin", size))
    checker = recorded.checked()
    assert checker.answers >= 4 and (checker.renames > 3) == (size > 128 * KIB)  # the first start renames two keys and the node's id


def test_other_writes_are_durable_before_their_answers(recorded):
    recorded.put("a.bin", 300 * KIB)
    body, headers = form({"one.txt": b"one", "two.bin": recorded.random.randbytes(150 * KIB)})
    recorded.call("POST", at("form"), body, headers)
    changes = [{"op": "put", "path": f"batch/{number}", "content": "x" * number * 90_000} for number in range(4)]
    recorded.call("POST", f"{WORKSPACE}/batch", {"changes": changes})
    recorded.call("POST", f"{WORKSPACE}/move", {"from": "a.bin", "to": "moved/a.bin"})
    recorded.call("POST", f"{WORKSPACE}/copy", {"from": "moved/a.bin", "to": "copy.bin"})
    lock = recorded.call("POST", f"{WORKSPACE}/locks", {"path": "moved", "ttl_s": 60}).json()
    recorded.call("POST", f"{WORKSPACE}/locks/renew", {"token": lock["token"], "ttl_s": 120})
    recorded.call("POST", f"{WORKSPACE}/locks/release", {"token": lock["token"]})
    recorded.call("POST", "/api/v1/keys", {"name": "another"})
    recorded.call("POST", "/api/v1/workspaces", {"name": "another"})
    recorded.call("DELETE", at("copy.bin"))
    assert recorded.checked().answers >= 11


def test_an_upload_in_parts_is_durable_at_every_answer(recorded):
    parts = [recorded.random.randbytes(size) for size in (100 * KIB, 700 * KIB, 3 * MIB)]
    wanted = {"filename": "big.bin", "purpose": "user_data", "bytes": sum(map(len, parts)), "mime_type": "application/octet-stream"}
    upload = recorded.call("POST", "/v1/uploads", wanted).json()["id"]
    ids = []
    for content in parts:
        body, headers = form({"data": content})
        body = body.replace(b'name="f"', b'name="data"')
        ids.append(recorded.call("POST", f"/v1/uploads/{upload}/parts", body, headers).json()["id"])
        recorded.checked()
    done = recorded.call("POST", f"/v1/uploads/{upload}/complete", {"part_ids": ids}).json()
    checker = recorded.checked()
    assert checker.answers >= 5 and checker.renames >= 3
    assert recorded.call("GET", f"/v1/files/{done['file']['id']}/content").body == b"".join(parts)


def test_the_collector_deletes_a_file_after_its_record(recorded):
    recorded.put("a.bin", 300 * KIB)
    recorded.put("b.bin", 9 * MIB)
    for path in ("a.bin", "b.bin"):
        recorded.call("DELETE", at(path))
    recorded.call("DELETE", f"{WORKSPACE}/trash")
    recorded.call("POST", "/api/v1/gc")
    checker = recorded.checked()
    assert checker.deleted_blobs >= 3


def test_a_clean_stop_leaves_everything_durable(recorded):
    """The last checkpoint of the journal, the last use of keys, and the record of reads included."""
    recorded.put("a.bin", 300 * KIB)
    recorded.call("GET", at("a.bin"))
    recorded.stopped()


@pytest.mark.parametrize("mode", [[], ["compress"]], ids=["plain", "compressed"])
def test_the_store_alone_is_durable_when_it_says_so(tmp_path, mode):
    """With marks where a server would answer. The compressed form of a blob takes the place of the plain one only when it is safe."""
    record = tmp_path / "record"
    area = tmp_path / "area"
    (area / "data").mkdir(parents=True)
    environment = {"LD_PRELOAD": str(BUILD / "libfault.so"), "FAULT_DIR": str(area), "FAULT_RECORD": str(record)}
    ran = subprocess.run([str(BUILD / "blob_keeper"), str(area / "data" / "blobs"), *mode], env=environment, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0 and "kept" in ran.stdout, ran.stderr
    checker = OrderChecker(read_record(record), area / "data").finish()
    assert checker.problems == []
    assert checker.answers >= 2 and checker.renames >= 2
    assert (checker.deleted_blobs >= 2) == bool(mode)


def without_sync(number, record, run):
    """What the checker says when the program leaves out one of its syncs. Nothing more is left out when `number` is more than there are."""
    report = record.with_name("report")
    for path in (record, report):
        path.unlink(missing_ok=True)
    data = run({"LD_PRELOAD": str(BUILD / "libfault.so"), "FAULT_RECORD": str(record), "FAULT_REPORT": str(report), "FAULT_OP": "fsync",
                "FAULT_N": str(number), "FAULT_SKIP": "1"})
    lines = report.read_text().splitlines()
    left_out = lines[1].removeprefix("hit fsync ") if len(lines) > 1 else None
    return left_out, OrderChecker(read_record(record), data).finish().problems


@pytest.mark.parametrize("mode", [[], ["compress"]], ids=["plain", "compressed"])
def test_no_sync_of_the_store_can_be_left_out_unnoticed(tmp_path, mode):
    def run(environment):
        area = tmp_path / "area"
        shutil.rmtree(area, ignore_errors=True)
        (area / "data").mkdir(parents=True)
        environment["FAULT_DIR"] = str(area)
        subprocess.run([str(BUILD / "blob_keeper"), str(area / "data" / "blobs"), *mode], env=environment, check=True, stdout=subprocess.DEVNULL, timeout=60)
        return area / "data"

    for number in range(1, 1000):
        left_out, problems = without_sync(number, tmp_path / "record", run)
        if left_out is None:
            break
        assert problems, f"nobody notices that sync {number} is left out: {left_out}"
    assert number > (8 if mode else 10)


def test_no_sync_of_the_server_can_be_left_out_unnoticed(tmp_path):
    """A short run for each of some syncs. Not those of the start and of the stop, where a later sync makes up for an earlier one; nor the database's
    own, when its log is moved into it."""
    counts = []

    def run(environment):
        one = Recorded()
        one.server.environment |= environment | {"FAULT_DIR": str(one.server.folder / "area")}
        with one:
            count = lambda: counts.append(int(pathlib.Path(environment["FAULT_REPORT"]).read_text().split()[0]))  # noqa: E731
            count()
            one.put("small", 100)
            one.put("file", 200 * KIB)
            one.put("chunks", 9 * MIB)
            one.call("POST", f"{WORKSPACE}/locks", {"path": "x", "ttl_s": 60})
            count()
            one.wire.close()
            assert one.server.stop() == 0, one.server.log()
        return one.server.data

    rng = random.Random(4)
    left_out, problems = without_sync(1_000_000, tmp_path / "record", run)
    assert left_out is None and problems == []
    numbers = range(counts[0] + 1, counts[1] + 1)
    if not LONG:
        numbers = sorted(rng.sample(numbers, 10))
    unnoticed = []
    for number in numbers:
        left_out, problems = without_sync(number, tmp_path / "record", run)
        if left_out and not problems and not left_out.endswith("/catalog.db"):
            unnoticed.append(f"{number}: {left_out}")
    assert unnoticed == []


DATA = "/data"
NEW, PLACE, BLOB = f"{DATA}/blobs/new/x", f"{DATA}/blobs/0/x", f"{DATA}/blobs/0"
GOOD = [("create", NEW, ""), ("write", NEW, ""), ("fsync", NEW, ""), ("rename", NEW, PLACE), ("fsync", BLOB, ""), ("answer", "socket:[1]", "")]


def problems_of(steps):
    return OrderChecker([Operation(2 * at + 1, 2 * at + 2, 1, name, 201 if name == "answer" else 0, path, other)
                         for at, (name, path, other) in enumerate(steps)], DATA).problems


def test_the_checker_accepts_the_right_order():
    assert problems_of(GOOD) == []


@pytest.mark.parametrize("without", [2, 4], ids=["file not synced", "directory not synced"])
def test_the_checker_notices_a_missing_sync(without):
    assert problems_of(GOOD[:without] + GOOD[without + 1:])


@pytest.mark.parametrize("first, second", [(1, 2), (2, 3), (3, 4), (4, 5)])
def test_the_checker_notices_a_wrong_order(first, second):
    steps = list(GOOD)
    steps[first], steps[second] = steps[second], steps[first]
    assert problems_of(steps)


def test_the_checker_notices_a_sync_that_began_before_the_write_ended():
    write = Operation(3, 8, 1, "write", 5, f"{DATA}/audit.key", "")
    sync = Operation(5, 9, 2, "fsync", 0, f"{DATA}/audit.key", "")
    answer = Operation(11, 12, 1, "answer", 200, "socket:[1]", "")
    assert OrderChecker([write, sync, answer], DATA).problems


def test_the_checker_notices_a_plain_blob_that_is_deleted_too_early():
    plain, packed = PLACE, PLACE + ".zst"
    steps = GOOD + [("create", NEW, ""), ("write", NEW, ""), ("fsync", NEW, ""), ("rename", NEW, packed), ("fsync", BLOB, ""), ("unlink", plain, "")]
    assert problems_of(steps) == []
    assert problems_of(steps[:-2] + steps[-1:])


def test_the_checker_notices_a_blob_that_is_deleted_before_its_record():
    log = f"{DATA}/catalog.db-wal"
    opened = [("create", f"{DATA}/catalog.db", ""), ("create", log, ""), ("fsync", log, ""), ("fsync", DATA, "")]
    steps = opened + GOOD + [("write", log, ""), ("fdatasync", log, ""), ("unlink", PLACE, "")]
    assert problems_of(steps) == []
    for wrong in (opened + GOOD + [("unlink", PLACE, "")], opened + GOOD + [("write", log, ""), ("unlink", PLACE, "")]):
        assert problems_of(wrong)
