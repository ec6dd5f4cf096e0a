#!/usr/bin/python3
"""Runs the stages of script/test one after the other and adds up their test cases.

Each stage writes all output to build/test-logs/STAGE.log and one line to the screen; the end of the log follows when it fails. A stage
in which no test ran has failed: a test that silently is not there must not look like one that passed.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "build" / "test-logs"
# Programs of one stage that run side by side. Each has its own folders and ports, so only the cores limit it.
PARALLEL = min(2, os.cpu_count() or 1)
# More failures than this are no accident.
SECOND_TRIES_MAX = 8
# A machine that is busy with other things may be asked to let pass what fails once and passes alone.
TOLERATE_UNSTEADY = os.environ.get("SK_TOLERATE_UNSTEADY") == "1"


@dataclass
class Result:
    passed: int = 0
    failures: list = field(default_factory=list)
    note: str = ""

    def __iadd__(self, other):
        self.passed += other.passed
        self.failures += other.failures
        return self


def kill_group(process):
    """A test's server must not outlive it, whether the test ended, took too long or was interrupted."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


@dataclass
class Run:
    """One invocation of script/test: how thorough it is, and the log of the stage under way."""

    long: bool
    fuzz_seconds: int
    log: Path = None
    processes: set = field(default_factory=set)  # those that run now, each the leader of its own group
    stopping: bool = False

    @property
    def environment(self):
        return {"SK_LONG": "1"} if self.long else {}

    @property
    def timeout_s(self):
        return 6 * 3600 if self.long else 1200

    def call(self, command, environment=None, log=None, timeout_s=None):
        """Runs a command with its output in the log; its exit status, or None when it took too long."""
        timeout_s = timeout_s or self.timeout_s
        if self.stopping:
            return None
        with open(log or self.log, "a", encoding="utf-8") as out:
            print("$", *map(str, command), file=out, flush=True)
            process = subprocess.Popen(
                list(map(str, command)), cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                env={**os.environ, **(environment or {})}, start_new_session=True,
            )
            self.processes.add(process)
            try:
                return process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                print(f"killed after {timeout_s} s", file=out, flush=True)
                return None
            finally:
                self.processes.discard(process)
                kill_group(process)

    def stop(self, *_):
        """On Ctrl-C and SIGTERM."""
        self.stopping = True
        for process in list(self.processes):
            kill_group(process)
        sys.exit("interrupted")

    def build(self, preset, *targets):
        """Builds; how it went counts as one test case."""
        status = self.call(["script/build", preset, "-k", "0", *targets])
        last = self.log.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()[-1]
        if status == 0:
            return Result(passed=1, note=last)
        return Result(failures=[f"build of {preset}"])


class OwnTemp:
    """A folder that a program has instead of /tmp, so that what it leaves there can be told from what others have in it."""

    def __enter__(self):
        # Short, for the sake of sockets; open to all, since tests start servers as ordinary users.
        self.path = Path(tempfile.mkdtemp(prefix="sk-"))
        self.path.chmod(0o1777)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def environment(self):
        return {"TMPDIR": str(self.path)}

    def left(self):
        """What should not be there any more. Pytest keeps the folders of its last runs on purpose."""
        return sorted(path.name for path in self.path.iterdir() if not path.name.startswith("pytest-of-"))


def cases_of(xml):
    """Test cases of a JUnit or GoogleTest report. Skipped ones count as neither."""
    result = Result()
    for case in ElementTree.parse(xml).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            result.failures.append(name)
        elif case.find("skipped") is None and case.get("status", "run") == "run":
            result.passed += 1
    return result


def pytest_stage(folder, workers=1):
    """Files of tests run side by side on that many workers; the tests of one file run one after the other."""

    def stage(run):
        report = LOGS / f"{run.log.stem}.xml"
        report.unlink(missing_ok=True)
        if not (ROOT / folder).is_dir():
            return Result(failures=[f"{folder} does not exist"])
        pytest = ["/usr/bin/python3", "-m", "pytest", "-o", f"cache_dir={LOGS}/{run.log.stem}-cache", "-ra"]
        side_by_side = ["-n", str(workers), "--dist", "loadfile"] if workers > 1 else []
        with OwnTemp() as temp:
            command = [*pytest, *side_by_side, "--cache-clear", f"--junitxml={report}", folder]
            status = run.call(command, run.environment | temp.environment)
            left = temp.left()
        result = cases_of(report) if report.exists() else Result()
        if status != 0 and not result.failures:
            result.failures.append(f"pytest {folder}: exit status {status}")
        elif 0 < len(result.failures) <= SECOND_TRIES_MAX:
            result = second_try(run, pytest, folder, result)
        # Tests that kill programs leave the folders of those programs; they are removed with the stage's own, and named.
        if left:
            result.note = f"{result.note} left in its temporary folder: {', '.join(left[:10])}".strip()
        return result

    return stage


def second_try(run, pytest, folder, first):
    """Runs what failed once more, alone, to tell the broken from the unsteady. An unsteady test has failed too, or nobody would look into it;
    where it is tolerated it counts as passed and is named all the same."""
    report = LOGS / f"{run.log.stem}-again.xml"
    report.unlink(missing_ok=True)
    status = run.call([*pytest, "--last-failed", f"--junitxml={report}", folder], run.environment)
    second = cases_of(report) if report.exists() else Result()
    if status not in (0, 1) or second.passed + len(second.failures) != len(first.failures):
        return first
    unsteady = [name for name in first.failures if name not in second.failures]
    if not unsteady:
        return first
    note = f"UNSTEADY, passed only at the second try: {', '.join(unsteady)}"
    if TOLERATE_UNSTEADY:
        return Result(passed=first.passed + second.passed, failures=second.failures, note=note)
    failures = [f"{name} (unsteady: passed at the second try)" if name in unsteady else name for name in first.failures]
    return Result(passed=first.passed, failures=failures, note=note)


def unit_program(run, program, environment):
    """One GoogleTest program. When it dies, what it had passed counts, and the death is a failure."""
    log = LOGS / f"{run.log.stem}-{program.name}.log"
    report = log.with_suffix(".xml")
    for old in (log, report):
        old.unlink(missing_ok=True)
    with OwnTemp() as temp:
        status = run.call([program, f"--gtest_output=xml:{report}"], environment | temp.environment, log)
        left = temp.left()
    if report.exists():
        result = cases_of(report)
    else:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        result = Result(passed=sum(line.startswith("[       OK ]") for line in lines))
    if status != 0 and not result.failures:
        result.failures.append(f"{program.name}: " + ("too slow" if status is None else f"exit status {status}"))
    if left:
        result.failures.append(f"{program.name} left in its temporary folder: {', '.join(left[:10])}")
    if result.failures:
        with open(run.log, "a", encoding="utf-8") as out:
            out.write(log.read_text(encoding="utf-8", errors="replace")[-20_000:])
    return result


def run_units(run, preset, rooms, environment):
    """The unit tests of a build; those of the release in their long form. A sanitizer looks for mistakes that do not need many rounds, and makes each slow."""
    programs = [p for p in sorted((ROOT / "build" / preset).glob("test_*")) if p.is_file() and os.access(p, os.X_OK)]
    if rooms:
        programs = [p for p in programs if p.name.removeprefix("test_") in rooms]
    if preset == "release":
        environment = environment | run.environment
    with ThreadPoolExecutor(PARALLEL) as pool:
        results = list(pool.map(lambda program: unit_program(run, program, environment), programs))
    total = Result(note=f"{len(programs)} programs")
    for result in results:
        total += result
    return total


def model_stage(run):
    """Random histories against the model of the working copy. Its last line counts cases, each a block of histories."""
    status = run.call([ROOT / "build/release/model_histories"], run.environment)
    lines = run.log.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()
    counts = re.fullmatch(r"(\d+) passed, (\d+) failed", lines[-1])
    failures = [line.removeprefix("[  FAILED  ] ") for line in lines if line.startswith("[  FAILED  ]")]
    if counts is None or (status != 0 and not failures):
        failures.append("model_histories: " + ("too slow" if status is None else f"exit status {status}"))
    note = next((line for line in lines if line.endswith("histories per second")), "")
    return Result(passed=int(counts[1]) if counts else 0, failures=failures, note=note)


SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=1:strict_string_checks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
    "ASAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19",
    "UBSAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19",
}
# The rooms in which threads share data; elsewhere TSan finds nothing that costs its time.
CONCURRENT_ROOMS = ("base", "http", "blobs", "catalog", "workspace", "interpreter", "followers")


def build_stage(run):
    return run.build("release")


def unit_stage(run):
    return run_units(run, "release", None, {})


def clang_stage(run):
    """Everything with the second compiler, and with the sanitizers and fuzzers that the next two stages run."""
    return run.build("fuzz")


def asan_stage(run):
    return run_units(run, "fuzz", None, SANITIZERS)


def tsan_stage(run):
    rooms = [room for room in CONCURRENT_ROOMS if list((ROOT / "tests/unit" / room).glob("*_test.cpp"))]
    result = run.build("tsan", *(f"test_{room}" for room in rooms))
    if not result.failures:
        result += run_units(run, "tsan", rooms, SANITIZERS)
    return result


def fuzz_program(run, program):
    found = ROOT / "build/fuzz/corpus" / program.name
    seeds = ROOT / "tests/fuzz/corpus" / program.name
    found.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"fuzz-{program.name}.log"
    log.unlink(missing_ok=True)
    command = [program, f"-max_total_time={run.fuzz_seconds}", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]
    command += [f"-artifact_prefix={LOGS}/{program.name}-", found] + ([seeds] if seeds.is_dir() else [])
    if run.call(command, SANITIZERS, log) == 0:
        return Result(passed=1)
    with open(run.log, "a", encoding="utf-8") as out:
        out.write(log.read_text(encoding="utf-8", errors="replace")[-20_000:])
    return Result(failures=[program.name])


def fuzz_stage(run):
    programs = [p for p in sorted((ROOT / "build/fuzz").glob("*_fuzz")) if os.access(p, os.X_OK)]
    with ThreadPoolExecutor(PARALLEL) as pool:
        results = list(pool.map(lambda program: fuzz_program(run, program), programs))
    total = Result(note=f"{run.fuzz_seconds} s each")
    for result in results:
        total += result
    return total


def mutations_stage(run):
    """Each mutation of tests/mutations that a test notices counts as passed, and so does one whose survival is explained."""
    report = ROOT / "build/mutations/report.json"
    report.unlink(missing_ok=True)
    status = run.call(["tests/mutations/run.py"], timeout_s=6 * 3600)  # it limits each of its tests itself
    if not report.exists():
        return Result(failures=[f"tests/mutations/run.py: exit status {status}"])
    told = json.loads(report.read_text(encoding="utf-8"))
    good = [name for name, verdict in told["verdicts"].items() if verdict == "noticed" or name in told["explained"]]
    bad = [f"mutation {name}: {verdict}" for name, verdict in told["verdicts"].items() if name not in good]
    if told["share"] < told["goal"]:
        bad.append(f"only {told['share']:.1%} of the mutations are noticed, fewer than {told['goal']:.0%}")
    return Result(passed=len(good), failures=bad, note=f"{told['share']:.1%} noticed")


# In order: the quickest to find a mistake come first. Sanitizers marked as such are left out by --quick.
STAGES = {
    "build": build_stage,
    "tidy": pytest_stage("tests/tidy"),
    "unit": unit_stage,
    "model": model_stage,
    "sandbox": pytest_stage("tests/sandbox", workers=PARALLEL),
    "e2e": pytest_stage("tests/e2e", workers=PARALLEL),
    "tenants": pytest_stage("tests/tenants"),
    "clients": pytest_stage("tests/clients", workers=PARALLEL),
    "readme": pytest_stage("tests/readme"),
    "clang": clang_stage,
    "asan": asan_stage,
    "fuzz": fuzz_stage,
    "tsan": tsan_stage,
    "mutations": mutations_stage,
}
THOROUGH = ("clang", "asan", "fuzz", "tsan")
NIGHTLY = ("mutations",)  # only with --long, or by name
NEEDS = {"tidy": "build", "unit": "build", "model": "build", "sandbox": "build", "e2e": "build", "tenants": "build", "clients": "build", "readme": "build", "asan": "clang", "fuzz": "clang"}


def chosen_stages(arguments):
    if not arguments.stages:
        left_out = (THOROUGH if arguments.quick else ()) + (() if arguments.long else NIGHTLY)
        return [name for name in STAGES if name not in left_out]
    wanted = set(arguments.stages) | {NEEDS[name] for name in arguments.stages if name in NEEDS}
    return [name for name in STAGES if name in wanted]


def run_stage(run, name):
    run.log = LOGS / f"{name}.log"
    run.log.write_text("", encoding="utf-8")
    started = time.monotonic()
    result = STAGES[name](run)
    if not result.passed and not result.failures:
        result.failures.append(f"{name}: no test ran")
    seconds = time.monotonic() - started
    verdict = "ok    " if not result.failures else "FAILED"
    print(f"{verdict} {name:<7} {seconds:6.0f} s  {result.passed} passed, {len(result.failures)} failed  {result.note}", flush=True)
    if result.failures:
        for failure in result.failures[:20]:
            print(f"         {failure}")
        tail = run.log.read_text(encoding="utf-8", errors="replace").splitlines()[-40:]
        print(*(f"       | {line[:200]}" for line in tail), f"       all of it: {run.log.relative_to(ROOT)}", sep="\n", flush=True)
    return result


def run_stages(run, names):
    total = Result()
    failed = set()
    for name in names:
        if NEEDS.get(name) in failed:
            print(f"FAILED {name:<7} not run, because {NEEDS[name]} failed", flush=True)
            total.failures.append(f"{name}: not run")
            continue
        result = run_stage(run, name)
        if result.failures:
            failed.add(name)
        total += result
    return total


def main():
    parser = argparse.ArgumentParser(prog="script/test")
    parser.add_argument("--quick", action="store_true", help="without sanitizers and fuzzers")
    parser.add_argument("--long", action="store_true", help="the long variants (SK_LONG=1)")
    parser.add_argument("--mutations", action="append_const", dest="stages_by_flag", const="mutations", help="only the stage mutations")
    parser.add_argument("stages", nargs="*", metavar="stage", help="only these: " + " ".join(STAGES))
    arguments = parser.parse_args()
    arguments.stages += arguments.stages_by_flag or []
    unknown = [name for name in arguments.stages if name not in STAGES]
    if unknown:
        parser.error(f"no stage '{unknown[0]}'; there are: {' '.join(STAGES)}")
    default_seconds = 60 if arguments.long else 10
    run = Run(long=arguments.long, fuzz_seconds=int(os.environ.get("FUZZ_SECONDS", default_seconds)))
    LOGS.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    for interrupt in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interrupt, run.stop)
    total = run_stages(run, chosen_stages(arguments))
    print(f"{time.monotonic() - started:.0f} s in all")
    print(f"{total.passed} passed, {len(total.failures)} failed")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
