"""What the benchmarks share: a server, its peers, a plain client, and the table."""

import contextlib
import dataclasses
import http.client
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

PROJECT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "tests" / "e2e"))

from sandkeep_server import ROOT_KEY, Server, fixtures_binary  # noqa: E402, F401

PEER = PROJECT / "build" / "release" / "bench_peer"
FILES = "/api/v1/workspaces/default/files"


@dataclasses.dataclass
class Row:
    """One line of the table. `share` is ours divided by the peer's, or its time divided by ours: more is better."""

    figure: str
    ours: str
    peer: str
    share: float | None = None
    goal: str = ""
    met: bool | None = None
    beside: str = ""

    def cells(self):
        verdict = {True: "met", False: "**missed**", None: ""}[self.met]
        share = "" if self.share is None else f"{self.share * 100:.0f} %"
        return [self.figure, self.ours, self.peer, share, self.goal, verdict, self.beside]


HEADINGS = ["figure", "Sandkeep", "peer", "speed of the peer", "goal", "", "beside"]


def table(rows):
    """Markdown whose columns line up on a terminal too."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)


@dataclasses.dataclass
class Bench:
    """Where one run works, and how much it does. `say` tells what is going on."""

    folder: pathlib.Path
    scale: float
    rounds: int

    def scaled(self, count, least=1):
        return max(least, int(count * self.scale))

    def say(self, text):
        print(f"  {text}", file=sys.stderr, flush=True)

    @contextlib.contextmanager
    def server(self, *flags, environment=None, program=None):
        with self.room("server") as folder:
            server = Server(*flags, environment=environment, folder=folder, program=program)
            try:
                yield server.start(timeout_s=120)
                code = server.stop()
                if code != 0:
                    raise RuntimeError(f"the server ended with {code}:\n{server.log()[-2000:]}")
            finally:
                server.kill()

    @contextlib.contextmanager
    def room(self, name):
        """A folder that is gone afterwards."""
        folder = self.folder / name
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def peer(*words):
    """Runs one of the small programs of bench/peer.cpp; what it measured."""
    done = subprocess.run([str(PEER), *map(str, words)], env={"BENCH_KEY": ROOT_KEY}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"bench_peer {' '.join(map(str, words))}: {done.stderr}")
    return json.loads(done.stdout)


@contextlib.contextmanager
def running(command, **options):
    """A program that is ended, by its id, when it is not needed any more."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()


class Api:
    """JSON over one kept-alive connection, with nothing in between."""

    def __init__(self, server, key=ROOT_KEY):
        self.key = key
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)

    def send(self, method, path, body=None):
        """The answer's bytes."""
        data = None if body is None else json.dumps(body).encode()
        self.connection.request(method, path, data, {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:500].decode(errors='replace')}")
        return content

    def call(self, method, path, body=None):
        return json.loads(self.send(method, path, body) or b"null")


def seconds_of(action):
    start = time.monotonic()
    action()
    return time.monotonic() - start


def settle():
    """Nobody pays for what another wrote before."""
    os.sync()


def random_file(path, size):
    with open(path, "wb") as out:
        for start in range(0, size, 16 << 20):
            out.write(os.urandom(min(16 << 20, size - start)))
    return path


def disk_bytes(folder):
    """What a folder takes up on disk, not what its files' lengths add up to."""
    total = 0
    for parent, _, names in os.walk(folder):
        total += sum(os.lstat(os.path.join(parent, name)).st_blocks * 512 for name in names)
    return total


def median(values):
    return statistics.median(values)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def rate(size, seconds):
    return f"{size / seconds / 1e6:,.0f} MB/s"


def size_text(size):
    return f"{size >> 30} GiB" if size >= 1 << 30 and size % (1 << 30) == 0 else f"{size / (1 << 20):,.0f} MiB"
