"""Files: bytes in, the same bytes out, under every name that can be."""

import base64
import hashlib
import os
import socket

import pytest

from sandkeep_server import ROOT_KEY


@pytest.mark.parametrize("size", [0, 1, 4096, 131_072, 131_073, 1 << 20, (1 << 20) + 1, 10_000_000])
def test_a_file_is_read_back_unchanged(api, ws, size):
    content = os.urandom(size)
    made = api.put(ws.file("a.bin"), 201, data=content).json()
    assert made["created"] and made["entry"]["size"] == size and made["version"]["number"] == 1
    assert made["entry"]["sha256"] == made["version"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert ws.read("a.bin") == content
    assert api.get(made["entry"]["link"], 200).content == content


def test_a_second_put_is_a_new_version_and_the_same_bytes_are_none(api, ws):
    first = ws.put("a.txt", b"one", 201)
    second = ws.put("a.txt", b"two", 200)
    assert second["entry"]["id"] == first["entry"]["id"] and second["version"]["number"] == 2
    assert second["version"]["base_id"] == first["version"]["id"] and not second["created"]
    again = ws.put("a.txt", b"two", 200)
    assert again["unchanged"] and again["version"]["id"] == second["version"]["id"]
    assert ws.entry("a.txt")["version_count"] == 2
    assert api.get(first["entry"]["link"], 200).content == b"one"


def test_folders_above_a_file_are_made(ws):
    ws.put("a/b/c/d.txt", b"x")
    assert ws.paths() == ["a", "a/b", "a/b/c", "a/b/c/d.txt"]
    assert ws.entry("a/b")["kind"] == "folder"


@pytest.mark.parametrize("name", [
    "plain.txt", "with space.txt", "ünïcödé.txt", "日本語.csv", "😀.png", "a+b&c=d?e#f.txt", "100%.txt", "quote\"'.txt", "back\\slash",
    ".hidden", "...", "-rf", "tab\there", "new\nline", "<script>.html", "x" * 255, "e\u0301.txt", "con", "trailing.", "semi;colon", "*",
])
def test_every_name_that_a_file_can_have_is_kept_as_it_is(api, ws, name):
    made = ws.put(name, b"hello", 201)
    assert made["entry"]["name"] == name and made["entry"]["path"] == name
    assert ws.read(name) == b"hello"
    assert ws.paths() == [name]
    assert api.get(made["entry"]["link"], 200).content == b"hello"
    api.delete(ws.file(name), 200)
    assert ws.paths() == []


def test_bytes_that_are_not_utf8_are_a_name_too(api, ws):
    made = api.put(f"{ws.root}/files/caf%E9.txt", 201, data=b"x").json()
    assert api.get(f"{ws.root}/files/caf%E9.txt", 200).content == b"x"
    assert ws.read(made["entry"]["path"]) == b"x"


def test_a_decomposed_name_finds_the_composed_one(ws):
    ws.put("caf\u00e9.txt", b"x")
    assert ws.read("cafe\u0301.txt") == b"x"


def raw_request(server, method, path, body=b""):
    """Sends the path as it is; HTTP libraries would tidy it."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ROOT_KEY}\r\nContent-Length: {len(body)}\r\n"
                           "Connection: close\r\n\r\n".encode() + body)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return int(answer.split(b" ")[1]), answer


@pytest.mark.parametrize("path", [
    "../x", "a/../../x", "a/../x", "..", ".", "./x", "a/./b", "%2e%2e/x", "%2e%2e%2fx", "a/%2E%2E/x", "..%2fx", "a%2f..%2fx", "%00", "a%00b", "x%00/../y",
])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_paths_with_dot_dot_are_refused(server, ws, method, path):
    status, answer = raw_request(server, method, f"{ws.root}/files/{path}", b'{"mode": "0600"}' if method in ("PUT", "PATCH") else b"")
    assert status == 400, answer
    assert ws.paths() == []


@pytest.mark.parametrize("path", ["../x", "a/../../x", ".", "a/..", "a\0b", "x" * 256, "y/" * 5000])
def test_paths_with_dot_dot_are_refused_in_json_too(api, ws, path):
    ws.put("ok", b"x")
    for act, body in (("mkdir", {"path": path}), ("move", {"from": "ok", "to": path}), ("copy", {"from": "ok", "to": path}), ("locks", {"path": path}),
                      ("batch", {"changes": [{"op": "put", "path": path, "content": "x"}]})):
        api.error("POST", f"{ws.root}/{act}", 400, "bad_request", json=body)
    for query in ("list?folder=", "events?path=", "locks?below="):
        api.error("GET", f"{ws.root}/{query}", 400, "bad_request", params={query.split("?")[1][:-1]: path})
    assert ws.paths() == ["ok"]


def test_over_long_names_and_paths_are_refused(api, ws):
    api.error("PUT", ws.file("x" * 256), 400, "bad_request", data=b"x")
    api.error("PUT", ws.file("é" * 128), 400, "bad_request", data=b"x")
    limits = api.get("/api/v1").json()["limits"]
    deepest = "d/" * (limits["path_depth_max"] - 1)
    api.error("PUT", ws.file(deepest + "d/x"), 400, "bad_request", data=b"x")
    api.error("PUT", ws.file("/".join(["n" * 200] * (limits["path_bytes_max"] // 200 + 1))), 400, "bad_request", data=b"x")
    api.error("PUT", f"{ws.root}/files/", 400, "bad_request", data=b"x")
    assert ws.paths() == []
    ws.put(deepest + "x", b"x", 201)


def test_repeated_and_leading_slashes_do_not_matter(ws):
    ws.put("//a///b.txt", b"x")
    assert ws.read("a/b.txt") == b"x"


def test_the_type_is_what_the_client_says_else_what_the_bytes_are(ws):
    png = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
    assert ws.put("a", png, Content_Type="application/octet-stream")["entry"]["mime"] == "image/png"
    assert ws.put("b", png, Content_Type="application/x-www-form-urlencoded")["entry"]["mime"] == "image/png"
    assert ws.put("c.dat", b"x", Content_Type="application/x-own; v=1")["entry"]["mime"] == "application/x-own; v=1"
    assert ws.put("t.csv", b"a,b\n1,2\n")["entry"]["mime"] == "text/csv"
    assert ws.put("n.json", b"{}")["entry"]["mime"] == "application/json"


def test_a_part_of_a_file_is_not_taken_for_the_whole(api, ws):
    ws.put("a.txt", b"0123456789", 201)
    api.error("PUT", f"{ws.root}/files/a.txt", 400, "bad_request", data=b"ABCDEFGHIJ", headers={"Content-Range": "bytes 10-19/20"})
    assert ws.read("a.txt") == b"0123456789"


def test_a_type_that_is_none_is_refused(api, ws):
    for mime in ("nonsense", "text/", "/html", "text/html\x7f", "x" * 300):
        api.error("PUT", ws.file("a"), 400, "bad_request", data=b"x", headers={"Content-Type": mime})


def test_mode_and_time_are_kept(api, ws):
    made = ws.put("run.sh", b"#!", X_Sandkeep_Mode="0755", X_Sandkeep_Mtime="2020-02-03T04:05:06.000007Z")
    assert made["entry"]["mode"] == "0755" and made["entry"]["mtime"] == "2020-02-03T04:05:06.000007Z"
    assert ws.put("run.sh", b"#!/bin/sh")["entry"]["mode"] == "0755"
    changed = api.patch(ws.file("run.sh"), 200, json={"mode": "600", "mtime": "2021-01-01T00:00:00Z"}).json()
    assert changed["entry"]["mode"] == "0600" and changed["entry"]["mtime"].startswith("2021-01-01T00:00:00")
    assert ws.entry("run.sh")["mode"] == "0600"
    for header, value in (("X-Sandkeep-Mode", "rwx"), ("X-Sandkeep-Mode", "0999"), ("X-Sandkeep-Mode", "4755"), ("X-Sandkeep-Mtime", "yesterday"),
                          ("X-Sandkeep-Base", "latest")):
        api.error("PUT", ws.file("other"), 400, "bad_request", data=b"x", headers={header: value})
    for body in ({}, {"mode": 420}, {"mode": "rw"}, {"mtime": "soon"}, {"owner": "me"}):
        api.error("PATCH", ws.file("run.sh"), 400, "bad_request", json=body)
    api.error("PATCH", ws.file("missing"), 404, "not_found", json={"mode": "0600"})


def test_a_folder_is_put_by_its_slash_or_kind(api, ws):
    assert api.put(f"{ws.root}/files/one/two/", 201).json()["entry"]["kind"] == "folder"
    assert api.put(f"{ws.root}/files/three?kind=folder", 201).json()["entry"]["path"] == "three"
    assert api.put(f"{ws.root}/files/three/", 200).json()["unchanged"]
    api.error("PUT", f"{ws.root}/files/four/", 400, "bad_request", data=b"bytes")
    api.error("PUT", f"{ws.root}/files/five?kind=link", 400, "bad_request")
    assert ws.paths() == ["one", "three", "one/two"]


def test_a_folder_has_no_bytes_to_read_or_write(api, ws):
    ws.put("d/a.txt", b"x")
    error = api.error("GET", ws.file("d"), 400, "bad_request")
    assert "/list" in error["hint"]
    api.error("GET", f"{ws.root}/files/", 400, "bad_request")
    api.error("PUT", ws.file("d"), 409, "conflict", data=b"x")
    api.error("PUT", ws.file("d/a.txt/below"), 409, "conflict", data=b"x")


def test_the_root_is_a_folder_that_cannot_be_changed(api, ws):
    root = ws.entry("")
    assert root["kind"] == "folder" and root["path"] == "" and root["id"] is None
    api.error("DELETE", f"{ws.root}/files/", 400, "bad_request")
    api.error("POST", f"{ws.root}/move", 400, "bad_request", json={"from": "", "to": "x"})


def test_a_missing_file_is_404_and_a_trashed_one_says_where_it_is(api, ws):
    api.error("GET", ws.file("missing.txt"), 404, "not_found")
    api.error("DELETE", ws.file("missing.txt"), 404, "not_found")
    ws.put("a.txt", b"x")
    trashed = api.delete(ws.file("a.txt"), 200).json()
    error = api.error("GET", ws.file("a.txt"), 404, "not_found")
    assert error["trashed_file_id"] == trashed["id"]


def test_downloads_carry_their_name_in_every_script(api, ws):
    ws.put("Bericht \"ä\".txt", b"x")
    shown = api.get(ws.file("Bericht \"ä\".txt"), 200).headers["Content-Disposition"]
    assert shown.startswith("inline") and "filename*=UTF-8''Bericht%20%22%C3%A4%22.txt" in shown
    assert api.get(ws.file("Bericht \"ä\".txt") + "?download=1", 200).headers["Content-Disposition"].startswith("attachment")


def test_stored_pages_cannot_script_the_origin(api, ws):
    for name, content in (("a.html", b"<script>alert(1)</script>"), ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>")):
        made = ws.put(name, content)
        for address in (ws.file(name), made["entry"]["link"]):
            headers = api.get(address, 200).headers
            assert "sandbox" in headers["Content-Security-Policy"] and "default-src 'none'" in headers["Content-Security-Policy"]
            assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("kind", ["application/pdf+xml", "application/pdf-not", "application/pdfx; charset=utf-8", "image/svg+xml; a=application/pdf"])
def test_only_a_pdf_is_spared_the_sandbox(api, ws, kind):
    ws.put("a", b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", Content_Type=kind)
    headers = api.get(ws.file("a"), 200).headers
    assert headers["Content-Type"].split(";")[0] == kind.split(";")[0]
    policy = [part.strip() for part in headers["Content-Security-Policy"].split(";")]
    assert "sandbox" in policy and {"default-src 'none'", "base-uri 'none'", "form-action 'none'"} <= set(policy)


def test_a_type_that_browsers_could_read_as_two_is_refused(api, ws):
    refused = api.put(ws.file("a"), 400, data=b"1", headers={"Content-Type": "application/pdf;,text/html"})
    assert "MIME type" in refused.json()["error"]["message"]


@pytest.mark.parametrize("kind", ["application/pdf", "application/pdf; version=1.7", "Application/PDF"])
def test_a_pdf_is_shown_by_the_browsers_viewer_and_submits_no_forms(api, ws, kind):
    ws.put("a", b"%PDF-1.4", Content_Type=kind)
    policy = [part.strip() for part in api.get(ws.file("a"), 200).headers["Content-Security-Policy"].split(";")]
    assert "sandbox" not in policy and {"default-src 'none'", "base-uri 'none'", "form-action 'none'"} <= set(policy)


def test_a_range_that_ends_beyond_all_numbers_ends_with_the_file(api, ws):
    ws.put("a", b"hello")
    got = api.get(ws.file("a"), 206, headers={"Range": "bytes=1-18446744073709551616"})
    assert got.content == b"ello" and got.headers["Content-Range"] == "bytes 1-4/5"
