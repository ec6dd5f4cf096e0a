"""Agents' own client libraries against the real server, over HTTP and over the bridge's standard input and output."""

import json
import os
import subprocess
import threading

import pytest

from sandkeep_server import ROOT_KEY, binary
from sessions_client import Keep, wait_for

READING = {"list_files", "read_file", "search", "versions", "activity", "list_workspaces", "list_sessions"}


def text_of(result):
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


@pytest.fixture
def sdk(node, server):
    def run(scenario, **arguments):
        return node("mcp/sdk.mjs", server, scenario=scenario, binary=str(binary()), **arguments)

    return run


@pytest.mark.parametrize("over", ["http", "stdio"])
def test_an_agent_does_the_whole_story_by_mcp_alone(sdk, over):
    seen = sdk("story", over=over)
    assert READING | {"run_python", "write_file", "lock", "restore"} <= set(seen["tools"])
    run = seen["run"]["structuredContent"]
    assert run["result"] == "2" and run["end"] == "ok"
    assert [file["path"] for file in run["files"]] == ["data/total.txt"]
    assert seen["run"]["_meta"]["container_id"] == run["session"].replace("s_", "cntr_")
    links = [block for block in seen["run"]["content"] if block["type"] == "resource_link"]
    assert links[0]["uri"] == "sandkeep://version/" + run["files"][0]["version_id"]
    assert [match["path"] for match in seen["found"]] == ["data/total.txt"]
    assert seen["refused"]["isError"] and "locked" in text_of(seen["refused"])
    assert seen["changed"]["number"] == 2
    assert [version["number"] for version in seen["versions"]] == [2, 1]
    assert seen["versions"][1]["source"] == "execution" and seen["versions"][0]["source"] == "upload"
    assert seen["read"]["text"] == "7\n" and seen["read"]["number"] == 3
    assert {"file.create", "file.write", "lock.acquire", "lock.release"} <= set(seen["activity"])


def test_variables_last_in_a_session_and_are_apart_in_another(sdk):
    seen = sdk("sessions_last")
    assert seen["same"]["structuredContent"]["result"] == "42"
    assert seen["other"]["isError"] and "NameError" in text_of(seen["other"])
    assert seen["shell"]["structuredContent"]["stdout"] == "42\n" and seen["shell"]["structuredContent"]["exit_code"] == 3
    assert seen["again"]["structuredContent"]["result"] == "41"


NOWHERE = {"path": "data/nowhere.txt"}
UNKNOWN = "s_" + "0" * 32
FAILING = {
    "run_python": [{}, {"code": 1}, {"code": "1", "session": UNKNOWN}, {"code": "1", "session": ""}, {"code": "1", "workspace": "nobodys"},
                   {"code": "1", "files": ["data/nowhere.txt"]}, {"code": "1", "timeout_s": 0}, {"code": "1 / 0"}, {"code": "import sys; sys.exit(3)"},
                   {"code": "import time; time.sleep(60)", "timeout_s": 1}, {"code": "import os; os._exit(4)"}],
    "run_shell": [{}, {"command": "true", "session": UNKNOWN}, {"command": "true", "workspace": "nobodys"}, {"command": "exit 3"},
                  {"command": "sleep 60", "timeout_s": 1}],
    "session_unkept": [{}, {"session": UNKNOWN}, {"session": "x"}],
    "list_files": [{"folder": "nowhere"}, {"workspace": "nobodys"}, {"cursor": "x"}],
    "read_file": [{}, NOWHERE, {"version": "v_" + "0" * 32}, {"path": "data"}, {"path": "../x"}],
    "search": [{}, {"query": "x", "workspace": "nobodys"}],
    "write_file": [{}, {"path": "data/a"}, {"path": "../a", "text": ""}, {"path": "data/f.txt", "text": "", "only_new": True},
                   {"path": "data/f.txt", "text": "", "if_version": "v_" + "0" * 32}],
    "edit_file": [{}, {**NOWHERE, "edits": [{"old": "a", "new": "b"}]}, {"path": "data/f.txt", "edits": [{"old": "zzz", "new": "b"}]}],
    "upload": [{}, {"path": ""}, {"path": "a", "workspace": "nobodys"}],
    "move_file": [{}, {"from": "data/nowhere.txt", "to": "b"}],
    "copy_file": [{}, {"from": "data/nowhere.txt", "to": "b"}],
    "delete_file": [{}, {**NOWHERE, "confirm": True}, {"path": "data/f.txt"}],
    "restore": [{}, NOWHERE, {"version": "v_" + "0" * 32}],
    "versions": [{}, NOWHERE],
    "activity": [{"workspace": "nobodys"}],
    "lock": [{}, {"action": "acquire"}, {"action": "renew", "lock_token": "x"}, {"action": "acquire", "path": "data/held", "workspace": "nobodys"}],
    "create_workspace": [{}, {"name": ""}],
    "link_to_conversation": [{}, {"conversation": "c", "message": "m", "workspace": "nobodys"}],
}
FAILING_AZURE = {
    "runPythonCodeInRemoteEnvironment": [{}, {"environmentId": "x", "pythonCode": "1"}, {"environmentId": "0" * 32, "pythonCode": "1"}],
    "runShellCommandInRemoteEnvironment": [{}, {"environmentId": "x", "shellCommand": "true"}, {"environmentId": "0" * 32, "shellCommand": "true"}],
}


@pytest.mark.parametrize("path, calls", [("/mcp", FAILING), ("/azure/mcp", FAILING_AZURE)])
def test_every_failure_of_a_tool_matches_its_output_schema(sdk, plain, path, calls):
    plain.works("write_file", path="data/f.txt", text="there")
    seen = sdk("failures", path=path, calls=calls)
    assert set(calls) <= {one["name"] for one in seen}
    assert [one for one in seen if "threw" in one] == []
    for one in seen:
        assert one["isError"] and text_of(one), one


def test_the_text_of_a_failed_command_names_its_exit_status(plain):
    for tool, arguments in (("run_shell", {"command": "exit 3"}), ("run_python", {"code": "import sys; sys.exit(3)"})):
        assert "Exit status 3" in text_of(plain.tool(tool, **arguments))


def test_the_bridge_names_the_setting_of_a_key_that_was_refused(node, server):
    said = node("mcp/sdk.mjs", server, key="wrong", scenario="refused_key", over="stdio", binary=str(binary()))["said"]
    assert "SANDKEEP_KEY" in said and "Authorization" not in said


def test_output_comes_as_progress_and_as_log_while_code_runs(sdk):
    seen = sdk("progress_and_logs")
    told = " ".join(step.get("message", "") for step in seen["progress"])
    assert "step 0" in told and "step 2" in told
    numbers = [step["progress"] for step in seen["progress"]]
    assert numbers == sorted(set(numbers))
    assert "step 1" in "".join(log["data"] for log in seen["logs"])
    assert seen["result"]["structuredContent"]["stdout"] == "step 0\nstep 1\nstep 2\n"


@pytest.mark.parametrize("over", ["http", "stdio"])
def test_cancelling_a_call_interrupts_the_run_and_keeps_the_session(sdk, over):
    seen = sdk("cancellation", over=over)
    assert seen["ended"] != "answered"
    assert seen["next"]["structuredContent"]["result"] == "'still here'"
    assert not seen["next"]["structuredContent"]["woke"]


def test_an_answer_is_resumed_after_the_connection_was_cut(sdk):
    seen = sdk("resumption")
    assert seen["cut"] >= 1 and seen["resumed"] >= 1
    assert seen["result"]["structuredContent"]["result"] == "'after the cut'"


def test_files_are_resources_with_subscriptions_completion_and_prompts(sdk):
    seen = sdk("resources")
    assert seen["updated"][0] == seen["watched"]["uri"]
    assert seen["now"]["contents"][0]["text"] == "two"
    assert seen["then"]["contents"][0]["text"] == "one"  # the link of the first version means those bytes
    assert seen["missing"] == -32002
    assert seen["paths"]["completion"]["values"] == ["data/res/watched.txt"]
    assert seen["templates"] == 2
    assert {"analyse_file", "continue_session", "review_changes"} <= set(seen["prompts"])
    assert "data/res/watched.txt" in seen["prompt"]["messages"][0]["content"]["text"]


def test_the_bridge_uploads_local_files_only_from_folders_that_the_user_named(sdk, tmp_path):
    (tmp_path / "here.bin").write_bytes(os.urandom(100_000))
    (tmp_path / "link").symlink_to("/etc/hostname")
    seen = sdk("local_upload", over="stdio", folder=str(tmp_path))
    assert seen["offered"]
    assert seen["allowed"]["structuredContent"]["size"] == 100_000
    for refused in (seen["refused"], seen["sneaky"]):
        assert refused["isError"] and "allowed" in text_of(refused)


def test_a_run_can_be_a_task_that_is_asked_for_later(sdk):
    seen = sdk("tasks")
    assert seen["steps"][0] == "taskCreated" and seen["steps"][-1] == "result"
    assert seen["result"]["structuredContent"]["result"] == "42"
    assert seen["listed"]["tasks"][0]["status"] == "completed"


def test_the_newer_client_works_without_a_session(node, server):
    seen = node("mcp/client2.mjs", server, scenario="basics")
    assert seen["version"] in (None, "2026-07-28")
    assert seen["run"]["structuredContent"]["result"] == "2"
    assert any("hello" in step.get("message", "") for step in seen["progress"])
    assert seen["read"]["contents"][0]["text"] == "modern"
    assert seen["unknown"] == -32602


def test_the_newer_client_speaks_the_older_protocol_too(node, server):
    seen = node("mcp/client2.mjs", server, scenario="basics", mode="legacy")
    assert seen["run"]["structuredContent"]["result"] == "2"


def test_the_newer_client_hears_of_changes(node, server):
    seen = node("mcp/client2.mjs", server, scenario="listening")
    assert set(seen["seen"]) == {seen["uri"]}


def test_the_newer_client_cancels_by_leaving(node, server):
    seen = node("mcp/client2.mjs", server, scenario="cancellation")
    assert seen["ended"] != "answered"
    assert seen["next"]["structuredContent"]["result"] == "'still here'"


def test_the_bridge_cancels_requests_of_the_newer_protocol_by_leaving(server, tmp_path):
    """Over standard input a modern client says notifications/cancelled; the server hears of it because the bridge leaves."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    bridge = subprocess.Popen([str(binary()), "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
                              env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SANDKEEP_SERVER": server.url, "SANDKEEP_KEY": ROOT_KEY})

    def send(**message):
        bridge.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

    def call(number, code, **more):
        send(id=number, method="tools/call", params={"name": "run_python", "arguments": {"code": code, "session": "bridge"}, "_meta": {**meta, **more}})

    call(1, "import time; print('begun', flush=True); time.sleep(600)", progressToken="p")
    while "begun" not in (line := bridge.stdout.readline()):
        assert line
    send(method="notifications/cancelled", params={"requestId": 1, "_meta": meta})
    call(2, "'still here'")
    answer = json.loads(bridge.stdout.readline())
    assert answer["id"] == 2 and answer["result"]["structuredContent"]["result"] == "'still here'"
    bridge.stdin.close()
    assert bridge.wait(30) == 0 and bridge.stdout.read() == ""
    bridge.stdout.close()


def test_the_bridge_goes_on_after_the_server_was_restarted(make_server, tmp_path):
    server = make_server()
    bridge = subprocess.Popen([str(binary()), "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
                              env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SANDKEEP_SERVER": server.url, "SANDKEEP_KEY": ROOT_KEY})

    def ask(number, method, params):
        bridge.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
        return json.loads(bridge.stdout.readline())

    begun = ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}})
    assert begun["id"] == 0 and begun["result"]["protocolVersion"] == "2025-11-25"
    server.stop()
    server.start()
    assert ask("again", "tools/list", {})["result"]["tools"]
    bad = ask(2, "no/such", {})
    assert bad["id"] == 2 and bad["error"]["code"] == -32601
    server.kill()
    assert ask(3, "tools/list", {})["error"]["code"] == -32000
    bridge.stdin.close()
    assert bridge.wait(30) == 0
    bridge.stdout.close()


def test_the_bridge_says_that_a_call_may_have_run_when_the_server_died_meanwhile(make_server, tmp_path):
    server = make_server()
    bridge = subprocess.Popen([str(binary()), "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
                              env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SANDKEEP_SERVER": server.url, "SANDKEEP_KEY": ROOT_KEY})

    def send(number, method, params):
        bridge.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")

    def answer(number):
        while (message := json.loads(bridge.stdout.readline())).get("id") != number:
            pass
        return message

    send(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}})
    answer(0)
    code = "import time; print('begun', flush=True); time.sleep(600)"
    send(1, "tools/call", {"name": "run_python", "arguments": {"code": code}, "_meta": {"progressToken": "p"}})
    while "begun" not in (line := bridge.stdout.readline()):
        assert line
    server.kill()
    send(2, "tools/list", {})
    assert "cannot connect" in answer(2)["error"]["message"], "this one was never sent"
    server.start()
    lost = json.dumps(answer(1)["error"])
    assert "may have run" in lost and "list_sessions" in lost and "refused" not in lost
    send(3, "tools/list", {})
    assert answer(3)["result"]["tools"]
    bridge.stdin.close()
    assert bridge.wait(30) == 0
    bridge.stdout.close()


def test_a_client_goes_on_after_the_server_was_killed_and_its_call_is_answered(node, make_server):
    server = make_server()
    code = "_ = open('/mnt/data/runs.txt', 'a').write('run ')\nprint('begun', flush=True)\nimport time; time.sleep(600)"
    seen = []
    client = threading.Thread(target=lambda: seen.append(node("mcp/sdk.mjs", server, scenario="restart", code=code)))
    client.start()
    keep = Keep(server)
    [session] = wait_for(lambda: keep.call("GET", "/api/v1/sessions").json()["items"])
    path = f"/api/v1/sessions/{session['id']}/executions"
    [running] = wait_for(lambda: keep.call("GET", path).json()["items"])
    keep.printed_until(f"{path}/{running['id']}", "begun")
    server.kill()
    server.start()
    client.join()
    [seen] = seen
    assert seen["ended"]["code"] == -32000 and "may have run" in seen["ended"]["message"]
    assert seen["next"]["structuredContent"]["result"] == "'run '" and seen["next"]["structuredContent"]["woke"]
    assert seen["same"]
