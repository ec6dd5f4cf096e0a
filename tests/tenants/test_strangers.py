"""Clients without a key, and clients that send too much or too slowly: what they cost the server and the others."""

import re
import socket
import time

import requests

from rest_client import Client
from sandkeep_server import ROOT_KEY

MIB = 1 << 20
# A message may have 64 MiB, which makes it the largest body that is held in memory.
MESSAGE = "/api/v1/conversations/chat/messages/1"


def resident_bytes(server):
    status = open(f"/proc/{server.process.pid}/status", encoding="ascii").read()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) << 10


def begin(server, path, length, key=None, method="PUT"):
    """Sends the head of a request and nothing else."""
    client = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    authorization = f"Authorization: Bearer {key}\r\n" if key else ""
    client.sendall(f"{method} {path} HTTP/1.1\r\nHost: t\r\n{authorization}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode())
    return client


def send_all_that_it_takes(client, size):
    """How much of a body the server takes before it answers or closes."""
    piece, sent = b"a" * (256 << 10), 0
    try:
        while sent < size:
            sent += client.send(piece[: size - sent])
    except OSError:
        pass
    return sent


def status_of(client):
    head = client.recv(4096)
    return int(head.split()[1]) if head else None


def test_nothing_is_read_for_a_client_without_a_key(make_server):
    server = make_server()
    before = resident_bytes(server)
    clients = [begin(server, MESSAGE, 60 * MIB) for _ in range(10)]
    for client in clients:
        assert status_of(client) == 401, "before the body"
        send_all_that_it_takes(client, 20 * MIB)
    grown = resident_bytes(server) - before
    for client in clients:
        client.close()
    assert grown < 16 * MIB, f"{grown / MIB:.0f} MiB for ten strangers"


def test_bodies_of_one_tenant_do_not_fill_the_memory_of_the_server(make_server):
    server = make_server("--body-memory-bytes-max", "128 MiB")
    greedy, other = Client(server).make_principal("greedy")[1], Client(server).make_principal("other")[1]
    before = resident_bytes(server)
    clients = [begin(server, MESSAGE, 60 * MIB, greedy.key) for _ in range(8)]
    for client in clients:
        client.settimeout(5)
        send_all_that_it_takes(client, 20 * MIB)
    grown = resident_bytes(server) - before
    answer = requests.post(f"{server.url}/api/v1/workspaces", json={"name": "mine"}, headers={"Authorization": f"Bearer {other.key}"}, timeout=60)
    assert answer.status_code == 201, answer.text
    put = requests.put(f"{server.url}/api/v1/workspaces/mine/files/a.bin", data=b"b" * MIB, headers={"Authorization": f"Bearer {other.key}"}, timeout=60)
    assert put.status_code == 201, put.text
    refused = [client for client in clients if refusal(client) == 503]
    for client in clients:
        client.close()
    assert refused, "what does not fit is refused"
    assert grown < 80 * MIB, f"{grown / MIB:.0f} MiB, with 64 MiB allowed to one tenant"


def refusal(client):
    client.settimeout(0.2)
    try:
        return status_of(client)
    except OSError:
        return None


def test_a_body_that_trickles_in_is_cut_off_and_one_in_time_is_not(make_server):
    server = make_server("--body-bytes-per-s-min", "1 MiB", "--idle-timeout-s", "60")
    slow = begin(server, MESSAGE, 1000, ROOT_KEY)
    began = time.monotonic()
    status = None
    while status is None and time.monotonic() - began < 60:
        try:
            slow.send(b"a")
        except OSError:
            break
        status = refusal(slow)
    assert status == 408
    quick = requests.put(f"{server.url}/api/v1/workspaces/default/files/a.bin", data=b"b" * 20 * MIB,
                         headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=60)
    assert quick.status_code == 201
