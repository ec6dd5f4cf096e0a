"""Many clients share one commit: when it fails, each of them hears so, and nothing of what they were refused is kept.

Locks, keys and files are rows of the same transactions. The disk is full at one operation, by libfault.so; afterwards a server without faults tells what is kept.
"""

import pathlib
import shutil
import tempfile
import threading

from durability import LONG, Lost, Wire, at, make_random
from sandkeep_server import Server, binary

WORKSPACE = "/api/v1/workspaces/default"
CLIENTS = 8
RUNS = 60 if LONG else 8
FLAGS = ("--log-level", "warn", "--scrub-interval-s", "0", "--gc-interval-s", "0")
FAULT_LIBRARY = pathlib.Path(binary()).parent / "libfault.so"


class Round:
    """Clients that write at once, and what each was told."""

    def __init__(self, server):
        self.server = server
        self.told = {}  # (what, name) -> (status, answer)
        self.lock = threading.Lock()

    def client(self, number, barrier):
        with Wire(self.server) as wire:
            barrier.wait()
            for step in range(3):
                name = f"{number}-{step}"
                for what, call in (("lock", ("POST", f"{WORKSPACE}/locks", {"path": f"locked/{name}", "ttl_s": 3600})),
                                   ("key", ("POST", "/api/v1/keys", {"name": name})),
                                   ("file", ("PUT", at(f"file/{name}"), name.encode()))):
                    try:
                        answer = wire.call(*call)
                        told = (answer.status, answer.json())
                    except Lost:
                        told = (None, None)
                    with self.lock:
                        self.told[what, name] = told

    def run(self):
        barrier = threading.Barrier(CLIENTS)
        threads = [threading.Thread(target=self.client, args=(number, barrier)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self


def kept_names(wire):
    locks = wire.call("GET", f"{WORKSPACE}/locks").ok().json()["items"]
    keys = wire.call("GET", "/api/v1/keys").ok().json()["items"]
    files = wire.call("GET", f"{WORKSPACE}/list?recursive=true&limit=1000").ok().json()["items"]
    return ({("lock", lock["path"].removeprefix("locked/")) for lock in locks} | {("key", key["name"]) for key in keys if key["name"] != "root"}
            | {("file", entry["path"].removeprefix("file/")) for entry in files if entry["kind"] == "file"})


def faulty_round(template, number, report):
    folder = tempfile.mkdtemp(prefix="sandkeep-group-")
    server = Server(*FLAGS, folder=folder)
    shutil.copytree(template, server.data)
    server.environment = {"LD_PRELOAD": str(FAULT_LIBRARY), "FAULT_DIR": str(server.data), "FAULT_OP": "write,fsync", "FAULT_ERRNO": "ENOSPC",
                          "FAULT_N": str(number), "FAULT_REPORT": str(report)}
    return server


def counted(report):
    return int(report.read_text().split()[0])


def test_a_commit_that_fails_is_told_to_everybody_in_it(make_server, tmp_path):
    first = make_server(*FLAGS)
    assert first.stop() == 0
    report = tmp_path / "report"
    server = faulty_round(first.data, 0, report)
    try:
        server.start()
        before = counted(report)
        Round(server).run()
        after = counted(report)
    finally:
        server.remove()
    rng = make_random()
    refused = 0
    operations = range(before + 1, after)  # the more clients share a commit, the fewer there are
    for number in sorted(rng.sample(operations, min(RUNS, len(operations)))):
        server = faulty_round(first.data, number, report)
        try:
            server.start()
            told = Round(server).run().told
            server.kill()
            server.environment = {}
            server.start()
            with Wire(server) as wire:
                kept = kept_names(wire)
                assert wire.call("POST", "/api/v1/verify").ok().json()["ok"]
            for what, (status, answer) in told.items():
                if status is None:
                    continue
                assert (what in kept) == (status < 300), f"operation {number}: {what} was told {status} {answer}"
                refused += status >= 300
        finally:
            server.remove()
    assert refused > 0
