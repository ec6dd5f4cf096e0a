"""Answers that nobody reads, and lists that take long: neither fills the memory nor keeps others from reading."""

import json
import socket
import time

from flood import Flood
from neighbour import tenant

MIB = 1 << 20


def ask(server, key, path):
    """A connection that has asked and reads no more than the first bytes of the answer."""
    connection = socket.create_connection(("127.0.0.1", server.port))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: h\r\nAuthorization: {key}\r\n\r\n".encode())
    return connection


def test_answers_that_nobody_reads_have_a_budget(make_server):
    """300 pages that nobody read took 3.3 GiB."""
    server = make_server("--sandbox", "off", "--reply-memory-bytes-max", str(64 * MIB))
    keep = tenant(server, "slow")
    # Larger than what the system's buffers of a connection take.
    path = f"/api/v1/conversations/c/messages/m?workspace={keep.workspace}"
    keep.call("PUT", path, json={"text": "&" * (2 * MIB)})
    size = len(keep.call("GET", path).content)
    assert 8 * MIB < size < 20 * MIB
    asked = [ask(server, keep.http.headers["Authorization"], path) for _ in range(20)]
    heads = [connection.recv(12).decode() for connection in asked]
    assert 1 <= heads.count("HTTP/1.1 200") <= 32 * MIB // size and heads.count("HTTP/1.1 503") >= 10, heads
    held = next(float(line.split()[-1]) for line in keep.call("GET", "/metrics").text.splitlines() if line.startswith("sandkeep_http_reply_bytes "))
    assert size <= held <= 32 * MIB, "half of the budget, since all have one key"
    for connection in asked:
        connection.close()
    deadline = time.monotonic() + 60
    while keep.http.get(server.url + path).status_code == 503:
        assert time.monotonic() < deadline, "what was given up is given back"


def test_a_page_of_very_long_paths_ends_early(make_server):
    server = make_server("--sandbox", "off")
    keep = tenant(server, "long")
    folder = "/".join(["x" * 250] * 16)
    changes = [{"op": "put", "path": f"{folder}/{number}", "content": "x"} for number in range(400)]
    keep.call("POST", f"/api/v1/workspaces/{keep.workspace}/batch", json={"changes": changes})
    page = keep.call("GET", f"/api/v1/workspaces/{keep.workspace}/list?recursive=true&limit=1000")
    assert MIB < len(page.content) < 4 * MIB and page.json()["has_more"]
    assert len(keep.files(folder, workspace=keep.workspace)) == 400


def test_slow_patterns_leave_the_readers_to_others(make_server):
    """Eight lists with a slow pattern held all readers of the catalog: another tenant's list took 12 s."""
    server = make_server("--sandbox", "off", "--catalog-readers", "1")
    slow, other = tenant(server, "slow"), tenant(server, "other")
    for start in range(0, 20_000, 5000):
        changes = [{"op": "put", "path": "a" * 80 + str(number), "content": ""} for number in range(start, start + 5000)]
        slow.call("POST", f"/api/v1/workspaces/{slow.workspace}/batch", data=json.dumps({"changes": changes}), headers={"Content-Type": "application/json"})
    path = f"/api/v1/workspaces/{slow.workspace}/list?recursive=true&glob=" + "*[a-b]" * 20 + "b"
    other_path = f"/api/v1/workspaces/{other.workspace}/list"
    times_s = []
    with Flood(server, slow.http.headers["Authorization"].removeprefix("Bearer "), 8, "repeat", path) as flood:
        flood.asked.wait()
        for _ in range(20):
            began = time.monotonic()
            other.call("GET", other_path)
            times_s.append(time.monotonic() - began)
    print(f"slowest of {len(times_s)} lists of another tenant while those with a slow pattern ran: {max(times_s):.3f} s")
    assert max(times_s) < 1, "others waited for it"
