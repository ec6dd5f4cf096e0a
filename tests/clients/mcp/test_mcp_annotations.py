"""What a tool says of itself is what it does: hosts ask their users before a call, or do not, by these hints."""

import json

import pytest
import requests

from mcp_http import Plain, new_principal


class Place:
    """A workspace with a few files, and all of it that a tool could change."""

    def __init__(self, server, number):
        _, secret, _ = new_principal(server, f"annotations {number}")
        self.server, self.headers = server, {"Authorization": f"Bearer {secret}"}
        self.mcp, self.azure = Plain(server, key=secret), Plain(server, key=secret, path="/azure/mcp")
        self.mcp.begin()
        for path in ("data/a.txt", "data/b.txt", "folder/x", "other/x", "gone.txt"):
            self.mcp.works("write_file", path=path, text=path)
        self.old = self.mcp.works("versions", path="data/a.txt")["versions"][0]["version_id"]
        self.mcp.works("write_file", path="data/a.txt", text="second")
        self.mcp.works("delete_file", path="gone.txt", confirm=True)
        self.environment = None

    def get(self, path, **query):
        answer = requests.get(f"{self.server.url}/api/v1{path}", headers=self.headers, params=query, timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def entries(self):
        """path → id of what is there."""
        return {entry["path"]: entry["id"] for entry in self.get("/workspaces/default/list", recursive="true", limit=1000)["items"]}

    def state(self):
        """Everything but what came of running code at all: that a session exists, and its executions."""
        trash = [entry["id"] for entry in self.get("/workspaces/default/trash")["items"]]
        entries = [(e["path"], e["version_id"]) for e in self.get("/workspaces/default/list", recursive="true", limit=1000)["items"]]
        locks = [(lock["path"], lock["expires_at"]) for lock in self.get("/workspaces/default/locks")["items"]]
        workspaces = [workspace["name"] for workspace in self.get("/workspaces")["items"]]
        talks = [{name: value for name, value in one.items() if not name.endswith("_at")} for one in self.get("/conversations")["items"]]
        sessions = [session["id"] for session in self.get("/sessions")["items"]]
        executions = [len(self.get(f"/sessions/{session}/executions")["items"]) for session in sessions]
        return json.dumps([entries, trash, locks, workspaces, talks, sessions, executions])

    def in_environment(self):
        self.environment = self.environment or self.azure.works("launchShell")["environmentId"]
        return self.environment


def run_python(code):
    return lambda place: place.mcp.works("run_python", code=code)


# Calls of each tool that together do all it can do. A tool destroys if it can take away what is at a path.
CALLS = {
    "run_python": [run_python("open('/mnt/data/made', 'w').write('x')"), run_python("import os; os.remove('/mnt/data/b.txt')")],
    "run_shell": [lambda p: p.mcp.works("run_shell", command="rm /mnt/data/b.txt")],
    "list_sessions": [lambda p: p.mcp.works("list_sessions")],
    "list_files": [lambda p: p.mcp.works("list_files", recursive=True), lambda p: p.mcp.works("list_files", trash=True)],
    "read_file": [lambda p: p.mcp.works("read_file", path="data/a.txt"), lambda p: p.mcp.works("read_file", version=p.old)],
    "search": [lambda p: p.mcp.works("search", query="a")],
    "write_file": [lambda p: p.mcp.works("write_file", path="data/a.txt", text="third"), lambda p: p.mcp.works("write_file", path="new", text="x")],
    "edit_file": [lambda p: p.mcp.works("edit_file", path="data/a.txt", edits=[{"old": "second", "new": "second second"}])],
    "upload": [lambda p: p.mcp.works("upload", path="data/large")],
    "move_file": [lambda p: p.mcp.works("move_file", **{"from": "data/a.txt", "to": "data/b.txt", "on_existing": "replace"})],
    "copy_file": [lambda p: p.mcp.works("copy_file", **{"from": "folder", "to": "other", "on_existing": "replace"})],
    "delete_file": [lambda p: p.mcp.works("delete_file", path="data/b.txt", confirm=True)],
    "restore": [lambda p: p.mcp.works("restore", version=p.old), lambda p: p.mcp.works("restore", path="gone.txt")],
    "versions": [lambda p: p.mcp.works("versions", path="data/a.txt")],
    "activity": [lambda p: p.mcp.works("activity")],
    "lock": [lambda p: p.mcp.works("lock", action="acquire", path="data/b.txt")],
    "list_workspaces": [lambda p: p.mcp.works("list_workspaces")],
    "create_workspace": [lambda p: p.mcp.works("create_workspace", name="another")],
    "link_to_conversation": [lambda p: p.mcp.works("link_to_conversation", conversation="c", message="m", files=["data/a.txt"])],
    "launchShell": [lambda p: p.azure.works("launchShell")],
    "runPythonCodeInRemoteEnvironment": [
        lambda p: p.azure.works("runPythonCodeInRemoteEnvironment", environmentId=p.in_environment(), pythonCode="open('f', 'w').close()"),
        lambda p: p.azure.works("runPythonCodeInRemoteEnvironment", environmentId=p.in_environment(), pythonCode="import os; os.remove('f')")],
    "runShellCommandInRemoteEnvironment": [
        lambda p: p.azure.works("runShellCommandInRemoteEnvironment", environmentId=p.in_environment(), shellCommand="touch f"),
        lambda p: p.azure.works("runShellCommandInRemoteEnvironment", environmentId=p.in_environment(), shellCommand="rm f")],
}
# Says how to write, and writes nothing itself; a read-only key is not shown it all the same.
WRITES_ELSEWHERE = {"upload"}


@pytest.fixture(scope="module")
def annotations(server):
    client, azure = Plain(server), Plain(server, path="/azure/mcp")
    client.begin()
    return {tool["name"]: tool["annotations"] for one in (client, azure) for tool in one.ask("tools/list")["result"]["tools"]}


def test_every_tool_is_called(annotations):
    assert set(annotations) == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_a_tool_does_what_its_hints_say(server, annotations, name):
    hints = annotations[name]
    place = Place(server, name)
    if "Environment" in name:
        place.in_environment()
    changed = destroyed = False
    for call in CALLS[name]:
        before, entries = place.state(), place.entries()
        call(place)
        after = place.state()
        changed = changed or after != before
        now = place.entries()
        # Gone from its path, and not to another one: a file that is moved is there, what it lands on is not.
        destroyed = destroyed or any(id_ not in now.values() for id_ in entries.values())
    assert hints["openWorldHint"] is False
    assert hints["readOnlyHint"] == (not changed) or name in WRITES_ELSEWHERE, hints
    assert hints.get("destructiveHint", False) == destroyed, hints
    if hints.get("idempotentHint"):
        before = place.state()
        CALLS[name][-1](place)
        assert place.state() == before
