"""Revoked means ended: every way in × every way to lose a right.

A guest works in a workspace of its owner, with a key that opens only that workspace, so that each dialect works there. While something of the guest goes on, the owner or the administrator takes
the right away. What went on must end by itself; tests wait for the end and not for a time.
"""

import itertools
import json
import pathlib
import socket
import sqlite3
import threading

import pytest
import requests

from sandkeep_server import ROOT_KEY
from sessions_client import USERS, Keep, UserServer, wait_for

PATIENCE_S = 120  # for a busy machine; what is awaited ends within two seconds on an idle one
MODERN = "2026-07-28"
_numbers = itertools.count(1)

# Says that it runs by a file that it closes, then goes on until it is ended; ignores interrupts.
CELL = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
with open('closed.txt', 'w') as file: file.write('closed')
time.sleep(10_000)
"""
NEVER = "open('never.txt', 'w').write('it ran')"


@pytest.fixture(scope="module")
def server():
    one = UserServer(USERS[-1], "--sessions-max", "200").start()
    yield one
    code, log = one.stop(), one.log()
    one.remove()
    assert code == 0 and "fatal" not in log, log


class Tenant:
    """One key, as a client."""

    def __init__(self, server, key, key_id=None):
        self.server, self.key, self.key_id = server, key, key_id
        self.headers = {"Authorization": f"Bearer {key}"}

    def send(self, method, path, status=None, headers=None, **options):
        answer = requests.request(method, self.server.url + path, headers={**self.headers, **(headers or {})}, timeout=(PATIENCE_S, PATIENCE_S), **options)
        if status is not None:
            assert answer.status_code == status, answer.text[:1000]
        return answer


class World:
    """A workspace of an owner, and a guest that may write there."""

    def __init__(self, server):
        self.server = server
        self.admin = Tenant(server, ROOT_KEY)
        self.owner_id, self.owner = self.principal()
        self.ws = self.owner.send("POST", "/api/v1/workspaces", 201, json={"name": "shared"}).json()["id"]
        self.root = f"/api/v1/workspaces/{self.ws}"
        self.holds = {}  # the headers of an owner that holds a lock
        self.guest_id, _ = self.principal()
        self.set_role("write")
        self.guest = self.key_of_guest()

    def principal(self):
        made = self.admin.send("POST", "/api/v1/principals", 201, json={"name": f"tenant-{next(_numbers)}"}).json()["id"]
        return made, self.key_of(made)

    def key_of(self, principal, **wanted):
        made = self.admin.send("POST", "/api/v1/keys", 201, json={"name": "k", "principal_id": principal, **wanted}).json()
        return Tenant(self.server, made["secret"], made["key"]["id"])

    def key_of_guest(self, **wanted):
        return self.key_of(self.guest_id, workspace=self.ws, **wanted)

    def set_role(self, role):
        self.owner.send("PUT", f"{self.root}/members/{self.guest_id}", 200, json={"role": role})

    def files(self):
        """The names of all files, as the owner sees them."""
        items = self.owner.send("GET", f"{self.root}/list", 200, params={"recursive": "true"}).json()["items"]
        return {pathlib.PurePath(item["path"]).name: item["path"] for item in items if item["kind"] == "file"}

    def executions(self):
        """(status, outcome) of the guest's executions, oldest first, from the catalog: the guest cannot ask any more."""
        with sqlite3.connect(f"file:{self.server.data}/catalog.db?mode=ro", uri=True, timeout=60) as catalog:
            return catalog.execute("SELECT status, outcome FROM executions WHERE author = ? ORDER BY created_us, number",
                                   (bytes.fromhex(self.guest_id.partition("_")[2]),)).fetchall()


# How a right is lost. Each returns the statuses of what the guest asks afterwards.

def revoke_key(world):
    world.admin.send("DELETE", f"/api/v1/keys/{world.guest.key_id}", 204)
    return {401}


def remove_member(world):
    world.owner.send("DELETE", f"{world.root}/members/{world.guest_id}", 204)
    return {404}


def lower_role(world):
    world.set_role("read")
    return {403}


def trash_workspace(world):
    world.owner.send("DELETE", world.root, 204, headers=world.holds)
    return {404}


def suspend(world):
    changed = world.admin.send("PATCH", f"/api/v1/principals/{world.guest_id}", 200, json={"suspended": True}).json()
    assert changed["suspended_at"]
    return {401}


KINDS = [revoke_key, remove_member, lower_role, trash_workspace, suspend]


class Going:
    """Something that goes on in a thread, and how it ended."""

    def __init__(self, run):
        self.result = self.error = None

        def whole():
            try:
                self.result = run()
            except Exception as error:  # noqa: BLE001, told by ended()
                self.error = error

        self.thread = threading.Thread(target=whole, daemon=True)
        self.thread.start()

    def ended(self):
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive(), "it goes on"
        if self.error:
            raise self.error
        return self.result


def new_session(world):
    return world.guest.send("POST", "/api/v1/sessions", 201, json={}).json()["id"]


# Ways in that run code. Each starts the cell in the guest's workspace and returns what waits for it; its result is (status, body).

def answer_of(send):
    def run():
        answer = send()
        return answer.status_code, answer.text
    return Going(run)


def rest_wait(world):
    path = f"/api/v1/sessions/{new_session(world)}/executions"
    return answer_of(lambda: world.guest.send("POST", path, json={"code": CELL}))


def rest_stream(world):
    path = f"/api/v1/sessions/{new_session(world)}/executions"
    return answer_of(lambda: world.guest.send("POST", path, json={"code": CELL}, headers={"Accept": "text/event-stream"}))


def rest_queued(world):
    """One that runs and one that waits behind it, both accepted; somebody waits for the second."""
    path = f"/api/v1/sessions/{new_session(world)}/executions"
    world.guest.send("POST", path, 202, json={"code": CELL, "wait": False})
    second = world.guest.send("POST", path, 202, json={"code": NEVER, "wait": False}).json()["id"]
    return answer_of(lambda: world.guest.send("GET", f"{path}/{second}?wait=true"))


def openai_exec(world):
    container = world.guest.send("POST", "/v1/containers", 200, json={"name": "c"}).json()["id"]
    return answer_of(lambda: world.guest.send("POST", f"/v1/containers/{container}/exec", json={"code": CELL}))


def azure_execution(world):
    path = "/azure/subscriptions/s/resourceGroups/g/sessionPools/p/code/execute?identifier=i&api-version=2024-02-02-preview"
    body = {"properties": {"codeInputType": "inline", "executionType": "synchronous", "code": CELL}}
    return answer_of(lambda: world.guest.send("POST", path, json=body))


def librechat_exec(world):
    return answer_of(lambda: world.guest.send("POST", "/librechat/v1/exec", json={"lang": "py", "code": CELL}))


def mcp_run(world):
    params = {"name": "run_python", "arguments": {"code": CELL},
              "_meta": {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}}
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "run_python", "Accept": "application/json, text/event-stream"}
    return answer_of(lambda: world.guest.send("POST", "/mcp", headers=headers, json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))


def mcp_run_in_session(world):
    """A call in a session of MCP's versions before 2026. Without an answer, clients wait for ever."""
    headers = {"Accept": "application/json, text/event-stream"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    answer = world.guest.send("POST", "/mcp", 200, headers=headers, json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "run_python", "arguments": {"code": CELL}}}
    return answer_of(lambda: world.guest.send("POST", "/mcp", headers=headers, json=call))


CODE = [rest_wait, rest_stream, rest_queued, openai_exec, azure_execution, librechat_exec, mcp_run, mcp_run_in_session]


@pytest.mark.parametrize("lose", KINDS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", CODE, ids=lambda f: f.__name__)
def test_code_ends(server, way, lose):
    world = World(server)
    going = way(world)
    wait_for(lambda: "closed.txt" in world.files(), PATIENCE_S)
    lose(world)
    status, text = going.ended()
    # The answer says it in the dialect's words, unless keeping the files took longer than a reply of a lost key waits.
    assert "revoked" in text or "the right to run it ended" in text or status in (401, 403, 404), (status, text[:2000])
    wait_for(lambda: all(state == "done" for state, _ in world.executions()), PATIENCE_S)
    assert {outcome for _, outcome in world.executions()} == {"revoked"}
    if lose is trash_workspace:
        world.owner.send("POST", f"{world.root}/restore", 200)
    files = world.files()
    assert world.owner.send("GET", f"{world.root}/files/{files['closed.txt']}", 200).text == "closed", "what was closed before is kept"
    assert "never.txt" not in files, "what waited was started"


# Ways in that wait for events.

def event_stream(world):
    begun = threading.Event()

    def run():
        with world.guest.send("GET", f"{world.root}/events?after=now", 200, headers={"Accept": "text/event-stream"}, stream=True) as answer:
            begun.set()
            return 200, "\n".join(line for line in answer.iter_lines(decode_unicode=True))
    going = Going(run)
    assert begun.wait(PATIENCE_S)
    return going


def mcp_session(world):
    """The stream of a session of MCP's versions before 2026."""
    headers = {"Accept": "application/json, text/event-stream"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    answer = world.guest.send("POST", "/mcp", 200, headers=headers, json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
    begun = threading.Event()

    def run():
        with world.guest.send("GET", "/mcp", 200, headers=headers, stream=True) as stream:
            begun.set()
            return 200, "\n".join(line for line in stream.iter_lines(decode_unicode=True))
    going = Going(run)
    assert begun.wait(PATIENCE_S)
    return going


def long_poll(world):
    return answer_of(lambda: world.guest.send("GET", f"{world.root}/events?after=now&kinds=file.*&wait=60"))


def lock_wait(world):
    made = world.owner.send("POST", f"{world.root}/locks", 201, json={"path": "locked", "ttl_s": 300}).json()
    world.holds = {"X-Sandkeep-Lock": made["token"]}
    return answer_of(lambda: world.guest.send("POST", f"{world.root}/locks", json={"path": "locked", "wait_s": 60}))


@pytest.mark.parametrize("lose", KINDS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", [event_stream, mcp_session, long_poll, lock_wait], ids=lambda f: f.__name__)
def test_waits_end(server, way, lose):
    reads_only = way in (event_stream, long_poll)
    if (reads_only and lose is lower_role) or (way is mcp_session and lose not in (revoke_key, suspend)):
        pytest.skip("that right is still there")
    world = World(server)
    going = way(world)
    refused = lose(world)
    status, _ = going.ended()
    assert way in (event_stream, mcp_session) or status in refused, status


def test_a_reader_keeps_what_reads(server):
    world = World(server)
    stream = event_stream(world)
    lower_role(world)
    world.owner.send("PUT", f"{world.root}/files/later.txt", 201, data=b"x")
    remove_member(world)
    assert "later.txt" in stream.ended()[1], "the stream of a member that may still read went on"


# Uploads.

@pytest.mark.parametrize("lose", KINDS, ids=lambda f: f.__name__)
def test_an_upload_in_parts_cannot_be_continued(server, lose):
    world = World(server)
    upload = world.guest.send("POST", "/v1/uploads", 200, json={"filename": "f.bin", "purpose": "assistants", "bytes": 8, "mime_type": "text/plain"}).json()["id"]
    part = world.guest.send("POST", f"/v1/uploads/{upload}/parts", 200, files={"data": ("p", b"12345678")}).json()["id"]
    refused = lose(world) | {403}  # its own upload may be known to a former member
    assert world.guest.send("POST", f"/v1/uploads/{upload}/parts", files={"data": ("p", b"x")}).status_code in refused
    assert world.guest.send("POST", f"/v1/uploads/{upload}/complete", json={"part_ids": [part]}).status_code in refused
    if lose is trash_workspace:
        world.owner.send("POST", f"{world.root}/restore", 200)
    assert "f.bin" not in world.files()


@pytest.mark.parametrize("lose", KINDS, ids=lambda f: f.__name__)
def test_a_body_that_is_being_sent_is_refused(server, lose):
    world = World(server)
    head = (f"PUT {world.root}/files/streamed.bin HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {world.guest.key}\r\nContent-Length: 2000000\r\n"
            "Expect: 100-continue\r\n\r\n")
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as connection:
        connection.sendall(head.encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 100"), "the head was accepted"
        connection.sendall(b"x" * 1_000_000)
        refused = lose(world)
        try:
            connection.sendall(b"x" * 1_000_000)
        except OSError:
            pass  # refused before all of it was read
        status = connection.recv(1000).split(b" ")[1:2]
    assert status and int(status[0]) in refused, status
    if lose is trash_workspace:
        world.owner.send("POST", f"{world.root}/restore", 200)
    assert "streamed.bin" not in world.files()


# One key of several.

def test_other_keys_of_the_principal_go_on(server):
    world = World(server)
    lost, kept = world.guest, world.key_of_guest()
    keep, session = Keep(server, kept.key), {"id": new_session(world)}
    path = f"/api/v1/sessions/{session['id']}/executions"
    lost.send("POST", path, 202, json={"code": CELL, "wait": False})
    mine = keep.start(session, "print('mine')")
    elsewhere_session = keep.create()
    elsewhere = keep.start(elsewhere_session, "print('ready', flush=True)\nimport time; time.sleep(10_000)")
    keep.printed_until(elsewhere, "ready")
    wait_for(lambda: "closed.txt" in world.files(), PATIENCE_S)
    revoke_key(world)
    done = keep.wait(mine)
    assert done["end"] == "ok" and done["woke"], "the session slept, because processes of the revoked key may have run in it"
    assert keep.call("GET", elsewhere).json()["status"] == "running"
    keep.call("POST", f"{elsewhere}/cancel")
    assert keep.wait(elsewhere)["end"] == "interrupted"


def test_processes_that_outlive_their_cell_end(server):
    world = World(server)
    other = Keep(server, world.key_of_guest().key)
    session = {"id": new_session(world)}
    code = "import subprocess; subprocess.Popen(['python3', '-c', 'import itertools, time\\nfor n in itertools.count():\\n  open(\"count.txt\", \"w\").write(str(n)); time.sleep(0.1)'])"
    Keep(server, world.guest.key).run(session, code)
    wait_for(lambda: "count.txt" in world.files(), PATIENCE_S)
    revoke_key(world)
    wait_for(lambda: other.get(session)["status"] == "asleep", PATIENCE_S)
    path = world.files()["count.txt"]
    last = world.owner.send("GET", f"{world.root}/versions/{path}", 200).json()["items"]
    done = other.run(session, "import time; before = open('count.txt').read(); time.sleep(1); print(before == open('count.txt').read())")
    assert done["woke"] and "True" in json.dumps(done["outputs"])
    assert world.owner.send("GET", f"{world.root}/versions/{path}", 200).json()["items"] == last


def test_a_key_that_expires_ends_what_goes_on(server):
    world = World(server)
    session = {"id": new_session(world)}
    world.guest = world.key_of_guest(expires_in_s=15)
    going = answer_of(lambda: world.guest.send("POST", f"/api/v1/sessions/{session['id']}/executions", json={"code": CELL}))
    going.ended()
    wait_for(lambda: world.executions(), PATIENCE_S)
    wait_for(lambda: all(state == "done" for state, _ in world.executions()), PATIENCE_S)
    assert {outcome for _, outcome in world.executions()} == {"revoked"}


def test_a_queued_execution_of_a_key_that_was_revoked_meanwhile_is_not_run_after_a_restart(make_user_server):
    server = make_user_server()
    world = World(server)
    other = world.key_of_guest()
    session = {"id": new_session(world)}
    path = f"/api/v1/sessions/{session['id']}/executions"
    for code in (CELL, NEVER):
        world.guest.send("POST", path, 202, json={"code": code, "wait": False})
    allowed = other.send("POST", path, 202, json={"code": "print('allowed')", "wait": False}).json()["id"]
    wait_for(lambda: "closed.txt" in world.files(), PATIENCE_S)
    server.kill()
    # As another server on the same catalog does it.
    with sqlite3.connect(server.data / "catalog.db") as catalog:
        catalog.execute("UPDATE keys SET revoked_us = 1 WHERE id = ?", (bytes.fromhex(world.guest.key_id.partition("_")[2]),))
    server.start()
    assert other.send("GET", f"{path}/{allowed}?wait=true", 200).json()["end"] == "ok"
    assert [outcome for _, outcome in world.executions()] == ["crash", "revoked", "ok"]
    assert "never.txt" not in world.files()


def test_a_signed_link_outlives_the_key_that_asked_for_it(server):
    world = World(server)
    version = world.guest.send("PUT", f"{world.root}/files/linked.txt", 201, data=b"linked").json()["version"]["id"]
    link = requests.compat.urljoin(server.url, world.guest.send("GET", f"{world.root}/version/{version}", 200).json()["signed_link"])
    for lose in (lower_role, remove_member, revoke_key, suspend):
        lose(world)
        assert requests.get(link, timeout=PATIENCE_S).content == b"linked"
    world.owner.send("POST", f"{world.root}/revoke-links")
    assert requests.get(link, timeout=PATIENCE_S).status_code == 404
