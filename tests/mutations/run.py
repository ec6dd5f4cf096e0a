#!/usr/bin/python3
"""Breaks one promise at a time and checks that a test notices: tests/mutations/run.py [--list] [--no-baseline] [name…]

Each tests/mutations/*.patch is a unified diff against src/ (or runtime/) behind header lines:

    # breaks: the promise that no longer holds
    # noticed by: test_blobs LocalStore.*            a unit-test program and its --gtest_filter
    # noticed by: tests/e2e/test_x.py -k name        or pytest's arguments; several lines: one of them must fail
    # noticed by: model                              random histories against the model of the working copy
    # survives: why no test can notice it            only for one that is known to survive

The patches are applied to a copy of the tree in build/mutations, which has a debug build of its own, so that each costs the compilation of what
it touches. Selections run unbroken first: one that fails without a mutation proves nothing. The last line is "N noticed, N survived, N broken".
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "mutations"
SCRATCH = ROOT / "build" / "mutations" / "tree"
REPORT = ROOT / "build" / "mutations" / "report.json"
GOAL = 0.95
BUILD_LIMIT_S, TEST_LIMIT_S = 3600, 300
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


def targets_of(selection):
    """What has to be built before it can run."""
    if selection == "model":
        return ["model_histories"]
    if not selection.startswith("tests/"):
        return [selection.split()[0]]
    return ["sandbox_run"] if selection.startswith("tests/sandbox") else ["sandkeep", "list_routes"]


def command_of(selection):
    words = shlex.split(selection)
    if selection == "model":
        return ["env", "SK_FAILURES=1", "SK_SHRINK_S=0", str(SCRATCH / "build" / "debug" / "model_histories")]
    if not selection.startswith("tests/"):
        return [str(SCRATCH / "build" / "debug" / words[0]), "--gtest_brief=1", "--gtest_filter=" + (words[1] if len(words) > 1 else "*")]
    return ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *words]


def copy_tree():
    """Only what changed: a file that keeps its time is not compiled again."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    wanted = set()
    for top in COPIED:
        source = ROOT / top
        found = [source] if source.is_file() else [path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        for path in found:
            relative = path.relative_to(ROOT)
            wanted.add(relative)
            target, state = SCRATCH / relative, path.stat()
            if target.exists() and target.stat().st_mtime_ns == state.st_mtime_ns and target.stat().st_size == state.st_size:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
    for top in COPIED:
        for path in (SCRATCH / top).rglob("*") if (SCRATCH / top).is_dir() else ():
            if path.is_file() and path.relative_to(SCRATCH) not in wanted:
                path.unlink()
    # The tests look for programs where a release build puts them.
    (SCRATCH / "build").mkdir(exist_ok=True)
    release = SCRATCH / "build" / "release"
    if not release.is_symlink():
        release.symlink_to("debug")


def run(command, limit_s, log):
    """The exit status; None when it took too long. A test's servers end with it."""
    with open(log, "a", encoding="utf-8") as out:
        print("$", *command, file=out, flush=True)
        process = subprocess.Popen(command, cwd=SCRATCH, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


def build(targets, log):
    return run(["script/build", "debug", *sorted(set(targets))], BUILD_LIMIT_S, log) == 0


def baseline(selections, log):
    """Those that fail without any mutation."""
    if not build([target for one in selections for target in targets_of(one)], log):
        sys.exit(f"the unbroken tree does not compile: {log}")
    failing = []
    for selection in selections:
        status = run(command_of(selection), TEST_LIMIT_S, log)
        if status != 0:
            failing.append(f"{selection}: exit status {status}")
    return failing


def try_one(one, log):
    """The verdict: noticed, survived, does not apply, does not compile."""
    if not apply(one, SCRATCH):
        return "does not apply"
    try:
        if not build([target for selection in one.noticed_by for target in targets_of(selection)], log):
            return "does not compile"
        for selection in one.noticed_by:
            if run(command_of(selection), TEST_LIMIT_S, log) != 0:
                return "noticed"
        return "survived"
    finally:
        if not apply(one, SCRATCH, "--reverse"):
            sys.exit(f"{one.name} could not be taken back: remove build/mutations")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--no-baseline", action="store_true", help="do not run the selections unbroken first")
    parser.add_argument("names", nargs="*", metavar="name", help="only mutations whose name contains one of these")
    arguments = parser.parse_args()
    chosen = [one for one in all_mutations() if not arguments.names or any(word in one.name for word in arguments.names)]
    if arguments.list:
        print(*(f"{one.name}: {one.breaks}" for one in chosen), sep="\n")
        return 0
    if not chosen:
        sys.exit("there is no such mutation")
    copy_tree()
    logs = REPORT.parent / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    selections = sorted({selection for one in chosen for selection in one.noticed_by})
    if not arguments.no_baseline and (failing := baseline(selections, logs / "baseline.log")):
        sys.exit("fails without any mutation:\n" + "\n".join(failing))
    verdicts = {}
    for one in chosen:
        started = time.monotonic()
        verdicts[one.name] = verdict = try_one(one, logs / f"{one.name}.log")
        why = f"  ({one.survives})" if verdict == "survived" and one.survives else ""
        print(f"{verdict:<16} {time.monotonic() - started:5.0f} s  {one.name}: {one.breaks}{why}", flush=True)
    explained = [one.name for one in chosen if verdicts[one.name] == "survived" and one.survives]
    noticed = sum(verdict == "noticed" for verdict in verdicts.values())
    survived = sum(verdict == "survived" for verdict in verdicts.values())
    REPORT.write_text(json.dumps({"verdicts": verdicts, "explained": explained, "share": noticed / len(verdicts), "goal": GOAL}, indent=1), encoding="utf-8")
    print(f"{noticed} noticed, {survived} survived ({len(explained)} explained), {len(verdicts) - noticed - survived} broken")
    return 0 if noticed + len(explained) == len(verdicts) and noticed >= GOAL * len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
