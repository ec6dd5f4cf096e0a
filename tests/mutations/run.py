#!/usr/bin/python3
"""Breaks one promise at a time and checks that a test notices: tests/mutations/run.py [--list] [--no-baseline] [--lanes N] [name…]

Each tests/mutations/*.patch is a unified diff against src/ (or runtime/) behind header lines:

    # breaks: the promise that no longer holds
    # noticed by: test_blobs LocalStore.*            a unit-test program and its --gtest_filter
    # noticed by: tests/e2e/test_x.py -k name        or pytest's arguments; several lines: one of them must fail
    # noticed by: model 100                          so many random histories against the model of the working copy
    # survives: why no test can notice it            only for one that is known to survive

One copy of the tree in build/mutations is compiled without optimisation. Files that are mutated are compiled one by one and all others in batches (SK_ALONE),
so that a mutation costs one file and one link. Tests run in lanes, each another copy with programs of its own, while the next mutation is compiled.
Selections run unbroken first: a mutation whose selection fails unbroken counts as broken. The last line is "N noticed, N survived, N broken".
"""

import argparse
import functools
import json
import os
import queue
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "mutations"
WORK = ROOT / "build" / "mutations"
REPORT = WORK / "report.json"
LOGS = WORK / "logs"
PRESET = "mutations"
GOAL = 0.95
LANES = 3  # tests wait more than they compute, and one core compiles
BUILD_LIMIT_S, TEST_LIMIT_S = 3600, 300
SLOW_S = 15  # a selection that takes longer is named, so that somebody looks for a narrower one
HELPERS = ("libfault.so", "fault_probe", "blob_keeper", "catalog_keeper")  # beside the programs that are tested
ONCE = {"list_routes", "fault"}  # built without any mutation only: they know names, not behaviour
COPIED = ("src", "runtime", "tests", "cmake", "script", "bench", "packaging", "docs", "examples", "CMakeLists.txt", "CMakePresets.json", "README.md",
          "ARCHITECTURE.md", "STORAGE_FORMAT.md", "package.json", "package-lock.json")


@dataclass
class Mutation:
    path: Path
    breaks: str = ""
    noticed_by: list = field(default_factory=list)
    survives: str = ""
    diff: str = ""

    @property
    def name(self):
        return self.path.stem

    @property
    def file(self):
        return re.search(r"^\+\+\+ b/(\S+)", self.diff, re.M).group(1)


def read(path):
    one = Mutation(path)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for number, line in enumerate(lines):
        found = re.match(r"# ([a-z ]+): (.+)", line)
        if not found:
            one.diff = "".join(lines[number:])
            break
        word, value = found.group(1), found.group(2).strip()
        if word == "noticed by":
            one.noticed_by.append(value)
        elif word in ("breaks", "survives"):
            setattr(one, word, value)
        else:
            raise ValueError(f"{path.name}: '{word}' is no header of a mutation")
    return one


def all_mutations():
    return [read(path) for path in sorted(HERE.glob("*.patch"))]


def apply(one, tree, *flags):
    """Whether the diff fits the tree."""
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)}  # the copy is no repository, the tree above it is
    done = subprocess.run(["git", "apply", "--unidiff-zero", *flags, "-"], cwd=tree, input=one.diff, text=True, capture_output=True, check=False, env=environment)
    return done.returncode == 0


def targets_of(selections):
    """What has to be built before they can run."""
    targets = set()
    for selection in selections:
        if selection.startswith("model "):
            targets.add("model_histories")
        elif selection.startswith("tests/sandbox"):
            targets.add("sandbox_run")
        elif selection.startswith("tests/"):
            targets |= {"sandkeep", "list_routes", "fault", "blob_keeper"}
        else:
            targets.add(selection.split()[0])
    return targets


def command_of(selection, tree):
    words = shlex.split(selection)
    if words[0] == "model":
        return ["env", "SK_FAILURES=1", "SK_SHRINK_S=0", f"SK_HISTORIES={words[1]}", str(tree / "build/release/model_histories")]
    if not selection.startswith("tests/"):
        selected = words[1] if len(words) > 1 else "*"
        return [str(tree / "build/release" / words[0]), "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={selected}"]
    return ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *words]


class Stop:
    """Ends what the lanes run when the whole is interrupted."""

    def __init__(self):
        self.processes = set()
        self.asked = False

    def __call__(self, *_):
        self.asked = True
        for process in list(self.processes):
            kill_group(process)
        sys.exit("interrupted")


STOP = Stop()


def kill_group(process):
    """A test's servers end with it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run(command, tree, limit_s, log):
    """The exit status; None when it took too long."""
    if STOP.asked:
        return None
    # A folder instead of /tmp, since tests that are killed leave theirs: short for the sake of sockets, open because servers run as other users.
    temp = Path(tempfile.mkdtemp(prefix="sk-"))
    temp.chmod(0o1777)
    try:
        with open(log, "a", encoding="utf-8") as out:
            print("$", *command, file=out, flush=True)
            process = subprocess.Popen(command, cwd=tree, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
                                       env={**os.environ, "TMPDIR": str(temp)})
            STOP.processes.add(process)
            try:
                return process.wait(limit_s)
            except subprocess.TimeoutExpired:
                print(f"killed after {limit_s:.0f} s", file=out, flush=True)
                return None
            finally:
                kill_group(process)
                STOP.processes.discard(process)
    finally:
        shutil.rmtree(temp, ignore_errors=True)


def copy_tree(tree):
    """Writes what differs, with a new time: a file that a run left broken must be compiled again, although the original is older."""
    wanted = set()
    for top in COPIED:
        source = ROOT / top
        found = [source] if source.is_file() else [path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        for path in found:
            relative = path.relative_to(ROOT)
            wanted.add(relative)
            target = tree / relative
            if target.exists() and target.read_bytes() == path.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    for top in COPIED:
        for path in (tree / top).rglob("*") if (tree / top).is_dir() else ():
            if path.is_file() and path.relative_to(tree) not in wanted:
                path.unlink()
    # SQLite's source and the tests' clients.
    if not (tree / "node_modules").is_symlink():
        (tree / "node_modules").symlink_to(ROOT / "node_modules")


class Builder:
    """The copy that is compiled. Only the main thread works in it."""

    def __init__(self):
        self.tree = WORK / "tree"
        self.programs = self.tree / "build" / PRESET

    def prepare(self, targets, log):
        copy_tree(self.tree)
        alone = ";".join(sorted({one.file for one in all_mutations()}))
        configured = run(["cmake", "--preset", PRESET, f"-DSK_ALONE={alone}"], self.tree, BUILD_LIMIT_S, log) == 0
        if not configured or not self.build(targets, log):
            sys.exit("interrupted" if STOP.asked else f"the unbroken tree does not compile: {log}")

    def build(self, targets, log):
        return run(["ninja", "-C", f"build/{PRESET}", *sorted(set(targets))], self.tree, BUILD_LIMIT_S, log) == 0


class Lane:
    """A copy in which tests run, with the programs that they need. One thread at a time works in it."""

    def __init__(self, number):
        self.tree = WORK / f"run{number}"
        self.programs = self.tree / "build" / "release"  # where tests look for them

    def prepare(self):
        copy_tree(self.tree)
        self.programs.mkdir(parents=True, exist_ok=True)

    def take_programs(self, builder, targets):
        for name in {*targets, *HELPERS}:
            source, target = builder.programs / name, self.programs / name
            if not source.is_file() or (target.exists() and target.stat().st_mtime_ns == source.stat().st_mtime_ns):
                continue
            target.unlink(missing_ok=True)
            shutil.copy2(source, target)

    def test(self, selection, limit_s, log):
        return run(command_of(selection, self.tree), self.tree, limit_s, log)

    def verdict(self, one, limits, log):
        """And a word about how."""
        for selection in one.noticed_by:
            if selection not in limits:
                return "does not run", f"fails unbroken: {selection}"
            status = self.test(selection, limits[selection], log)
            if selection.startswith("tests/") and status not in (0, 1, None):
                return "does not run", f"pytest ended with {status}"
            if status != 0:
                return "noticed", "by its time limit only" if status is None else ""
        return "survived", one.survives


class Lanes:
    """Runs work in whichever lane is free."""

    def __init__(self, count):
        self.all = [Lane(number) for number in range(count)]
        self.free = queue.Queue()
        for lane in self.all:
            self.free.put(lane)
        self.pool = ThreadPoolExecutor(count)
        self.jobs = []

    def start(self, lane, work):
        def job():
            try:
                work(lane)
            finally:
                self.free.put(lane)

        self.jobs.append(self.pool.submit(job))

    def finish(self):
        for job in self.jobs:
            job.result()
        self.jobs.clear()


def baseline(lanes, selections):
    """Runs the selections unbroken. Returns how long each that passes may take with a mutation, which often makes a test wait for what never comes."""
    limits = {}

    def check(selection, lane):
        started = time.monotonic()
        status = lane.test(selection, TEST_LIMIT_S, LOGS / f"baseline-{lane.tree.name}.log")
        seconds = time.monotonic() - started
        if status == 0:
            limits[selection] = min(TEST_LIMIT_S, 30 + 4 * seconds)
        if status != 0 or seconds > SLOW_S:
            print(f"{'is slow' if status == 0 else f'fails ({status})':<16} {seconds:5.0f} s  unbroken: {selection}", flush=True)

    for selection in selections:
        lanes.start(lanes.free.get(), functools.partial(check, selection))
    lanes.finish()
    return limits


def try_all(chosen, builder, lanes, limits):
    """Each mutation's verdict: noticed, survived, does not apply, does not compile, does not run."""
    verdicts = {}

    def tell(one, began, verdict, how=""):
        if STOP.asked:
            return
        verdicts[one.name] = verdict
        print(f"{verdict:<16} {time.monotonic() - began:5.0f} s  {one.name}: {one.breaks}" + (f"  ({how})" if how else ""), flush=True)

    for one in chosen:
        began, log = time.monotonic(), LOGS / f"{one.name}.log"
        broken = builder.tree / one.file
        whole = broken.read_bytes()
        if not apply(one, builder.tree):
            tell(one, began, "does not apply")
            continue
        try:
            targets = targets_of(one.noticed_by) - ONCE
            if not builder.build(targets, log):
                tell(one, began, "does not compile")
                continue
            lane = lanes.free.get()
            lane.take_programs(builder, targets)
        finally:
            broken.write_bytes(whole)
        lanes.start(lane, lambda lane, one=one, began=began, log=log: tell(one, began, *lane.verdict(one, limits, log)))
    lanes.finish()
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--no-baseline", action="store_true", help="do not run the selections unbroken first")
    parser.add_argument("--lanes", type=int, default=LANES, help="how many mutations are tried side by side")
    parser.add_argument("names", nargs="*", metavar="name", help="only mutations whose name contains one of these")
    arguments = parser.parse_args()
    chosen = [one for one in all_mutations() if not arguments.names or any(word in one.name for word in arguments.names)]
    if arguments.list:
        print(*(f"{one.name}: {one.breaks}" for one in chosen), sep="\n")
        return 0
    if not chosen:
        sys.exit("there is no such mutation")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, STOP)
    started = time.monotonic()
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    builder, lanes = Builder(), Lanes(max(1, min(arguments.lanes, len(chosen))))
    selections = sorted({selection for one in chosen for selection in one.noticed_by})
    builder.prepare(targets_of(selections), LOGS / "build.log")
    for lane in lanes.all:
        lane.prepare()
        lane.take_programs(builder, targets_of(selections))
    print(f"built in {time.monotonic() - started:.0f} s", flush=True)
    limits = dict.fromkeys(selections, TEST_LIMIT_S) if arguments.no_baseline else baseline(lanes, selections)
    if not arguments.no_baseline:
        print(f"{len(limits)} of {len(selections)} selections pass unbroken after {time.monotonic() - started:.0f} s", flush=True)
    verdicts = try_all(sorted(chosen, key=lambda one: (one.file, one.name)), builder, lanes, limits)
    explained = [one.name for one in chosen if verdicts[one.name] == "survived" and one.survives]
    noticed = sum(verdict == "noticed" for verdict in verdicts.values())
    survived = sum(verdict == "survived" for verdict in verdicts.values())
    REPORT.write_text(json.dumps({"verdicts": verdicts, "explained": explained, "share": noticed / len(verdicts), "goal": GOAL}, indent=1), encoding="utf-8")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"whole run: {time.monotonic() - started:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processor time; {len(explained)} of the survivors explained")
    print(f"{noticed} noticed, {survived} survived, {len(verdicts) - noticed - survived} broken")
    return 0 if noticed + len(explained) == len(verdicts) and noticed >= GOAL * len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
