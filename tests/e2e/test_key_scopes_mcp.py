"""Every kind of key against MCP's tools and methods, and against calls that name what they may not reach as a source. The tools come from the server's own
list: one without a row here fails."""

import dataclasses
import json

import pytest

from key_scopes import NONE, READ, SECRET, WRITE, Row, body, with_mcp_session, world  # noqa: F401

# MCP: what goes in one message.

WORKSPACE = {"workspace": "{w.ws}"}


def tool(called, reach, need, prepare=lambda w: w.kept, /, *, endpoint="/mcp", **arguments):
    filled = body(**arguments)

    def call(w, a, m, at):
        asked = a.ask_session if endpoint == "/azure/mcp" else a.ask
        return asked("tools/call", endpoint, name=called, arguments=filled(w, m))
    return called, Row(reach, need, call, prepare)


def environment(w):
    """One of the owner's environments, as the other endpoint calls its sessions."""
    return w.bound.ask_session("tools/call", "/azure/mcp", name="launchShell", arguments={}).json()["result"]["structuredContent"]["environmentId"]


MCP_TOOLS = dict([
    tool("run_python", "workspace", WRITE, code="1", **WORKSPACE),
    tool("run_shell", "workspace", WRITE, command="true", **WORKSPACE),
    tool("list_sessions", "any", READ),
    tool("session_unkept", "session", WRITE, session="{w.session}", retry=True),
    tool("list_files", "workspace", READ, recursive=True, **WORKSPACE),
    tool("read_file", "workspace", READ, path="{m[path]}", **WORKSPACE),
    tool("search", "workspace", READ, query="kept", **WORKSPACE),
    tool("write_file", "workspace", WRITE, path="mcp/{n}", text="new", **WORKSPACE),
    tool("edit_file", "workspace", WRITE, lambda w: w.file(), path="{m[path]}", edits=[{"old": SECRET, "new": "edited"}], **WORKSPACE),
    tool("upload", "workspace", WRITE, path="mcp/{n}", **WORKSPACE),
    tool("move_file", "workspace", WRITE, lambda w: w.file(), from_="{m[path]}", to="mcp/{n}", **WORKSPACE),
    tool("copy_file", "workspace", WRITE, from_="{m[path]}", to="mcp/{n}", **WORKSPACE),
    tool("delete_file", "workspace", WRITE, lambda w: w.file(), path="{m[path]}", confirm=True, **WORKSPACE),
    tool("restore", "workspace", WRITE, lambda w: w.file(versions=2), version="{m[first]}", **WORKSPACE),
    tool("versions", "workspace", READ, path="{m[path]}", **WORKSPACE),
    tool("activity", "workspace", READ, **WORKSPACE),
    tool("lock", "workspace", WRITE, action="acquire", path="locks/{n}", **WORKSPACE),
    tool("list_workspaces", "any", READ),
    tool("create_workspace", "unbound", WRITE, name="made-{n}"),
    tool("link_to_conversation", "workspace", WRITE, conversation="c", message="m", text="new", **WORKSPACE),
])
AZURE_TOOLS = dict([
    tool("launchShell", "any", WRITE, endpoint="/azure/mcp"),
    tool("runPythonCodeInRemoteEnvironment", "session", WRITE, environment, endpoint="/azure/mcp", environmentId="{m}", pythonCode="1"),
    tool("runShellCommandInRemoteEnvironment", "session", WRITE, environment, endpoint="/azure/mcp", environmentId="{m}", shellCommand="true"),
])
MCP_SHOWS = {"list_sessions": ("session", lambda w: w.session), "list_workspaces": ("workspace", lambda w: w.ws)}


def message(method, reach, need, prepare=lambda w: w.kept, shows=None, legacy=False, **params):
    filled = body(**params)

    def call(w, a, m, at):
        return a.ask_session(method, "/mcp", **filled(w, m)) if legacy else a.ask(method, **filled(w, m))
    return method, Row(reach, need, call, prepare, shows=shows)


class Pages:
    """The pages of a list, as one answer."""

    def __init__(self, answers):
        self.status_code, self.headers, self.first = answers[0].status_code, answers[0].headers, answers[0].text
        self.text = "".join(answer.text for answer in answers)


def all_resources(w, a, m, at):
    answers = [a.ask("resources/list")]
    while answers[-1].status_code == 200 and (cursor := answers[-1].json()["result"].get("nextCursor")):
        answers.append(a.ask("resources/list", cursor=cursor))
    return Pages(answers)


MCP_METHODS = dict([
    ("resources/list", Row("any", READ, all_resources, shows=("workspace", lambda w: "kept.txt"))),
    message("resources/read", "workspace", READ, uri="sandkeep://workspace/{w.ws}/{m[path]}"),
    message("resources/subscribe", "workspace", READ, with_mcp_session, legacy=True, uri="sandkeep://workspace/{w.ws}/{m[path]}"),
    message("completion/complete", "any", READ, shows=("workspace", lambda w: "kept.txt"),
            ref={"type": "ref/resource", "uri": "sandkeep://workspace/{{ws}}/{{path}}"}, argument={"name": "path", "value": "d/k"},
            context={"arguments": {"ws": "{w.ws}"}}),
    message("tasks/get", "session", READ, taskId="{w.task}"),
    message("tasks/cancel", "session", WRITE, lambda w: w.running(), taskId="{m[task]}"),
])


def verdict(actor, row, answer):
    """As the status of the same call of REST: 200, 401, 403 or 404."""
    if answer.status_code in (401, 403):
        return answer.status_code
    text = answer.first if isinstance(answer, Pages) else answer.text
    if "event-stream" in answer.headers.get("Content-Type", ""):
        text = text.partition("data: ")[2].splitlines()[0]
    told = json.loads(text)
    if "result" in told and not told["result"].get("isError"):
        return 200
    error = told["result"]["structuredContent"]["error"] if "result" in told else told["error"]
    code = error.get("code")
    code = (error.get("data") or {}).get("code", code) if not isinstance(code, str) else code
    # A tool that a read-only key may not call does not exist for it.
    known = {"not_found": 404, "forbidden": 403, "unauthorized": 401, "gone": 404}
    if code in known:
        return known[code]
    if code in (-32602, -32002, -32600):  # the last: no such session of MCP
        return 403 if "tool" in error["message"] else 404
    raise AssertionError(f"{actor.name}: {text[:500]}")


def check_message(world, row):
    harmless = [a for a in world.actors.values() if a.levels is None or row.expected(a) != row.ok or a.levels["workspace"] == NONE]
    made = row.prepare(world)
    before = world.last_event()
    for number, actor in enumerate([*harmless, *(a for a in world.actors.values() if a not in harmless)]):
        if number == len(harmless):
            assert world.last_event() == before, [event for event in world.journal() if event[0] > before]
        if number > len(harmless):
            made = row.prepare(world)
        answer = row.call(world, actor, made, "")
        got = verdict(actor, row, answer)
        told = f"{actor.name}: {got} {answer.text[:400]!r}"
        assert got in row.expected(actor), f"{told}, expected {row.expected(actor)}"
        reaches = actor.levels is not None and actor.levels[row.shows[0] if row.shows else row.reach] > NONE
        if row.shows:
            assert (row.shows[1](world) in answer.text) == reaches, told
        if not reaches:
            assert SECRET not in answer.text, told


def test_every_tool_has_a_row(world):
    listed = world.owner.ask("tools/list").json()["result"]["tools"]
    assert {one["name"] for one in listed} == set(MCP_TOOLS)
    listed = world.owner.ask_session("tools/list", "/azure/mcp").json()["result"]["tools"]
    assert {one["name"] for one in listed} == set(AZURE_TOOLS)


@pytest.mark.parametrize("name", [*MCP_TOOLS, *AZURE_TOOLS])
def test_a_tool_obeys_the_key(world, name):
    row = (MCP_TOOLS | AZURE_TOOLS)[name]
    check_message(world, dataclasses.replace(row, shows=MCP_SHOWS.get(name)))


@pytest.mark.parametrize("name", MCP_METHODS)
def test_a_method_of_mcp_obeys_the_key(world, name):
    check_message(world, MCP_METHODS[name])


# Things of the guarded workspace, named in a call that is otherwise one's own business.


def into_own(w, a):
    """A workspace that the actor may write to, and that is not the guarded one."""
    if a.name.startswith("bound elsewhere"):
        return w.other
    return w.need(a, "POST", "/api/v1/workspaces", json={"name": f"own-{next(w.numbers)}"})["id"]


def own_session(w, a):
    return w.need(a, "POST", "/api/v1/sessions", json={"workspace": into_own(w, a), "name": "own"})["id"]


def own_container(w, a):
    return "cntr_" + own_session(w, a).partition("_")[2]


SMUGGLES = {
    "copy": lambda w, a: a.send("POST", f"/api/v1/workspaces/{into_own(w, a)}/copy", json={"from": w.kept["path"], "from_workspace": w.ws, "to": "x"}),
    "copy: a version": lambda w, a: a.send("POST", f"/api/v1/workspaces/{into_own(w, a)}/copy", json={"from_version": w.kept["first"], "to": "x"}),
    "batch: copy": lambda w, a: a.send("POST", f"/api/v1/workspaces/{into_own(w, a)}/batch", json={"changes": [
        {"op": "copy", "from": w.kept["path"], "from_workspace": w.ws, "to": "x"}]}),
    "restore-version": lambda w, a: a.send("POST", f"/api/v1/workspaces/{into_own(w, a)}/restore-version", json={"version_id": w.kept["first"]}),
    "version": lambda w, a: a.send("GET", f"/api/v1/workspaces/{into_own(w, a)}/version/{w.kept['first']}"),
    "purge a version": lambda w, a: a.send("DELETE", f"/api/v1/workspaces/{into_own(w, a)}/version/{w.kept['first']}"),
    "trash": lambda w, a: a.send("POST", f"/api/v1/workspaces/{into_own(w, a)}/trash/{w.kept['id']}/restore", json={}),
    "renew": lambda w, a: a.send("POST", f"/api/v1/workspaces/{into_own(w, a)}/locks/renew", json={"token": w.lock()["token"]}),
    "release": lambda w, a: a.send("POST", f"/api/v1/workspaces/{into_own(w, a)}/locks/release", json={"token": w.lock()["token"]}),
    "break a lock": lambda w, a: a.send("DELETE", f"/api/v1/workspaces/{into_own(w, a)}/locks/{w.lock()['id']}"),
    "another session's execution": lambda w, a: a.send("GET", f"/api/v1/sessions/{own_session(w, a)}/executions/{w.execution}"),
    "another session's kept files": lambda w, a: a.send("GET", f"/api/v1/sessions/{own_session(w, a)}/executions/{w.execution}/kept"),
    "a container's file": lambda w, a: a.send("GET", f"/v1/containers/{own_container(w, a)}/files/{w.container_file}/content"),
    "into a container": lambda w, a: a.send("POST", f"/v1/containers/{own_container(w, a)}/files", json={"file_id": w.given}),
    "a new container": lambda w, a: a.send("POST", "/v1/containers", json={"name": "x", "file_ids": [w.given]}),
    "the thumbnail": lambda w, a: a.send("GET", f"/k/{w.kept['version']}/a.png?thumbnail=true"),
    "the link, as a container's file": lambda w, a: a.send("GET", f"/k/cfile_{w.kept['version'][2:]}/kept.txt"),
    "the file's conversations": lambda w, a: a.send("GET", f"/api/v1/conversations?workspace={into_own(w, a)}&file_id={w.kept['id']}"),
    "a message": lambda w, a: a.send("PUT", f"/api/v1/conversations/s/messages/1?workspace={into_own(w, a)}", json={
        "text": f"[a](sandbox:/mnt/data/in.txt) {w.server.url}/k/{w.kept['version']}/kept.txt", "files": [{"version_id": w.kept["version"]}]}),
    "a message of its session": lambda w, a: a.send("PUT", f"/api/v1/conversations/s/messages/2?workspace={into_own(w, a)}", json={
        "text": "[a](sandbox:/mnt/data/in.txt)", "session": w.session}),
    "librechat: a file": lambda w, a: a.send("POST", "/librechat/v1/exec", json={"lang": "bash", "code": "cat /mnt/data/*", "files": [
        {"session_id": w.libre["session"], "storage_session_id": w.libre["session"], "id": w.libre["file"], "name": "stolen.txt"}]}),
    "librechat: its session": lambda w, a: a.send("POST", "/librechat/v1/exec", json={"lang": "bash", "code": "cat /mnt/data/*", "session_id": w.libre["session"]}),
}


@pytest.mark.parametrize("name", SMUGGLES)
@pytest.mark.parametrize("who", ["bound elsewhere", "stranger", "former member", "administrator"])
def test_what_it_may_not_reach_cannot_be_named_as_a_source_either(world, name, who):
    actor = world.actors[who]
    answer = SMUGGLES[name](world, actor)
    assert SECRET not in answer.text, answer.text
    if name.startswith("librechat: its"):
        assert answer.status_code in (200, 404)  # a session of its own instead
    else:
        # 200 with nothing in it, or a refusal; the bytes are in neither.
        assert answer.status_code in (400, 403, 404, 410) or name in ("the file's conversations", "a message", "a message of its session", "librechat: a file"), answer.text
    assert "kept.txt\"" not in answer.text.replace(world.kept["path"], ""), answer.text


@pytest.mark.parametrize("name, arguments", [
    ("copy_file", {"from": "d/kept.txt", "from_workspace": "{w.ws}", "to": "x"}), ("copy_file", {"from": "x", "version": "{w.kept[first]}", "to": "x"}),
    ("read_file", {"version": "{w.kept[first]}"}), ("restore", {"version": "{w.kept[first]}"}),
    ("run_python", {"code": "open('/mnt/data/kept.txt').read()", "files": ["{w.kept[version]}"]}),
    ("run_python", {"code": "1", "session": "{w.session}"}),
    ("link_to_conversation", {"conversation": "s", "message": "3", "files": ["{w.kept[version]}"]}),
])
@pytest.mark.parametrize("who", ["bound elsewhere", "stranger", "former member", "administrator"])
def test_a_tool_does_not_fetch_it_either(world, name, arguments, who):
    before = world.last_event()
    answer = world.actors[who].ask("tools/call", name=name, arguments=body(**arguments)(world, None))
    assert SECRET not in answer.text, answer.text
    assert '"isError":true' in answer.text or '"error"' in answer.text, answer.text
    assert world.last_event() == before


def test_who_left_a_workspace_has_no_way_in_by_a_session_that_was_made_there(world):
    session, container = world.former_session, "cntr_" + world.former_session.partition("_")[2]
    before = world.last_event()
    for method, path, options in (
            ("POST", f"/api/v1/sessions/{session}/executions", {"json": {"code": "import os; print(os.listdir('/mnt/data'))"}}),
            ("POST", f"/v1/containers/{container}/exec", {"json": {"code": "1"}}), ("GET", f"/v1/containers/{container}/files", {}),
            ("POST", f"/v1/containers/{container}/files", {"files": {"file": ("x", b"x")}}), ("GET", f"/v1/files/{world.given}/content", {})):
        answer = world.former.send(method, path, **options)
        assert answer.status_code in (403, 404), f"{method} {path}: {answer.status_code} {answer.text}"
    assert world.last_event() == before
