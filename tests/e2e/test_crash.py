"""Killed means kept: writers press the server, it is killed with SIGKILL at random moments, and started again on the same folder.

Each worker owns its paths, so it knows what the server may say after a crash: what it acknowledged last, or what was under way. The ledger knows
every version that was ever acknowledged.
"""

import subprocess
import threading

import pytest

from durability import LONG, Ledger, Lost, Wire, at, form, make_random, verify
from sandkeep_server import Server, binary

KILLS = 50
RUNS = 20 if LONG else 1
KIB, MIB = 1 << 10, 1 << 20
WORKSPACE = "/api/v1/workspaces/default"


class Worker:
    """One client that changes its own files until the server is gone. `check` runs while the worker does not."""

    def __init__(self, name, rng, ledger):
        self.name = name
        self.rng = rng
        self.ledger = ledger
        self.failure = None

    def run(self, server):
        try:
            with Wire(server) as wire:
                while True:
                    self.step(wire)
        except Lost:
            pass
        except BaseException as failure:  # pylint: disable=broad-except
            self.failure = failure

    def bytes(self, least, most):
        return self.rng.randbytes(self.rng.randint(least, most))


class Overwriter(Worker):
    """Writes the same few paths again and again. Large contents share most of their bytes with the version before."""

    def __init__(self, name, rng, ledger, least, most, paths=3):
        super().__init__(name, rng, ledger)
        self.least, self.most = least, most
        self.heads = {f"{name}/{number}.bin": None for number in range(paths)}
        self.base = None
        self.under_way = None

    def content(self):
        if not self.base or self.rng.random() < 0.3:
            self.base = self.bytes(self.least, self.most)
            return self.base
        cut = self.rng.randrange(len(self.base))
        self.base = self.base[:cut] + self.rng.randbytes(8) + self.base[cut + 8:]
        return self.base

    def pieces(self, content):
        """A body without a length."""
        for start in range(0, len(content), 100_000):
            yield content[start:start + 100_000]

    def step(self, wire):
        path, content = self.rng.choice(list(self.heads)), self.content()
        self.under_way = path, self.ledger.sending(content)
        body = self.pieces(content) if len(content) > MIB and self.rng.random() < 0.5 else content
        change = wire.call("PUT", at(path), body).ok().json()
        assert change["version"]["sha256"] == self.under_way[1]
        self.ledger.acknowledged([change])
        self.heads[path] = self.under_way[1]
        self.under_way = None

    def check(self, wire, listed):
        for path, head in self.heads.items():
            found = listed[path]["sha256"] if path in listed else None
            allowed = {head} | ({self.under_way[1]} if self.under_way and self.under_way[0] == path else set())
            assert found in allowed, f"{path} has {found}, not one of {allowed}"
            self.heads[path] = found
        self.under_way = None


class Poster(Worker):
    """Posts several files in one form: all of them are there, or none is."""

    def __init__(self, name, rng, ledger):
        super().__init__(name, rng, ledger)
        self.number = 0
        self.acknowledged = {}
        self.under_way = None

    def step(self, wire):
        self.number += 1
        folder = f"{self.name}/{self.number}"
        files = {"small.txt": self.bytes(0, 200), "deep/middle.bin": self.bytes(65 * KIB, 200 * KIB), "other.txt": self.bytes(1, 60 * KIB)}
        if self.rng.random() < 0.2:
            files["large.bin"] = self.bytes(MIB, 2 * MIB)
        self.under_way = folder, {f"{folder}/{name}": self.ledger.sending(content) for name, content in files.items()}
        body, headers = form(files)
        made = wire.call("POST", at(folder), body, headers).ok().json()["items"]
        assert len(made) == len(files)
        self.ledger.acknowledged(made)
        self.acknowledged[folder] = self.under_way[1]
        self.under_way = None

    def check(self, wire, listed):
        found = {}
        for path, entry in listed.items():
            if path.startswith(self.name + "/"):
                found.setdefault("/".join(path.split("/")[:2]), {})[path] = entry["sha256"]
        if self.under_way and self.under_way[0] in found:
            folder, files = self.under_way
            self.acknowledged[folder] = files
        assert found == self.acknowledged, "a form was kept in part"
        self.under_way = None


class Batcher(Worker):
    """Overwrites a set of files in one batch, all with the same number: a mixture of numbers would be half a batch."""

    def __init__(self, name, rng, ledger):
        super().__init__(name, rng, ledger)
        self.number = 0
        self.acknowledged = None

    def paths(self):
        return [f"{self.name}/{number}.txt" for number in range(4)]

    def step(self, wire):
        self.number += 1
        filling = "x" * self.rng.choice([0, 1000, 140_000])
        changes = []
        for path in self.paths():
            content = f"{self.number} {path} {filling}"
            self.ledger.sending(content.encode())
            changes.append({"op": "put", "path": path, "content": content})
        changes.append({"op": "mkdir", "path": f"{self.name}/made"})
        items = wire.call("POST", f"{WORKSPACE}/batch", {"changes": changes}).ok().json()["items"]
        self.ledger.acknowledged(items[:-1])
        self.acknowledged = self.number

    def check(self, wire, listed):
        numbers = {int(wire.call("GET", at(path)).ok().body.split()[0]) if path in listed else None for path in self.paths()}
        assert len(numbers) == 1, f"a batch was kept in part: {numbers}"
        found = numbers.pop()
        assert found in (self.acknowledged, self.number), (found, self.acknowledged, self.number)
        self.acknowledged = found


class Mover(Worker):
    """Moves a folder with a file to and fro: it is always at exactly one of the two places."""

    def __init__(self, name, rng, ledger):
        super().__init__(name, rng, ledger)
        self.places = [f"{name}/left", f"{name}/right"]
        self.place = None
        self.moving = False

    def step(self, wire):
        if self.place is None:
            content = self.bytes(10, 100 * KIB)
            self.ledger.sending(content)
            self.ledger.acknowledged([wire.call("PUT", at(f"{self.places[0]}/file.bin"), content).ok().json()])
            self.place = 0
        self.moving = True
        wire.call("POST", f"{WORKSPACE}/move", {"from": self.places[self.place], "to": self.places[1 - self.place]}).ok()
        self.place = 1 - self.place
        self.moving = False
        self.ledger.acknowledged()

    def check(self, wire, listed):
        found = [number for number, place in enumerate(self.places) if f"{place}/file.bin" in listed]
        if self.place is None:
            assert found in ([], [0])
        else:
            assert found == [self.place] or (self.moving and found == [1 - self.place]), (found, self.place)
        self.place = found[0] if found else None
        self.moving = False


class Purger(Worker):
    """Writes contents that others write, too, and purges and collects them, so that the collector races the writers."""

    def __init__(self, name, rng, ledger, contents):
        super().__init__(name, rng, ledger)
        self.contents = contents
        self.number = 0
        self.steps = 0

    def step(self, wire):
        self.number += 1
        content = self.rng.choice(self.contents)
        self.ledger.sending(content)
        path = f"{self.name}/{self.number}"
        made = wire.call("PUT", at(path), content).ok().json()
        self.ledger.acknowledged([made])
        if self.rng.random() < 0.2:
            return  # this one stays
        versions = [made["version"]["id"]]
        wire.call("DELETE", at(path)).ok()
        self.ledger.purging(versions)
        wire.call("DELETE", f"{WORKSPACE}/trash/{made['entry']['id']}").ok()
        self.ledger.purged(versions)
        if self.rng.random() < 0.3:
            wire.call("POST", "/api/v1/gc").ok()
        self.ledger.acknowledged()

    def check(self, wire, listed):
        """The ledger knows all there is to know about them."""


def make_workers(rng, ledger):
    shared = [rng.randbytes(size) for size in (0, 3000, 90 * KIB, 700 * KIB, 2 * MIB)]

    def own():
        return type(rng)(rng.random())

    return [
        Overwriter("small", own(), ledger, 0, 64 * KIB),
        Overwriter("tiny", own(), ledger, 0, 500, paths=5),
        Overwriter("middle", own(), ledger, 64 * KIB + 1, MIB),
        Overwriter("large", own(), ledger, 3 * MIB, 6 * MIB, paths=2),
        Poster("posts", own(), ledger),
        Batcher("batch", own(), ledger),
        Mover("move", own(), ledger),
        Purger("purge-a", own(), ledger, shared),
        Purger("purge-b", own(), ledger, shared),
    ]


def press_and_kill(server, workers, ledger, rng):
    """All workers at once; SIGKILL after some answers, somewhere inside the next requests."""
    threads = [threading.Thread(target=worker.run, args=(server,)) for worker in workers]
    for thread in threads:
        thread.start()
    ledger.wait_for(rng.randint(1, 60), lambda: any(thread.is_alive() for thread in threads))
    # Not a wait for anything: the moment of the kill within the requests under way is what is random here.
    threading.Event().wait(rng.random() * 0.02)
    server.kill()
    for thread in threads:
        thread.join()
    for worker in workers:
        if worker.failure:
            raise AssertionError(f"the worker {worker.name} failed:\n{server.log()[-3000:]}") from worker.failure


def kill_while_starting(server, rng):
    """A crash while it recovers from a crash."""
    server.launch()
    threading.Event().wait(rng.random() * 0.04)
    server.kill()


def audit_holds(wire, folder):
    """The journal's chain and signatures hold, checked offline."""
    file = folder / "audit.jsonl"
    file.write_bytes(wire.call("GET", f"{WORKSPACE}/audit").ok().body)
    checked = subprocess.run([str(binary()), "audit", "verify", str(file)], capture_output=True, text=True, timeout=120, check=False)
    return checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("run", range(RUNS))
def test_acknowledged_writes_survive_kills_at_random_moments(run):
    rng = make_random()
    rng.seed(f"{rng.random()} {run}")
    ledger = Ledger()
    workers = make_workers(rng, ledger)
    server = Server("--sandbox", "off", "--log-level", "warn").start()
    try:
        for kill in range(KILLS):
            press_and_kill(server, workers, ledger, rng)
            if rng.random() < 0.2:
                kill_while_starting(server, rng)
            server.start()
            with Wire(server) as wire:
                listed = ledger.check_listing(wire)
                for worker in workers:
                    worker.check(wire, listed)
                ledger.check_new_versions(wire, rng, older=20)
                if kill % 10 == 9:
                    verify(wire)
        with Wire(server) as wire:
            checked = ledger.check_versions(wire)
            found = verify(wire)
            held, said = audit_holds(wire, server.folder)
            assert held, said
        print(f"{KILLS} kills, {checked} versions acknowledged and read back, {found['bytes'] >> 20} MiB verified")
        assert checked > 2 * KILLS, "the load was too light to prove anything"
        assert server.stop() == 0
        assert "fatal" not in server.log(), server.log()[-3000:]
    finally:
        server.remove()
