"""A server that is asked to stop lets executions finish and gives their answers; what cannot finish in time is interrupted, and its client is told so in its own shape."""

import http.client
import json
import os
import signal
import threading

import pytest

from sandkeep_server import ROOT_KEY
from sessions_client import Keep, wait_for

BEGIN = "open('begun', 'w').write('x')\nimport os, time\n"
# The test makes the file `go` in the session's working copy.
WAITS = BEGIN + "while not os.path.exists('go'): time.sleep(0.01)\nopen('done', 'w').write('x')"
FOR_EVER = BEGIN + "time.sleep(1000)"


class Asking(threading.Thread):
    """One request on its own thread; `status`, `headers` and `body` of its answer, or `error`."""

    def __init__(self, server, method, path, body, headers=None):
        super().__init__(daemon=True)
        self.server, self.words = server, (method, path, json.dumps(body))
        self.headers = {"Authorization": f"Bearer {ROOT_KEY}", "Content-Type": "application/json", **(headers or {})}
        self.status = self.body = self.error = None
        self.start()

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        try:
            connection.request(*self.words, self.headers)
            answer = connection.getresponse()
            self.status, self.body = answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self.error = error
        finally:
            connection.close()

    def answer(self):
        self.join(120)
        assert not self.is_alive() and self.error is None, self.error
        return self.body


def copy_of(server, session):
    """The folder that the code of a session sees."""
    return server.data / "copies" / session["id"].removeprefix("s_")


def begin_to_stop(server):
    """SIGTERM; returns when the server has begun to stop."""
    os.kill(server.process.pid, signal.SIGTERM)
    wait_for(lambda: "stopping" in server.log(), 30)


def ended(server):
    return server.process.wait(60)


def wait_until_code_runs(server):
    wait_for(lambda: any((server.data / "copies").rglob("begun")), 60)


def mcp_headers(server):
    """Of a client that has introduced itself."""
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    answer = Keep(server).call("POST", "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}, headers=headers)
    headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
    Keep(server).call("POST", "/mcp", 202, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
    return headers


@pytest.fixture
def one(make_user_server):
    server = make_user_server("--drain-timeout-s", "60")
    return server, Keep(server)


def test_a_running_execution_finishes_and_is_answered(one):
    server, keep = one
    session = keep.create(folder="w")
    path = f"/api/v1/sessions/{session['id']}/executions"
    asked = Asking(server, "POST", path, {"code": WAITS})
    wait_until_code_runs(server)
    followed = Asking(server, "POST", path, {"code": "open('second', 'w').write('y')"}, {"Accept": "text/event-stream"})
    wait_for(lambda: keep.get(session)["execution_count"] == 2, 60)
    begin_to_stop(server)
    (copy_of(server, session) / "go").write_text("")
    done = json.loads(asked.answer())
    assert asked.status == 200 and done["end"] == "ok" and {file["path"] for file in done["kept"]} >= {"w/done"}, done
    assert '"end":"ok"' in followed.answer().replace(" ", ""), "the one behind it ran too"
    assert ended(server) == 0
    server.start()
    keep = Keep(server)
    assert keep.read("w/done") == b"x" and keep.read("w/second") == b"y"


def test_a_new_execution_is_refused_while_the_server_stops(one):
    server, keep = one
    session = keep.create(folder="w")
    path = f"/api/v1/sessions/{session['id']}/executions"
    kept_alive = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    key = {"Authorization": f"Bearer {ROOT_KEY}", "Content-Type": "application/json"}
    kept_alive.request("GET", path, headers=key)
    kept_alive.getresponse().read()
    asked = Asking(server, "POST", path, {"code": WAITS})
    wait_until_code_runs(server)
    begin_to_stop(server)
    kept_alive.request("POST", path, json.dumps({"code": "open('never', 'w')"}), key)
    answer = kept_alive.getresponse()
    body = json.loads(answer.read())
    assert answer.status == 503 and body["error"]["code"] == "unavailable", body
    (copy_of(server, session) / "go").write_text("")
    assert json.loads(asked.answer())["end"] == "ok"
    assert ended(server) == 0
    server.start()
    assert "never" not in Keep(server).files("w")


@pytest.mark.parametrize("dialect", ["rest", "stream", "openai", "mcp", "mcp stream"])
def test_code_that_does_not_end_is_interrupted_and_its_client_is_told(make_user_server, dialect):
    server = make_user_server("--drain-timeout-s", "1")
    keep = Keep(server)
    session = keep.create(folder="w")
    path = f"/api/v1/sessions/{session['id']}/executions"
    if dialect in ("rest", "stream"):
        accept = "text/event-stream" if dialect == "stream" else "application/json"
        asked = Asking(server, "POST", path, {"code": FOR_EVER}, {"Accept": accept})
    elif dialect == "openai":
        container = keep.call("POST", "/v1/containers", json={"name": "c"}).json()
        asked = Asking(server, "POST", f"/v1/containers/{container['id']}/exec", {"code": FOR_EVER})
    else:
        params = {"name": "run_python", "arguments": {"code": FOR_EVER, "session": "s"}}
        if dialect == "mcp stream":
            params["_meta"] = {"progressToken": 1}
        asked = Asking(server, "POST", "/mcp", {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params},
                       mcp_headers(server))
    wait_until_code_runs(server)
    begin_to_stop(server)
    body = asked.answer()
    assert ended(server) == 0
    assert asked.status == 200 and "stopped while this ran" in body, (asked.status, body)
    if dialect.startswith("mcp"):
        assert '"id":7' in body.replace(" ", ""), body
    server.start()
    keep = Keep(server)
    found = keep.call("GET", "/api/v1/workspaces/default/list", params={"recursive": "true"}).json()["items"]
    assert any(item["path"].endswith("/begun") for item in found), "its closed files are kept"


def test_code_that_is_interrupted_by_a_stop_can_close_its_files(make_user_server):
    server = make_user_server("--drain-timeout-s", "1")
    session = Keep(server).create(folder="w")
    code = BEGIN + "with open('rows', 'w') as rows:\n    rows.write('a row')\n    try: time.sleep(1000)\n    finally: open('last', 'w').write('x')"
    asked = Asking(server, "POST", f"/api/v1/sessions/{session['id']}/executions", {"code": code})
    wait_until_code_runs(server)
    begin_to_stop(server)
    done = json.loads(asked.answer())
    assert ended(server) == 0
    assert done["end"] == "interrupted" and "the server was stopped" in done["message"], done
    assert {file["path"]: file["complete"] for file in done["kept"]} == {"w/begun": True, "w/rows": True, "w/last": True}
    server.start()
    assert Keep(server).read("w/rows") == b"a row"


@pytest.mark.parametrize("how", ["kill", "sleep", "crash"])
def test_a_file_that_was_open_when_its_process_was_killed_stays_incomplete(one, how):
    server, keep = one
    session = keep.create(folder="w")
    keep.run(session, "rows = open('rows', 'w'); rows.write('a row'); rows.flush(); rows.write('lost')")
    if how == "kill":
        server.kill()
        server.start()
        keep = Keep(server)
    elif how == "sleep":
        keep.call("POST", f"/api/v1/sessions/{session['id']}/sleep")
    else:
        keep.run(session, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    versions = keep.call("GET", "/api/v1/workspaces/default/versions/w/rows").json()["items"]
    assert [(version["size"], version["complete"]) for version in versions] == [(5, False)], versions
    assert keep.run(session, "open('rows', 'w').write('whole')")["kept"][0]["complete"]


def test_who_waits_for_a_lock_over_mcp_is_answered_when_the_server_stops(one):
    server, keep = one
    keep.call("POST", "/api/v1/workspaces/default/locks", 201, json={"path": "a", "ttl_s": 600})
    params = {"name": "lock", "arguments": {"action": "acquire", "path": "a", "wait_s": 30}}
    asked = Asking(server, "POST", "/mcp", {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}, mcp_headers(server))
    wait_for(lambda: "sandkeep_http_requests_under_way 2" in keep.http.get(f"{server.url}/metrics", timeout=60).text, 60)
    begin_to_stop(server)
    assert "the server is stopping" in asked.answer()
    assert ended(server) == 0


def test_a_finished_execution_can_be_followed_after_a_restart(one):
    server, keep = one
    session = keep.create(folder="w")
    done = keep.run(session, "print('hello')")
    path = f"/api/v1/sessions/{session['id']}/executions/{done['id']}"
    assert server.stop() == 0
    server.start()
    followed = Keep(server).http.get(f"{server.url}{path}", headers={"Accept": "text/event-stream"}, timeout=60)
    assert followed.headers["Content-Type"].startswith("text/event-stream")
    assert [line for line in followed.text.splitlines() if line.startswith("event:")] == ["event: started", "event: output", "event: done"]
    assert followed.text.count(r'"text":"hello\n"') == 2, followed.text
    last = Keep(server).http.get(f"{server.url}{path}", headers={"Accept": "text/event-stream", "Last-Event-ID": "1"}, timeout=60)
    assert [line for line in last.text.splitlines() if line.startswith("event:")] == ["event: done"]
    again = Keep(server).http.get(f"{server.url}{path}", headers={"Accept": "text/event-stream", "Last-Event-ID": "done"}, timeout=60)
    assert again.status_code == 204


def test_accepted_work_that_runs_has_time_to_finish_and_what_waits_is_left_for_the_next_start(one):
    server, keep = one
    session = keep.create(folder="w")
    running = keep.start(session, WAITS)
    queued = [keep.start(session, f"with open('log', 'a') as log: log.write('{number}')") for number in range(3)]
    behind = Asking(server, "POST", f"/api/v1/sessions/{session['id']}/executions", {"code": "open('behind', 'w')"})
    wait_until_code_runs(server)
    wait_for(lambda: keep.get(session)["execution_count"] == 5, 60)
    waits = Asking(server, "GET", f"{queued[0]}?wait=true", None)
    follows = Asking(server, "GET", queued[0], None, {"Accept": "text/event-stream"})
    wait_for(lambda: "sandkeep_http_requests_under_way 4" in keep.http.get(f"{server.url}/metrics", timeout=60).text, 60)
    begin_to_stop(server)
    # They are not told that it is over.
    told = json.loads(waits.answer())
    assert told["status"] == "queued" and not told["end"], told
    assert "event: done" not in follows.answer()
    # Its turn cannot come any more, and it is told at once.
    done = json.loads(behind.answer())
    assert done["end"] == "interrupted" and "not run" in done["message"], done
    (copy_of(server, session) / "go").write_text("")
    assert ended(server) == 0
    server.start()
    keep = Keep(server)
    assert keep.wait(running)["end"] == "ok" and keep.read("w/done") == b"x"
    assert [keep.wait(one)["end"] for one in queued] == ["ok"] * 3
    assert keep.read("w/log") == b"012" and "behind" not in keep.files("w")
