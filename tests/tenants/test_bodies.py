"""Request bodies: what they become in memory is counted, and who lost the right to write sends no further byte."""

import pathlib
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from neighbour import tenant

MIB = 1 << 20


def resident(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def test_the_values_of_json_bodies_share_a_budget(make_server):
    """Bodies of 4 MB became trees of 100 MB, one in each worker: 2.4 GB."""
    server = make_server("--sandbox", "off")
    body = ('{"a":[%s]}' % ",".join(['{"b":0}'] * 499_000)).encode()
    keeps = [tenant(server, f"many{number}") for number in range(3)]
    before = resident(server)

    def send(number):
        keep = keeps[number % 3]
        connection = type(keep)(server)
        connection.http.headers.update(keep.http.headers)
        answer = connection.http.post(f"{server.url}/api/v1/workspaces/{keep.workspace}/batch", data=body, headers={"Content-Type": "application/json"}, timeout=120)
        return answer.status_code, resident(server)

    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(send, range(72)))
    grown = max(memory for _, memory in answers) - before
    print(f"grown by {grown / MIB:.0f} MiB; statuses {sorted({status for status, _ in answers})}")
    assert {status for status, _ in answers} <= {400, 503}
    assert grown < (256 + 256 + 200) * MIB


@pytest.mark.parametrize("loss", ["removed", "lowered", "trashed"])
def test_who_loses_the_right_to_write_sends_no_further_byte(make_server, loss):
    """Only a revoked key was noticed before the end of the body."""
    server = make_server("--sandbox", "off")
    owner, member = tenant(server, "owner"), tenant(server, "member")
    url = f"/api/v1/workspaces/{owner.workspace}"
    principal = member.call("GET", "/api/v1/me").json()["principal"]["id"]
    owner.call("PUT", f"{url}/members/{principal}", json={"role": "write"})
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as line:
        line.sendall(f"PUT {url}/files/slow HTTP/1.1\r\nHost: x\r\nAuthorization: {member.http.headers['Authorization']}\r\nContent-Length: 100000000\r\n\r\n".encode())
        for _ in range(5):
            line.sendall(b"x" * 100_000)
            time.sleep(0.02)
        if loss == "removed":
            owner.call("DELETE", f"{url}/members/{principal}", 204)
        elif loss == "lowered":
            owner.call("PUT", f"{url}/members/{principal}", json={"role": "read"})
        else:
            owner.call("DELETE", url, 204)
        line.settimeout(5)
        sent, began = 0, time.monotonic()
        answer = b""
        while not answer and time.monotonic() - began < 10:
            try:
                line.sendall(b"x" * 100_000)
                sent += 100_000
                time.sleep(0.02)
                line.setblocking(False)
                try:
                    answer = line.recv(4096)
                except BlockingIOError:
                    pass
                line.settimeout(5)
            except (BrokenPipeError, ConnectionResetError):
                break
    assert sent < 20_000_000, f"{sent} bytes were taken after the right was lost"
    if answer:
        assert answer.split()[1] in (b"403", b"404"), answer[:200]
