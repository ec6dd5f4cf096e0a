"""Without control groups no code runs, unless the operator allows approximate limits."""

import os

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
