#!/usr/bin/python3
"""Compares two builds of the server: bench/turns.py BEFORE AFTER [figure…] [--rounds N] [--scale X]

BEFORE and AFTER are binaries, with sandkeep_mcp_fixtures beside them. Each round measures every figure with both, one after the other, and the next round begins with the other one, so
that whatever else the machine does meets both. The table has the median of each, and the ratio of the times (after / before) with its 95 %
interval: "slower" and "faster" mean that the whole interval lies beyond 5 %. Exit status 1 if anything is slower."""

import argparse
import contextlib
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import mcp  # noqa: E402
import sessions  # noqa: E402
from tools import FILES, PROJECT, Api, Bench, median, peer, random_file, settle  # noqa: E402

BOUND = 1.05
# Two-sided 95 % points of Student's distribution, by degrees of freedom.
STUDENT = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145]


def with_fixtures(binary):
    """The program beside `binary` that has the trivial tool of the MCP figures, and its flags. Older builds have it behind a flag."""
    beside = binary.with_name("sandkeep_mcp_fixtures")
    if beside.exists():
        return beside, []
    settings = subprocess.run([binary, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    return binary, ["--mcp-conformance=on"] if "mcp-conformance" in settings else []


class Stand:
    """One of the two servers, with what the figures need of it: a folder, a session, files."""

    def __init__(self, bench, binary, name, stack):
        program, fixtures = with_fixtures(binary)
        self.bench = bench
        self.folder = stack.enter_context(bench.room(name))
        inner = Bench(self.folder, bench.scale, bench.rounds)
        # Connections stay open while the other server is measured.
        flags = [*fixtures, "--log-requests=off", "--idle-timeout-s=1h", "--session-idle-s=2h"]
        self.server = stack.enter_context(inner.server(*flags, environment={"SANDKEEP_SANDBOX": "required"}, program=program))
        self.api = Api(self.server)
        self.session = sessions.OurSession(self.api)
        self.session.run("1")
        self.large = None
        self.posts = {}
        self.number = 0

    def next(self):
        self.number += 1
        return self.number

    def beside_many(self):
        """A session with as many files as anybody has."""
        if self.large is None:
            count = self.bench.scaled(100_000, 500)
            self.large = sessions.OurSession(self.api)
            code = (f"import os\nfor i in range({count}):\n    os.makedirs(f'd{{i // 1000}}', exist_ok=True); open(f'd{{i // 1000}}/{{i}}', 'w').close()")
            self.api.call("POST", f"{self.large.path}/executions", {"code": code, "timeout_s": 3000})
        return self.large

    def requests(self, name, clients, tool, arguments):
        key = (name, clients)
        if key not in self.posts:
            self.posts[key] = mcp.requests(self.folder, self.server.port, name, clients, tool, arguments)
            peer("posts", self.server.port, max(clients, 100), *self.posts[key])  # warm
        return self.posts[key]


def upload(stand):
    size = stand.bench.scaled(256 << 20, 4 << 20)
    source = random_file(stand.folder / "source", size)
    settle()
    return peer("put", stand.server.port, f"{FILES}/upload-{stand.next()}", source)["seconds"]


def puts(clients, wanted):
    def measure(stand):
        settle()
        run = peer("puts", stand.server.port, f"{FILES}/small-{stand.next()}", stand.bench.scaled(wanted, 64), clients)
        return 1 / run["per_second"]

    return measure


def calls(name, clients, wanted, tool, arguments):
    def measure(stand):
        files = stand.requests(name, clients, tool, arguments)
        return 1 / peer("posts", stand.server.port, stand.bench.scaled(wanted, 64), *files)["per_second"]

    return measure


def listing(stand):
    """A page of 1,000 entries."""
    if stand.next() == 1 or not getattr(stand, "listed", False):
        changes = [{"op": "put", "path": f"page/{i:04}", "content": str(i)} for i in range(1000)]
        stand.api.send("POST", "/api/v1/workspaces/default/batch", {"changes": changes})
        stand.listed = True
    return median(sessions.seconds_each(30, lambda: stand.api.send("GET", "/api/v1/workspaces/default/list?folder=page&limit=1000")))


def cell(code, kept, count):
    def measure(stand):
        return median(sessions.seconds_each(count, lambda: stand.session.run(code, kept)))

    return measure


def many_files(stand):
    count = stand.bench.scaled(1000, 20)
    return sessions.seconds_each(1, lambda: stand.session.run(sessions.MANY_FILES.format(count=count), count))[0] / count


def beside_many(stand):
    session = stand.beside_many()
    session.run("1+1")
    return median(sessions.seconds_each(100, lambda: session.run("1+1")))


def first_pandas(stand):
    def one():
        start = time.monotonic()
        session = sessions.OurSession(stand.api)
        session.run(sessions.PANDAS)
        seconds = time.monotonic() - start
        session.end()
        time.sleep(0.5)  # the pool fills up again
        return seconds

    return median([one() for _ in range(5)])


def waking(stand):
    if not getattr(stand, "sleeper", None):
        stand.sleeper = sessions.OurSession(stand.api)
        stand.sleeper.run("for i in range(200): open(f'f{i}', 'w').write(str(i))", 200)

    def one():
        stand.api.call("POST", f"{stand.sleeper.path}/sleep")
        start = time.monotonic()
        stand.sleeper.run("1")
        return time.monotonic() - start

    return median([one() for _ in range(5)])


NOTHING, CODE = (lambda client: {}), (lambda client: {"code": "1+1", "session": f"bench {client % 8}"})
FIGURES = {
    "upload": ("256 MiB upload", upload),
    "put": ("4 KiB put, 1 client", puts(1, 2000)),
    "puts": ("4 KiB put, 32 clients", puts(32, 8000)),
    "listing": ("a page of 1,000 entries", listing),
    "mcp": ("MCP, a trivial tool, 1 client", calls("trivial", 1, 5000, "test_simple_text", NOTHING)),
    "mcps": ("MCP, a trivial tool, 32 clients", calls("trivial", 32, 20000, "test_simple_text", NOTHING)),
    "mcp-code": ("MCP, run_python `1+1`, 1 client", calls("code", 1, 500, "run_python", CODE)),
    "warm": ("warm `1+1`", cell("1+1", 0, 100)),
    "file": ("a file of 100 KB in a cell", cell(sessions.ONE_FILE, 1, 30)),
    "files": ("1,000 files of 4 KiB in a cell, each", many_files),
    "beside": ("warm `1+1` beside 100,000 files", beside_many),
    "pandas": ("new session to first pandas result", first_pandas),
    "waking": ("waking beside the copy", waking),
}


def interval(before, after):
    """The ratio after / before of the rounds, with its 95 % interval."""
    logs = [math.log(a / b) for b, a in zip(before, after)]
    middle = statistics.mean(logs)
    if len(logs) < 2:
        return (math.exp(middle),) * 3
    margin = STUDENT[min(len(logs) - 2, len(STUDENT) - 1)] * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(middle), math.exp(middle - margin), math.exp(middle + margin)


def verdict(low, high):
    return "**slower**" if low > BOUND else "faster" if high < 1 / BOUND else ""


def milliseconds(seconds):
    return f"{median(seconds) * 1e3:.3g} ms"


def main():
    parser = argparse.ArgumentParser(prog="bench/turns.py", description="Compares two builds of the server, in turns.")
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("figures", nargs="*", help=f"which ones (all): {', '.join(FIGURES)}")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1)
    chosen = parser.parse_args()
    names = chosen.figures or list(FIGURES)
    seconds = {name: ([], []) for name in names}
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-", dir=PROJECT / "build"))
    bench = Bench(folder, chosen.scale, chosen.rounds)
    try:
        with contextlib.ExitStack() as stack:
            stands = [Stand(bench, binary.resolve(), name, stack) for binary, name in ((chosen.before, "before"), (chosen.after, "after"))]
            for name in names:
                measure = FIGURES[name][1]
                for stand in stands:
                    measure(stand)  # warm; both have what they need
                for number in range(chosen.rounds):
                    for which in ((0, 1), (1, 0))[number % 2]:
                        seconds[name][which].append(measure(stands[which]))
                ratio, low, high = interval(*seconds[name])
                bench.say(f"{FIGURES[name][0]}: {milliseconds(seconds[name][0])} → {milliseconds(seconds[name][1])}, {ratio:.3f} ({low:.3f} to {high:.3f})")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("| figure | before | after | ratio | 95 % interval | |\n| --- | --- | --- | --- | --- | --- |")
    slower = False
    for name in names:
        before, after = seconds[name]
        ratio, low, high = interval(before, after)
        slower |= low > BOUND
        print(f"| {FIGURES[name][0]} | {milliseconds(before)} | {milliseconds(after)} | {ratio:.3f} | {low:.3f} to {high:.3f} | {verdict(low, high)} |")
    sys.exit(1 if slower else 0)


if __name__ == "__main__":
    main()
