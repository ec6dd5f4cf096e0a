"""Tables, connections and threads that all tenants share: what one takes without end, another still gets."""

import base64
import http.server
import itertools
import select
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from rest_client import Client

PATIENCE_S = 60
CONNECTIONS = 64
SHARE = CONNECTIONS // 4
PICTURE = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
_numbers = itertools.count(1)


def two_tenants(server):
    root = Client(server)
    return [root.make_principal(f"{name}-{next(_numbers)}")[1] for name in ("greedy", "other")]


# MCP sessions.


class McpSession:
    """The session that initialize begins."""

    def __init__(self, client):
        self.client = client
        answer = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize",
                            "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
        assert answer.status_code == 200, answer.text
        self.id = answer.headers["Mcp-Session-Id"]

    def post(self, message, **headers):
        return requests.post(self.client.server.url + "/mcp", json=message, timeout=PATIENCE_S,
                             headers={"Authorization": f"Bearer {self.client.key}", "Accept": "application/json, text/event-stream", **headers})

    def status(self):
        """Of a call in this session: 404 once it has ended."""
        return self.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, **{"Mcp-Session-Id": self.id}).status_code


def test_mcp_sessions_without_end_do_not_end_those_of_another_tenant(make_server):
    server = make_server("--mcp-sessions-max", "20", "--mcp-sessions-per-principal-max", "17")
    greedy, other = two_tenants(server)
    theirs = [McpSession(other) for _ in range(3)]
    first = McpSession(greedy)
    for number in range(100):
        McpSession(greedy)
        if number % 10 == 0:
            assert {one.status() for one in theirs} == {200}
    assert {one.status() for one in theirs} == {200}
    assert first.status() == 404, "its own oldest one ended"
    # The table is full now. A newcomer gets its place from the one with the most.
    third = Client(server).make_principal(f"third-{next(_numbers)}")[1]
    newcomers = [McpSession(third) for _ in range(4)]
    assert {one.status() for one in newcomers + theirs} == {200}


# Connections.


def begin(server, key, target, accept="text/event-stream"):
    """Sends a request on a connection of its own, and reads nothing."""
    client = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)
    client.sendall(f"GET {target} HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {key}\r\nAccept: {accept}\r\n\r\n".encode())
    return client


def head_of(client):
    """Status and headers of the answer."""
    text = b""
    while b"\r\n\r\n" not in text:
        piece = client.recv(4096)
        assert piece, text
        text += piece
    lines = text.split(b"\r\n\r\n")[0].decode().split("\r\n")
    return int(lines[0].split()[1]), {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:])}


def close_all(clients):
    for client in clients:
        client.close()


def test_streams_of_one_tenant_leave_connections_to_others(make_server):
    server = make_server("--connections-max", str(CONNECTIONS))
    greedy, other = two_tenants(server)
    events = f"/api/v1/workspaces/{greedy.workspace('g').id}/events"
    theirs = other.workspace("o")
    clients = [begin(server, greedy.key, events) for _ in range(SHARE)]
    assert [head_of(client)[0] for client in clients] == [200] * SHARE
    for _ in range(2 * CONNECTIONS):
        clients.append(begin(server, greedy.key, events))  # never closed by this client
        status, headers = head_of(clients[-1])
        assert status == 429 and int(headers["retry-after"]) > 0, (status, headers)
        assert requests.get(f"{server.url}/api/v1/workspaces", headers={"Authorization": f"Bearer {other.key}"}, timeout=PATIENCE_S).status_code == 200
    stream = begin(server, other.key, f"/api/v1/workspaces/{theirs.id}/events")
    assert head_of(stream)[0] == 200, "another has a part of its own"
    # What waits for nothing is not refused, and a stream that ends makes room for the next.
    greedy.get(events, 200)
    clients[0].close()
    deadline = time.monotonic() + PATIENCE_S
    while True:
        clients.append(begin(server, greedy.key, events))
        if head_of(clients[-1])[0] == 200:
            break
        assert time.monotonic() < deadline
    close_all([*clients, stream])


def test_long_polls_count_like_streams(make_server):
    server = make_server("--connections-max", str(CONNECTIONS), "--streams-per-principal-max", "5")
    greedy, other = two_tenants(server)
    poll = f"/api/v1/workspaces/{greedy.workspace('g').id}/events?after=now&wait=60"
    clients = [begin(server, greedy.key, poll, "application/json") for _ in range(12)]
    refused = set()
    deadline = time.monotonic() + PATIENCE_S
    while len(refused) < 7 and time.monotonic() < deadline:
        refused.update(select.select([client for client in clients if client not in refused], [], [], 1)[0])
    assert len(refused) == 7 and {head_of(client)[0] for client in refused} == {429}
    other.get("/api/v1/workspaces", 200)
    close_all(clients)


def test_idle_connections_of_one_client_do_not_lock_out_others(make_server):
    server = make_server("--connections-max", str(CONNECTIONS), "--idle-timeout-s", "10min")
    _, other = two_tenants(server)
    url, headers = f"{server.url}/api/v1/workspaces", {"Authorization": f"Bearer {other.key}"}
    other.http.close()
    idle = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) for _ in range(2 * CONNECTIONS)]
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            if requests.get(url, headers=headers, timeout=PATIENCE_S).status_code == 200:
                break
        except requests.ConnectionError:
            pass  # refused before it has sent its request
        assert time.monotonic() < deadline, "the idle connections keep their places"
        time.sleep(0.05)
    close_all(idle)


# Fetches from other servers.


class Host:
    """A host of images. Those below /slow/ come when `released` is set."""

    def __init__(self):
        self.slow = threading.Semaphore(0)  # released for each request of a slow one
        self.released = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def do_GET(self):
                if self.path.startswith("/slow/"):
                    outer.slow.release()
                    outer.released.wait(10 * PATIENCE_S)
                self.send_response(200)
                self.send_header("Content-Type", "image/png")
                self.send_header("Content-Length", str(len(PICTURE)))
                self.end_headers()
                try:
                    self.wfile.write(PICTURE)
                except OSError:
                    pass  # the server has given up

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def host():
    one = Host()
    yield one
    one.close()


def store(client, host, path):
    """Stores a message that shows an image of the host; how many of its files are kept."""
    call = {"id": "ci_1", "type": "code_interpreter_call", "status": "completed", "container_id": None, "code": "…",
            "outputs": [{"type": "image", "url": f"{host.url}{path}"}]}
    message = {"response": {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "error": None, "output": [call]},
               "source": {"kind": "openai", "base_url": f"{host.url}/v1", "key": "a-key"}}
    answer = requests.put(f"{client.server.url}/api/v1/conversations/c/messages/m{next(_numbers)}", json=message, timeout=5 * PATIENCE_S,
                          headers={"Authorization": f"Bearer {client.key}"})
    assert answer.status_code == 200, answer.text
    return len(answer.json()["attachments"])


@pytest.mark.parametrize("count", [4, 40])
def test_slow_fetches_of_one_tenant_do_not_delay_those_of_another(make_server, host, count):
    server = make_server("--bridge-allow-private", "--bridge-stall-s", "10min")
    greedy, other = two_tenants(server)
    assert store(other, host, "/fast/idle.png") == 1
    with ThreadPoolExecutor(count + 1) as threads:
        slow = [threads.submit(store, greedy, host, f"/slow/{number}.png") for number in range(count)]
        try:
            for _ in range(4):  # as many as one tenant may fetch at once
                assert host.slow.acquire(timeout=PATIENCE_S)
            for number in range(3):
                fast = threads.submit(store, other, host, f"/fast/{number}.png")
                assert fast.result(timeout=PATIENCE_S) == 1
            assert not any(one.done() for one in slow)
        finally:
            host.released.set()
        assert [one.result(timeout=5 * PATIENCE_S) for one in slow] == [1] * count
