"""Uploads: streamed, checked, whole or not at all."""

import base64
import hashlib
import os
import re
import socket
import time

import pytest

from rest_client import Client
from sandkeep_server import ROOT_KEY


def test_an_upload_of_unknown_length_is_taken(api, ws):
    pieces = [os.urandom(100_000) for _ in range(30)]
    made = api.put(ws.file("a.bin"), 201, data=iter(pieces)).json()
    assert made["entry"]["size"] == 3_000_000 and ws.read("a.bin") == b"".join(pieces)


def test_announced_checksums_are_checked(api, ws):
    good = {"X-Sandkeep-Sha256": hashlib.sha256(b"hello").hexdigest(), "Content-MD5": base64.b64encode(hashlib.md5(b"hello").digest()).decode()}
    api.put(ws.file("a.txt"), 201, data=b"hello", headers=good)
    for name, value in (("X-Sandkeep-Sha256", hashlib.sha256(b"other").hexdigest()), ("X-Sandkeep-Sha256", "abc"),
                        ("Content-MD5", base64.b64encode(hashlib.md5(b"other").digest()).decode()), ("Content-MD5", "abc"), ("Content-MD5", "AAAA")):
        api.error("PUT", ws.file("b.txt"), 400, "bad_request", data=b"hello", headers={name: value})
    assert ws.paths() == ["a.txt"]


def begin_put(server, path, key, size, sent):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    connection.sendall(f"PUT {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Length: {size}\r\n\r\n".encode() + b"x" * sent)
    return connection


@pytest.mark.parametrize("lost, statuses", [("key", (401,)), ("role", (403,)), ("membership", (404,)), ("workspace", (404,))])
def test_rights_that_end_while_the_body_arrives_end_the_upload(server, api, ws, unique, lost, statuses):
    principal, friend = api.make_principal(unique("friend"))
    api.put(f"{ws.root}/members/{principal}", 200, json={"role": "write"})
    made = friend.post("/api/v1/keys", 201, json={"name": "for a while"}).json()
    size = 300_000
    with begin_put(server, ws.file("late.bin"), made["secret"], size, 200_000) as connection:
        time.sleep(0.3)  # until the head was read; there is no event to await
        if lost == "key":
            api.delete(f"/api/v1/keys/{made['key']['id']}", 204)
        elif lost == "role":
            api.put(f"{ws.root}/members/{principal}", 200, json={"role": "read"})
        elif lost == "membership":
            api.delete(f"{ws.root}/members/{principal}", 204)
        else:
            api.delete(ws.root, 204)
        connection.sendall(b"x" * (size - 200_000))
        status = int(connection.recv(4096).split()[1])
    assert status in statuses
    if lost != "workspace":
        assert ws.paths() == []


@pytest.mark.parametrize("sent", [0, 10, 140_000, 2_500_000])
def test_nothing_is_kept_of_a_body_that_breaks_off(server, api, ws, sent):
    ws.put("a.bin", b"before")
    before = ws.events(limit=1000)["cursor"]
    for path in ("a.bin", "new.bin"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            connection.sendall(f"PUT {ws.file(path)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ROOT_KEY}\r\nContent-Length: 3000000\r\n\r\n".encode()
                               + b"x" * sent)
            if sent == 10:
                connection.shutdown(socket.SHUT_WR)
                connection.recv(4096)
    # A later request on the same file is answered, and sees nothing of it.
    ws.put("after.bin", b"x")
    assert ws.read("a.bin") == b"before"
    assert ws.paths() == ["a.bin", "after.bin"]
    assert [event["kind"] for event in ws.events(after=before)["items"]] == ["file.create"]


def test_a_body_over_the_limit_is_refused_before_it_is_sent(make_server):
    small = make_server("--file-bytes-max", "64 KiB")
    api = Client(small)
    ws = api.workspace("w")
    with socket.create_connection(("127.0.0.1", small.port), timeout=30) as connection:
        connection.sendall(f"PUT {ws.file('a')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ROOT_KEY}\r\nContent-Length: 70000\r\n"
                           "Expect: 100-continue\r\n\r\n".encode())
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 413") and b"100 Continue" not in answer
    api.error("PUT", ws.file("a"), 413, "too_large", data=iter([b"x" * 40_000] * 2))
    api.error("POST", f"/blob?workspace={ws.id}", 413, "too_large", data=b"x" * 70_000)
    api.error("POST", f"{ws.root}/files/", 413, "too_large", files={"f": ("a", b"x" * 70_000)})
    assert ws.paths() == []
    ws.put("a", b"x" * 65_536, 201)


@pytest.mark.parametrize("headers, status", [
    ({"Authorization": "Bearer wrong"}, 401), ({"If-None-Match": "*"}, 412), ({"If-Match": '"v_%s1"' % ("0" * 31)}, 412), ({"X-Sandkeep-Mode": "x"}, 400),
    ({}, 423),
])
def test_what_the_headers_already_forbid_is_refused_before_the_body(server, ws, headers, status):
    ws.put("a.bin", b"before")
    if status == 423:
        ws.lock("a.bin")
    named = {"Authorization": f"Bearer {ROOT_KEY}", **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(f"PUT {ws.file('a.bin')} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\nExpect: 100-continue\r\n{lines}\r\n".encode())
        assert connection.recv(65536).startswith(f"HTTP/1.1 {status}".encode())


def test_a_form_and_a_compressed_body_are_no_raw_file(api, ws):
    api.error("PUT", ws.file("a"), 415, "unsupported_media_type", files={"file": b"x"})
    for encoding in ("gzip", "identity, gzip"):
        packed = {"data": b"x", "headers": {"Content-Encoding": encoding}}
        api.error("PUT", ws.file("a"), 415, "unsupported_media_type", **packed)
        api.error("POST", f"/blob?workspace={ws.id}&name=a", 415, "unsupported_media_type", **packed)
    form = {"files": {"file": ("a", b"x")}, "headers": {"Content-Encoding": "gzip"}}
    api.error("POST", f"/blob?workspace={ws.id}", 415, "unsupported_media_type", **form)
    api.error("POST", ws.file("up"), 415, "unsupported_media_type", **form)
    assert ws.paths() == []
    ws.put("a", b"x", Content_Encoding="identity")


# Forms of several files.


def test_a_form_puts_all_its_files_below_the_folder(api, ws):
    large = os.urandom(3_000_000)
    made = api.post(ws.file("in/box"), 200, files=[
        ("f", ("a.txt", b"one")), ("f", ("sub/b.bin", large, "application/octet-stream")), ("other", ("日本 語.csv", b"a,b\n", "text/csv"))]).json()
    assert [item["entry"]["path"] for item in made["items"]] == ["in/box/a.txt", "in/box/sub/b.bin", "in/box/日本 語.csv"]
    assert made["items"][2]["entry"]["mime"] == "text/csv"
    assert ws.read("in/box/sub/b.bin") == large and ws.read("in/box/a.txt") == b"one"
    again = api.post(f"{ws.root}/files/", 200, files={"f": ("root.txt", b"x")}).json()
    assert again["items"][0]["entry"]["path"] == "root.txt"


def test_a_form_is_kept_whole_or_not_at_all(api, ws):
    ws.put("locked.txt", b"x")
    ws.lock("locked.txt")
    api.error("POST", f"{ws.root}/files/", 423, "locked", files=[("f", ("a.txt", b"1")), ("f", ("locked.txt", b"2"))])
    api.error("POST", f"{ws.root}/files/", 400, "bad_request", files=[("f", ("a.txt", b"1")), ("f", ("../b.txt", b"2"))])
    api.error("POST", f"{ws.root}/files/", 400, "bad_request", files=[("f", ("a.txt", b"1"))], data={"note": "x"})
    api.error("POST", f"{ws.root}/files/", 412, "precondition_failed", files=[("f", ("a.txt", b"1")), ("f", ("locked.txt", b"2"))],
              headers={"If-None-Match": "*"})
    assert ws.paths() == ["locked.txt"]


@pytest.mark.parametrize("body", [
    b"", b"--x--\r\n", b"--x\r\n", b"no boundary at all", b"--x\r\nContent-Disposition: form-data; name=f; filename=a\r\n\r\nhello",
    b"--x\r\nContent-Disposition: form-data; name=f; filename=a\r\n\r\nhello\r\n--x", b"--x\r\n\r\nhello\r\n--x--\r\n",
])
def test_a_malformed_form_is_400_and_keeps_nothing(api, ws, body):
    api.error("POST", f"{ws.root}/files/", 400, "bad_request", data=body, headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert ws.paths() == []


def test_what_is_no_form_is_415(api, ws):
    api.error("POST", f"{ws.root}/files/", 415, "unsupported_media_type", data=b"x")
    api.error("POST", f"{ws.root}/files/", 415, "unsupported_media_type", json={})
    api.error("POST", f"{ws.root}/files/", 400, "bad_request", data=b"x", headers={"Content-Type": "multipart/form-data"})


# POST /blob.


def check_blob(api, made, content):
    assert made["size"] == len(content) and made["sha256"] == hashlib.sha256(content).hexdigest() and made["blob_id"] == made["version_id"]
    assert api.get(made["link"], 200).content == content
    assert Client(api.server, None).get(made["signed_link"], 200).content == content


def test_a_raw_blob_goes_to_the_default_workspace(api):
    made = api.post("/blob", 201, data=b"raw bytes").json()
    assert re.match(r"upload-[0-9a-f]{32}$", made["path"])
    check_blob(api, made, b"raw bytes")


def test_a_blob_is_named_by_header_query_or_form(api, ws):
    at = f"/blob?workspace={ws.name}"
    made = api.post(at, 201, data=b"1", headers={"X-Filename": "plot.png"}).json()
    assert made["path"] == "plot.png" and made["mime"] == "image/png"
    made = api.post(at + "&folder=out&name=b%20c.txt", 201, data=b"2", headers={"X-Filename": "other"}).json()
    assert made["path"] == "out/b c.txt"
    made = api.post(at + "&folder=out", 201, files={"file": ("form.csv", b"3", "text/csv")}).json()
    assert made["path"] == "out/form.csv" and made["mime"] == "text/csv"
    check_blob(api, made, b"3")
    assert api.post(at, 201, data=b"new", headers={"X-Filename": "plot.png"}).json()["file_id"] == ws.entry("plot.png")["id"]
    assert ws.paths() == ["out", "plot.png", "out/b c.txt", "out/form.csv"]


def test_a_wrong_blob_is_refused(api, ws):
    at = f"/blob?workspace={ws.name}"
    api.error("POST", at, 400, "bad_request", files={"data": ("a", b"x")})
    api.error("POST", at, 400, "bad_request", files=[("file", ("a", b"x")), ("file", ("b", b"x"))])
    api.error("POST", at, 400, "bad_request", files={"file": ("a", b"x")}, data={"extra": "1"})
    api.error("POST", at, 400, "bad_request", data=b"x", headers={"X-Filename": "../up"})
    api.error("POST", at + "&folder=..", 400, "bad_request", data=b"x")
    api.error("POST", "/blob?workspace=nowhere", 404, "not_found", data=b"x")
    ws.lock("a")
    api.error("POST", at + "&name=a", 423, "locked", data=b"x")
    api.error("POST", at, 423, "locked", files={"file": ("a", b"x")})
    assert ws.paths() == []


def test_acknowledged_means_kept_even_when_the_server_is_killed(make_server):
    one = make_server()
    api = Client(one)
    ws = api.workspace("w")
    kept = {}
    for turn in range(4):
        for size in (0, 100, 70_000, 1_500_000):
            name, content = f"f{turn % 2}-{size}", os.urandom(size)
            kept[name] = (content, ws.put(name, content)["version"]["id"])
        one.kill()
        one.start()
        api = Client(one)
        ws = ws.seen_by(api)
        for name, (content, version) in kept.items():
            assert ws.read(name) == content
            assert api.get(f"/k/{version}/{name}", 200).content == content
    assert api.post("/api/v1/verify", 200).json()["ok"]
    assert one.stop() == 0


def test_a_slow_upload_does_not_delay_other_requests(server, api, ws):
    """More half-sent uploads than there are worker threads; others are served meanwhile."""
    connections = []
    for number in range(60):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        connection.sendall(f"PUT {ws.file(f'slow-{number}')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ROOT_KEY}\r\nContent-Length: 4\r\n\r\nab".encode())
        connections.append(connection)
    begin = time.monotonic()
    ws.put("quick.txt", b"x")
    assert ws.read("quick.txt") == b"x"
    assert time.monotonic() - begin < 20
    for connection in connections:
        connection.sendall(b"cd")
    for connection in connections:
        assert connection.recv(65536).startswith(b"HTTP/1.1 201")
        connection.close()
    assert len(ws.paths()) == 61
