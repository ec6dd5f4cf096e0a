"""Without control groups no code runs, unless the operator allows approximate limits."""

import os
import pathlib

import pytest

from sessions_client import ORDINARY, Keep, UserServer


@pytest.fixture
def start():
    if os.geteuid() != 0:
        pytest.skip("only root can start a server as a user who surely has no control groups")
    made = []

    def start(**environment):
        made.append(UserServer(ORDINARY, environment=environment).start())
        return made[-1]

    yield start
    for one in made:
        assert one.stop() == 0
        one.remove()


@pytest.mark.parametrize("sandbox", ["required", "weak"])
def test_exact_limits_are_the_default_and_no_part_of_a_weak_sandbox(start, sandbox):
    server = start(SANDKEEP_LIMITS="exact", SANDKEEP_SANDBOX=sandbox)
    refused = Keep(server).call("POST", "/api/v1/sessions", 503, json={}).json()["error"]
    assert "limits=approximate" in refused["message"] and "delegated" in refused["message"]
    assert "limits=approximate" in server.log()


def test_approximate_limits_are_said_at_the_start_and_to_agents(start):
    server = start(SANDKEEP_LIMITS="approximate")
    assert "APPROXIMATE LIMITS" in server.log()
    keep = Keep(server)
    assert keep.run(keep.create(), "1+1")["end"] == "ok"
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
             "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
    answer = keep.call("POST", "/mcp", json=hello, headers={"Accept": "application/json, text/event-stream"})
    assert "approximate limits" in answer.text


CONTROLLERS = ("cpu", "memory", "pids", "freezer")


@pytest.fixture
def delegated():
    """Control groups of version 1 that belong to the ordinary user, as a service manager would make them."""
    parents = [pathlib.Path("/sys/fs/cgroup", name) for name in CONTROLLERS]
    if os.geteuid() != 0 or not all((one / "tasks").exists() for one in parents):
        pytest.skip("needs root and control groups of version 1")
    folders = [one / f"sandkeep_test_{os.getpid()}" for one in parents]
    for one in folders:
        one.mkdir()
        for path in (one, one / "cgroup.procs", one / "tasks"):
            os.chown(path, ORDINARY, ORDINARY)
    yield folders
    for one in folders:
        one.rmdir()


class DelegatedServer(UserServer):
    def __init__(self, folders, **environment):
        super().__init__(ORDINARY, environment=environment)
        self.folders = folders

    def command(self):
        joined = " ".join(f"{one}/cgroup.procs" for one in self.folders)
        return ["sh", "-c", f'for file in {joined}; do echo 0 > $file || exit 1; done; exec "$@"', "sh", *super().command()]


def test_an_ordinary_user_with_delegated_groups_has_exact_limits(delegated):
    server = DelegatedServer(delegated, SANDKEEP_LIMITS="exact").start()
    try:
        keep = Keep(server)
        session = keep.create(memory="128 MiB")
        assert keep.run(session, "1+1")["end"] == "ok"
        groups = [list(one.glob("sandkeep-*/t-*/s*")) for one in delegated if one.parent.name == "cpu"]
        assert groups[0], "a session's group lies in that of its principal"
        assert keep.run(session, "x = bytearray(1 << 30)\nfor at in range(0, len(x), 4096): x[at] = 1")["end"] == "oom"
        assert "APPROXIMATE" not in server.log()
        assert server.stop() == 0
    finally:
        server.remove()
