"""The protocol on the wire: what is refused, and how; both eras on one address."""

import json
import socket
import threading

import pytest
import requests

from mcp_http import MODERN, Modern, Plain, events, new_principal
from sandkeep_server import ROOT_KEY

CALL = {"jsonrpc": "2.0", "method": "tools/list"}


def test_ids_come_back_as_they_were_sent(plain):
    for number in (0, 7, -1, "0", "a b", "ünï", 1.5):
        answer = plain.post({"jsonrpc": "2.0", "id": number, "method": "ping"}).json()
        assert answer == {"jsonrpc": "2.0", "id": number, "result": {}}


@pytest.mark.parametrize("body,code", [
    ("", -32700), ("{", -32700), ("\xff\xfe", -32700), ("[" * 100 + "]" * 100, -32700), ("null", -32600), ("3", -32600), ("[]", -32600),
    (json.dumps([{**CALL, "id": 1}, {**CALL, "id": 2}]), -32600), (json.dumps({"id": 1, "method": "ping"}), -32600),
    (json.dumps({"jsonrpc": "1.0", "id": 1, "method": "ping"}), -32600), (json.dumps({"jsonrpc": "2.0", "id": 1, "method": 5}), -32600),
    (json.dumps({"jsonrpc": "2.0", "id": {}, "method": "ping"}), -32600), (json.dumps({"jsonrpc": "2.0", "id": None, "method": "ping"}), -32600),
    (json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}), -32600), (json.dumps({"jsonrpc": "2.0", "id": 1}), -32600),
    (json.dumps({"jsonrpc": "2.0", "id": "x" * 1000, "method": "ping"}), -32600)])
def test_what_is_no_message_is_refused_as_such(plain, body, code):
    answer = plain.post(body.encode("latin-1"))
    assert answer.status_code == 400 and answer.json()["error"]["code"] == code, answer.text


def test_unknown_methods_tools_and_prompts_are_told_apart(plain):
    assert plain.ask("no/such")["error"]["code"] == -32601
    assert plain.ask("tools/call", name="no_such")["error"]["code"] == -32602
    assert plain.ask("tools/call")["error"]["code"] == -32602
    assert plain.ask("prompts/get", name="no_such")["error"]["code"] == -32602
    assert plain.ask("prompts/get", name="analyse_file")["error"]["code"] == -32602
    assert plain.ask("resources/read", uri="http://elsewhere/")["error"]["code"] == -32002
    assert plain.ask("resources/list", cursor="nonsense")["error"]["code"] == -32602
    assert plain.ask("logging/setLevel", level="loud")["error"]["code"] == -32602


@pytest.mark.parametrize("name,arguments,words", [
    ("read_file", {"path": 5}, "'path' must be a string"), ("read_file", {"path": "a", "lines": 0}, "at least 1"),
    ("read_file", {"path": "a", "colour": "red"}, "'colour' is unknown"), ("write_file", {"text": "x"}, "'path' is missing"),
    ("write_file", {"path": "a"}, "either 'text' or 'base64'"), ("write_file", {"path": "a", "base64": "!"}, "base64"),
    ("write_file", {"path": "../../etc/passwd", "text": ""}, ".."), ("write_file", {"path": "a\0b", "text": ""}, "bad_request"),
    ("edit_file", {"path": "a", "edits": [{"old": "x"}]}, "'edits[0].new' is missing"), ("edit_file", {"path": "a", "edits": {}}, "must be an array"),
    ("lock", {"action": "steal"}, "must be one of"), ("lock", {"action": "release"}, "lock_token"), ("restore", {}, "give 'version'"),
    ("read_file", {"version": "v_1"}, "v_"), ("list_files", {"cursor": "\u0000nonsense"}, "cursor"),
    ("run_python", {"code": "1", "session": "x" * 100}, "64 bytes"), ("run_python", {"code": "1", "session": "s_" + "0" * 32}, "not_found"),
    ("activity", {"after": -1}, "at least 0"), ("search", {"query": "  "}, "no words")])
def test_bad_arguments_are_a_result_that_says_what_is_wrong(plain, name, arguments, words):
    result = plain.tool(name, **arguments)
    assert result["isError"] and words in result["content"][0]["text"], result["content"][0]["text"]


def test_arguments_that_are_no_object_are_refused(plain):
    assert plain.ask("tools/call", name="list_files", arguments=[1])["result"]["isError"]


def test_a_huge_argument_is_refused_before_it_is_read(plain):
    answer = plain.post(json.dumps({**CALL, "id": 1, "params": {"x": "y" * (5 << 20)}}))
    assert answer.status_code == 413 and "error" in answer.json()


def test_a_request_needs_a_session_that_exists_and_is_ones_own(plain, agent):
    session = plain.session
    plain.session = None
    missing = plain.post({**CALL, "id": 1})
    assert missing.status_code == 400 and missing.json()["error"]["code"] == -32600
    for wrong in ("no-such-session", "x" * 5000, agent().session):
        plain.session = wrong
        unknown = plain.post({**CALL, "id": 1})
        assert unknown.status_code == 404, unknown.text
    plain.session = session
    assert requests.delete(plain.url, headers=plain.headers()).status_code == 204
    assert plain.post({**CALL, "id": 1}).status_code == 404


def test_a_session_outlives_the_server_for_the_key_that_began_it(make_server):
    one = make_server()
    client = Plain(one, version="2025-06-18")
    client.begin()
    _, secret, _ = new_principal(one, "somebody else")
    one.stop()
    one.start()
    client.http = requests.Session()
    for change in ({"key": secret}, {"session": client.session[:-1]}, {"session": "2025-11-25" + client.session[10:]}):
        other = Plain(one, version="2025-06-18")
        vars(other).update({"session": client.session, **change})
        assert other.post({**CALL, "id": 1}).status_code == 404, change
    assert client.ask("tools/list")["result"]["tools"]
    assert requests.delete(client.url, headers=client.headers()).status_code == 204
    assert client.post({**CALL, "id": 1}).status_code == 404


def test_versions_are_agreed_on(server):
    for asked, answered in (("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25")):
        client = Plain(server, version=asked)
        answer = client.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": asked, "capabilities": {},
                              "clientInfo": {"name": "x", "version": "1"}}})
        assert answer.json()["result"]["protocolVersion"] == answered
    client.session = answer.headers["Mcp-Session-Id"]
    assert client.post({**CALL, "id": 1}, MCP_Protocol_Version="1999-01-01").status_code == 400


def test_requests_without_a_key_are_refused(server):
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Nonsense"}):
        for method in ("POST", "GET", "DELETE"):
            answer = requests.request(method, server.url + "/mcp", json={**CALL, "id": 1}, headers=headers)
            assert answer.status_code == 401 and answer.headers["WWW-Authenticate"].startswith("Bearer"), answer.text
            assert answer.json()["error"]["code"] == -32000


@pytest.mark.parametrize("headers,status", [
    ({"Host": "evil.example.com"}, 403), ({"Origin": "http://evil.example.com"}, 403), ({"Origin": "null"}, 403),
    ({"Origin": "http://localhost.evil.example.com"}, 403), ({"Origin": "http://localhost:3000"}, 200), ({"Origin": "http://[::1]:1"}, 200), ({}, 200)])
def test_pages_of_other_origins_are_kept_out(server, headers, status):
    answer = Modern(server).post({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}}},
        **{"MCP_Protocol_Version": MODERN, "Mcp_Method": "server/discover", **headers})
    assert answer.status_code == status, answer.text


def test_modern_requests_stand_alone_and_say_the_same_twice(modern):
    found = modern.ask("server/discover")["result"]
    assert found["supportedVersions"][0] == MODERN and found["resultType"] == "complete"
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_files", "arguments": {}, "_meta": meta}}
    good = {"MCP_Protocol_Version": MODERN, "Mcp_Method": "tools/call", "Mcp_Name": "list_files"}
    assert modern.post(body, **good).status_code == 200
    assert modern.post(body, **{**good, "Mcp_Name": "=?base64?bGlzdF9maWxlcw==?="}).status_code == 200
    for wrong in ({"Mcp_Name": "read_file"}, {"Mcp_Method": "tools/list"}, {"Mcp_Name": "=?base64?!?="}):
        answer = modern.post(body, **{**good, **wrong})
        assert answer.status_code == 400 and answer.json()["error"]["code"] == -32020
    assert requests.get(modern.url, headers=modern.headers(MCP_Protocol_Version=MODERN)).status_code == 405
    assert requests.delete(modern.url, headers=modern.headers(MCP_Protocol_Version=MODERN)).status_code == 405
    assert modern.ask("ping")["error"]["code"] == -32601


def test_a_client_that_takes_no_events_gets_one_json_answer(plain):
    answer = plain.post({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "run_python", "arguments": {"code": "2 + 2"}}},
                        Accept="application/json")
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.json()["result"]["structuredContent"]["result"] == "4"


def test_a_stream_is_replayed_from_the_event_that_the_client_had(plain):
    answer = plain.post({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {
        "name": "run_python", "arguments": {"code": "print('out', flush=True)\n3"}, "_meta": {"progressToken": "t"}}})
    ids = [line[4:] for line in answer.text.splitlines() if line.startswith("id: ")]
    assert "retry: " in answer.text and len(ids) >= 3
    again = requests.get(plain.url, headers=plain.headers(Accept="text/event-stream", Last_Event_ID=ids[0]))
    assert events(again.text) == events(answer.text)
    rest = requests.get(plain.url, headers=plain.headers(Accept="text/event-stream", Last_Event_ID=ids[-2]))
    assert events(rest.text) == events(answer.text)[-1:]
    for nonsense in ("", "-", "99-1", "x-y", "1-99999999999999999999"):
        assert requests.get(plain.url, headers=plain.headers(Accept="text/event-stream", Last_Event_ID=nonsense or "0")).status_code == 400


def test_clients_that_vanish_leave_a_server_that_answers(server, agent):
    client = agent()
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "run_python", "arguments": {"code": "1"}}})
    head = (f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {client.key}\r\nMcp-Session-Id: {client.session}\r\n"
            f"Accept: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n")
    for cut in (len(head) // 2, len(head), len(head) + 10, len(head) + len(body)):
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            raw.sendall((head + body).encode()[:cut])
    assert client.works("run_python", code="'fine'")["result"] == "'fine'"


def test_many_calls_at_once_in_one_session(plain):
    failures = []

    def work(number):
        try:
            one = Plain.__new__(Plain)
            one.__dict__.update(plain.__dict__, http=requests.Session(), next_id=number * 1000)
            for i in range(10):
                assert one.works("write_file", path=f"data/many/{number}.txt", text=str(i))["path"].endswith(f"{number}.txt")
        except Exception as failure:  # told by the main thread
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures
    assert len(plain.works("list_files", folder="data/many")["entries"]) == 8


def test_the_tools_of_azures_session_pools(server):
    client = Plain(server, path="/azure/mcp")

    def post(method, params=None, id=1):
        answer = requests.post(client.url, json={"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}},
                               headers={"x-ms-apikey": ROOT_KEY, "Content-Type": "application/json"})
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    begun = post("initialize", {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}, id="1")
    assert begun["protocolVersion"] == "2025-03-26" and begun["serverInfo"]["name"] == "Microsoft Container Apps MCP Server"
    names = {tool["name"] for tool in post("tools/list")["tools"]}
    assert names == {"launchShell", "runPythonCodeInRemoteEnvironment", "runShellCommandInRemoteEnvironment"}
    environment = post("tools/call", {"name": "launchShell", "arguments": {}})["structuredContent"]["environmentId"]
    run = post("tools/call", {"name": "runPythonCodeInRemoteEnvironment", "arguments": {"environmentId": environment, "pythonCode": "x = 5; print(x)"}})
    assert run["structuredContent"]["stdout"] == "5\n" and not run["isError"]
    shell = post("tools/call", {"name": "runShellCommandInRemoteEnvironment", "arguments": {"environmentId": environment, "shellCommand": "echo hi > /mnt/data/f; cat /mnt/data/f"}})
    assert shell["structuredContent"]["stdout"] == "hi\n" and shell["structuredContent"]["files"][0]["path"].endswith("/f")
    assert post("tools/call", {"name": "runPythonCodeInRemoteEnvironment", "arguments": {"environmentId": "0" * 32, "pythonCode": "1"}})["isError"]
