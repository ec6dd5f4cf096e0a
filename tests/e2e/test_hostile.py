"""Clients that mean no good, or nothing at all: 4xx in the one shape that says what to do, never a 5xx, and a server that is as well as before.

Where it can, a test takes its targets from the OpenAPI document, so that a new way in is attacked without being named here.
"""

import json
import os
import re
import socket
import time
import urllib.parse

import pytest

from durability import LONG, Wire, at, form, make_random, verify
from sandkeep_server import ROOT_KEY, Server

# Code runs in sessions; their own tests attack them.
NOT_HERE = "/api/v1/sessions"
AUTHORIZED = f"Host: x\r\nAuthorization: Bearer {ROOT_KEY}\r\n"
MIB = 1 << 20


@pytest.fixture(scope="module")
def victim():
    # Whoever stops in the middle of a body is let go after this; so are our own connections, when a test leaves them idle.
    server = Server("--sandbox", "off", "--log-level", "warn", "--idle-timeout-s", "2").start()
    yield server
    code, log = server.stop(), server.log()
    server.remove()
    assert code == 0 and "fatal" not in log and "handler threw" not in log, log


@pytest.fixture
def wire(victim):
    """After every test the server answers, and whatever it keeps is whole."""
    with Wire(victim) as one:
        yield one
        one.close()
        assert one.call("GET", "/healthz").status == 200
        verify(one)
    assert victim.process.poll() is None
    # A client that left is not waited for: its upload is cleared away after the connection is closed.
    deadline = time.monotonic() + 30
    while left := list((victim.data / "blobs" / "new").iterdir()):
        assert time.monotonic() < deadline, f"an upload that came to nothing left files behind: {left}"
        time.sleep(0.02)


@pytest.fixture
def workspace(wire):
    """The id of a workspace with a file, a folder, a second version and something in the trash."""
    made = wire.call("POST", "/api/v1/workspaces", {"name": "w" + os.urandom(6).hex()}).ok().json()["id"]
    for content in (b"one", b"two"):
        wire.call("PUT", at("folder/file.txt", made), content).ok()
    wire.call("PUT", at("gone.txt", made), b"gone").ok()
    wire.call("DELETE", at("gone.txt", made)).ok()
    return made


def operations(wire):
    document = wire.call("GET", "/api/v1/openapi.json").ok().json()
    for template, methods in document["paths"].items():
        for method, operation in methods.items():
            if not template.startswith(NOT_HERE):
                yield method.upper(), template, operation


def assert_civil(answer, what):
    """Not a 5xx; and if it is an error, one that helps."""
    assert answer.status < 500, f"{what} -> {answer.status} {answer.body[:500]}"
    if answer.status < 400 or not answer.body:
        return answer.status
    if answer.headers["Content-Type"].startswith("text/html"):
        return answer.status  # the page's own errors are for people
    error = answer.json()["error"]
    assert error["code"] and error["message"] and error["hint"], f"{what} -> {answer.body[:500]}"
    assert error["request_id"] == answer.headers["X-Request-Id"], what
    return answer.status


# Names, ids and numbers that no client should send.

HOSTILE_SEGMENTS = [
    "%00", "..", ".", "%2e%2e", "%2F", "..%2f..%2fetc%2fpasswd", "%ff%fe", "%F0%9F%92%A9", "x" * 5000, "v_" + "f" * 32, "v_" + "g" * 32, "f_" + "0" * 32, "ws_", "p_",
    "key_" + "0" * 31, "lock_" + "0" * 32, "-1", "0", "null", "undefined", "'; DROP TABLE entries; --", "%25s%25n", "cfile_" + "0" * 32, "file-", "a%0d%0ab", "%e2%80%ae", " ",
]
HOSTILE_TEXTS = [
    "", " ", "-1", "0", "1.5", "1e9", "99999999999999999999999999", "-99999999999999999999", "NaN", "true", "null", "\0", "\r\n", "../..", "/", "x" * 20_000, "🙂" * 500, "a,b,,c", "*",
    "%", "[", "\\", "AAAA", "AA", "\x7f", "v_" + "0" * 32, "ws_" + "0" * 32, "9223372036854775807", "2026-13-45T99:99:99Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z",
]
HOSTILE_JSON = [
    "null", "true", "-1", "0", "1.5", "1e400", "-1e400", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1" * 400, '""', '"\\u0000"', '"\\ud800"', '"../../x"', '"a/../b"',
    '"/"', '"."', json.dumps("x" * 100_000), json.dumps("🙂" * 300), json.dumps("a/" * 3000), "[]", "{}", "[[]]", '{"a": 1}', "[null]", '["x", 1]', '"2026-13-45T00:00:00Z"', '"*"', '"\\r\\nX: y"', '"07777777"', '"v_0"',
]


def quoted(template, values):
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match.group(1), "x"), template)


def test_ids_and_paths_that_are_none(wire, workspace):
    """Every operation, with each of its path's parameters in turn being nonsense."""
    seen = 0
    for method, template, operation in operations(wire):
        names = re.findall(r"\{(\w+)\}", template)
        body = b"{}" if operation.get("requestBody") else None
        for name in names:
            for hostile in HOSTILE_SEGMENTS:
                path = quoted(template, {"ws": workspace, "path": "folder/file.txt", name: hostile if "%" in hostile else urllib.parse.quote(hostile)})
                status = assert_civil(wire.call(method, path, body, {"Content-Type": "application/json"} if body else {}), f"{method} {path[:200]}")
                seen += 1
                # Nothing above is somebody's workspace or id; a path alone can be a new file's.
                assert name == "path" or status >= 400 or template.startswith("/k/"), f"{method} {path[:200]} -> {status}"
    assert seen > 500


def test_queries_that_make_no_sense(wire, workspace):
    seen = 0
    for method, template, operation in operations(wire):
        for parameter in operation.get("parameters", []):
            if parameter["in"] != "query" or method not in ("GET", "HEAD"):
                continue
            for hostile in HOSTILE_TEXTS:
                path = quoted(template, {"ws": workspace, "path": "folder/file.txt"}) + "?" + urllib.parse.urlencode({parameter["name"]: hostile})
                assert_civil(wire.call(method, path), f"{method} {path[:200]}")
                seen += 1
    assert seen > 300


@pytest.mark.parametrize("glob", ["*a" * 60 + "b", "**/" * 2 + "b", "?" * 200 + "*", "[" * 500, "{a,b}" * 100, "[a-" * 50, "\\" * 99], ids=lambda glob: f"{glob[:6]} {len(glob)}")
def test_hostile_globs_end_quickly(wire, workspace, glob):
    wire.call("PUT", at("a" * 250, workspace), b"x").ok()
    wire.call("PUT", at("/".join(["a"] * 60), workspace), b"x").ok()
    began = time.monotonic()
    assert_civil(wire.call("GET", f"/api/v1/workspaces/{workspace}/list?recursive=true&glob={urllib.parse.quote(glob)}"), glob)
    # Exponential search would take longer than the universe has; this only must not depend on a busy machine.
    assert time.monotonic() - began < 30


def plain_value(schema):
    """Something that an operation takes for this."""
    kinds = {"string": '"x"', "integer": "60", "number": "1", "boolean": "false", "array": "[]", "object": "{}"}
    if "enum" in schema:
        return json.dumps(schema["enum"][0])
    return '"2026-01-01T00:00:00Z"' if schema.get("format") == "date-time" else kinds[schema.get("type", "string")]


def json_operations(wire):
    for method, template, operation in operations(wire):
        schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if schema is not None:
            yield method, template, schema


def test_json_fields_of_the_wrong_kind(wire, workspace):
    """Every field of every operation, with each hostile value in turn, the others being as they should."""
    seen = 0
    for method, template, schema in json_operations(wire):
        path = quoted(template, {"ws": workspace, "path": "folder/file.txt"})
        for name, property_schema in [*schema["properties"].items(), ("unknown_field", {})]:
            for hostile in HOSTILE_JSON:
                if name == "quota_bytes" and re.fullmatch(r"[0-9]{1,19}", hostile):
                    continue  # a quota may be that small, and then nothing fits any more
                fields = {field: plain_value(schema["properties"][field]) for field in schema.get("required", []) if field != name}
                body = "{" + ", ".join(f'"{key}": {value}' for key, value in {**fields, name: hostile}.items()) + "}"
                status = assert_civil(wire.call(method, path, body.encode(), {"Content-Type": "application/json"}), f"{method} {path} {body[:200]}")
                assert name in schema["properties"] or status == 400, f"{method} {path} takes unknown fields"
                seen += 1
    assert seen > 1000


@pytest.mark.parametrize("body", [
    b"", b"{", b"}", b"[", b"nul", b"{}{}", b"{} x", b'{"a"}', b'{"a":}', b"{'a': 1}", b'{"a": 1,}', b"\xff\xfe{\x00}\x00", b'{"a": "\xc3\x28"}', b'"text"', b"12", b"null",
    b"[" * 100_000, b'{"a":' * 20_000, b"[" * 100_000 + b"]" * 100_000, b"1" * 50_000, b'"' + b"\\" * 49_999, b"\x00" * 1000, b"/* {} */",
], ids=lambda body: repr(body[:20]) + f" {len(body)}")
def test_bodies_that_are_no_object(wire, workspace, body):
    for method, template, _ in json_operations(wire):
        path = quoted(template, {"ws": workspace, "path": "folder/file.txt"})
        status = assert_civil(wire.call(method, path, body, {"Content-Type": "application/json"}), f"{method} {path}")
        # No body at all stands for no fields where none is needed.
        assert status >= 400 or body == b"", f"{method} {path} -> {status}"


@pytest.mark.parametrize("content_type", ["text/plain", "text/xml; charset=utf-16", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "image/png", "/", "application/json; charset=latin-1", ""])
def test_json_with_the_wrong_content_type(wire, workspace, content_type):
    for method, template, _ in json_operations(wire):
        path = quoted(template, {"ws": workspace, "path": "folder/file.txt"})
        assert_civil(wire.call(method, path, b'{"surely_unknown": 1}', {"Content-Type": content_type}), f"{method} {path} {content_type}")


def batch_changes():
    for op in ("put", "mkdir", "move", "copy", "trash", "restore_version", "set", "purge", ""):
        yield {"op": op}
        yield {"op": op, "path": "../x", "from": "folder/file.txt", "to": "folder/file.txt/below"}
        yield {"op": op, "path": "folder", "content": "x", "content_base64": "eA=="}
        yield {"op": op, "path": "a", "content": 5, "from": [], "to": {}}
        yield {"op": op, "path": "b", "content_base64": "!"}
        yield {"op": op, "path": "c" * 5000, "from": "folder", "to": "folder/inside"}
    yield from ({"path": "x"}, {"op": 1}, {"op": None}, {"op": ["put"]}, {"op": "PUT", "path": "x", "content": "x"})


def test_batches_of_nonsense_change_nothing(wire, workspace):
    def listed():
        return wire.call("GET", f"/api/v1/workspaces/{workspace}/list?recursive=true").ok().body

    before = listed()
    good = {"op": "put", "path": "good.txt", "content": "good"}
    for change in batch_changes():
        for changes in ([good, change], [change, good]):
            status = assert_civil(wire.call("POST", f"/api/v1/workspaces/{workspace}/batch", {"changes": changes}), str(change)[:200])
            assert status >= 400, f"{change} was carried out"
    for changes in (5, None, "x", {}, [5], [None], [[good]], {"0": good}):
        assert assert_civil(wire.call("POST", f"/api/v1/workspaces/{workspace}/batch", {"changes": changes}), str(changes)) == 400
    assert listed() == before


HEADERS = ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range", "X-Sandkeep-Lock", "X-Sandkeep-Fence", "X-Sandkeep-Mode", "X-Sandkeep-Mtime", "X-Sandkeep-Base",
           "X-Sandkeep-Sha256", "Content-MD5", "Content-Type", "Content-Encoding", "Accept", "Accept-Encoding", "Last-Event-ID", "Cookie", "Origin", "X-Request-Id", "X-Forwarded-For", "X-Forwarded-Proto",
           "X-Forwarded-Host", "Forwarded", "X-Filename", "X-API-Key", "Authorization"]
HOSTILE_HEADERS = [b"", b" ", b"\"", b"\"\"", b"W/\"x\"", b"*, *", b"\xff\xfe", b"\xc3\x28", b"x" * 8000, b"-1", b"99999999999999999999", b"bytes=", b"bytes=--5", b"bytes=5-2", b"bytes=-0", b"bytes=-99999999999999999999",
                   b"bytes=99999999999999999999-", b"bytes=" + b"0-0," * 1500 + b"0-0", b"items=0-5", b"0888", b"0644 ", b"Mon, 99 Foo 2026 99:99:99 GMT", b"../../x", b"a/b", b"=?utf-8?B?eA==?=", b"Basic !!!!", b"Bearer", b"Bearer  ",
                   b"Basic Og==", b"gzip;q=2, *;q=-1", b"text/event-stream", b"http://evil.example\\@x", b"evil.example/<script>", b"for=\"[::\"", b"%00", b"\t"]


def test_headers_that_make_no_sense(victim, wire, workspace):
    """Every header that means something, with nonsense in it, on a read and on two kinds of write."""
    for name in HEADERS:
        for hostile in HOSTILE_HEADERS:
            for method, path, body in (("GET", at("folder/file.txt", workspace), b""), ("PUT", at("new.txt", workspace), b"x"), ("POST", f"/blob?workspace={workspace}", b"x")):
                head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n".encode()
                if name != "Authorization":
                    head += f"Authorization: Bearer {ROOT_KEY}\r\n".encode()
                answer = say(victim, head + name.encode() + b": " + hostile + f"\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
                status = status_of(answer)
                assert status is not None and status < 500, f"{method} {name}: {hostile[:100]} -> {answer[:500]}"


# Below HTTP's better manners.


def say(server, raw, half_close=False):
    """Everything that comes back until the server closes; b"" when it hangs up."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        answer = b""
        try:
            connection.sendall(raw)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                answer += piece
        except TimeoutError:
            raise
        except OSError:
            pass  # it hung up on us
        return answer


def status_of(answer):
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    return int(found.group(1)) if found else None


def truncated_uploads(workspace):
    whole = os.urandom(300_000)
    body, headers = form({"a.bin": whole, "b.bin": whole})
    kind = headers["Content-Type"]
    for method, path, content, content_type in (
        ("PUT", at("cut.bin", workspace), whole, "application/octet-stream"),
        ("POST", at("cut", workspace), body, kind),
        ("POST", f"/blob?workspace={workspace}&name=cut.bin", whole, "application/octet-stream"),
        ("POST", f"/blob?workspace={workspace}", form({"cut.bin": whole})[0], kind),
        ("POST", f"/api/v1/workspaces/{workspace}/batch", json.dumps({"changes": [{"op": "put", "path": "cut.txt", "content": "x" * 200_000}]}).encode(), "application/json"),
    ):
        head = f"{method} {path} HTTP/1.1\r\n{AUTHORIZED}Content-Type: {content_type}\r\n"
        for part in (0, 1, len(content) // 2, len(content) - 1):
            yield f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content[:part]
            yield f"{head}Transfer-Encoding: chunked\r\n\r\n{len(content):x}\r\n".encode() + content[:part]
            yield f"{head}Transfer-Encoding: chunked\r\n\r\n{max(1, part):x}\r\n".encode() + content[:max(1, part)] + b"\r\n"
        yield f"{head}Transfer-Encoding: chunked\r\n\r\n{len(content):x}\r\n".encode() + content + b"\r\n0"
        yield f"{head}Transfer-Encoding: chunked\r\n\r\n{len(content):x}\r\n".encode() + content + b"XX0\r\n\r\n"
        yield f"{head}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n".encode() + content


def test_bodies_that_break_off_leave_nothing(victim, wire, workspace):
    for raw in truncated_uploads(workspace):
        status = status_of(say(victim, raw, half_close=True))
        assert status is None or 400 <= status < 500, raw[:300]
    wire.close()
    found = wire.call("GET", f"/api/v1/workspaces/{workspace}/list?recursive=true").ok().json()["items"]
    assert [entry["path"] for entry in found] == ["folder", "folder/file.txt"]


def test_requests_with_random_bytes_changed(victim, wire, workspace):
    """Good requests with a few bytes flipped, dropped, doubled or moved."""
    rng = make_random()
    body, headers = form({"a.txt": b"hello", "b/c.bin": os.urandom(100)})
    good = [
        f"GET {at('folder/file.txt', workspace)} HTTP/1.1\r\n{AUTHORIZED}Range: bytes=0-1\r\nConnection: close\r\n\r\n".encode(),
        f"PUT {at('m.txt', workspace)} HTTP/1.1\r\n{AUTHORIZED}Content-Length: 5\r\nIf-None-Match: *\r\nConnection: close\r\n\r\nhello".encode(),
        f"POST {at('m', workspace)} HTTP/1.1\r\n{AUTHORIZED}Content-Type: {headers['Content-Type']}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body,
        f"POST /api/v1/workspaces/{workspace}/mkdir HTTP/1.1\r\n{AUTHORIZED}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n10\r\n{{\"path\": \"made\"}}\r\n0\r\n\r\n".encode(),
    ]
    for number in range(5000 if LONG else 400):
        raw = bytearray(rng.choice(good))
        for _ in range(rng.randint(1, 4)):
            spot = rng.randrange(len(raw))
            how = rng.randrange(4)
            if how == 0:
                raw[spot] = rng.randrange(256)
            elif how == 1:
                del raw[spot:spot + rng.randint(1, 10)]
            elif how == 2:
                raw[spot:spot] = raw[spot:spot + rng.randint(1, 40)]
            else:
                raw[spot:spot] = rng.choice([b"\r\n", b"\0", b"\r\n\r\n", b"%", b"\xff", b": ", b"Content-Length: 1\r\n", b"../"])
        answer = say(victim, bytes(raw), half_close=True)
        status = status_of(answer)
        # 501 is for transfer codings that the server does not know, 505 for versions of HTTP.
        assert status is None or status < 500 or status in (501, 505), f"{number}: {bytes(raw)!r} -> {answer[:500]!r}"


def test_one_connection_cannot_smuggle_a_second_request(victim, wire, workspace):
    """What follows a request whose length is in doubt is not taken for a request."""
    hidden = f"PUT {at('smuggled.txt', workspace)} HTTP/1.1\r\n{AUTHORIZED}Content-Length: 1\r\n\r\nx".encode()
    path = at("outer.txt", workspace)
    for framing in ("Content-Length: 0\r\nContent-Length: 5", "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Transfer-Encoding: xchunked",
                    "Transfer-Encoding : chunked", "Transfer-Encoding: chunked, identity", "Content-Length: +0", "Content-Length: 0x0", "Content-Length: 0,0", " Content-Length: 0", "Content-Length: 0\r\n Content-Length: 5"):
        answer = say(victim, f"PUT {path} HTTP/1.1\r\n{AUTHORIZED}{framing}\r\n\r\n".encode() + b"0\r\n\r\n" + hidden, half_close=True)
        assert not re.search(rb"HTTP/1\.1 2", answer) or answer.count(b"HTTP/1.1 ") == 1, f"{framing}: {answer}"
        wire.close()
        assert wire.call("GET", at("smuggled.txt", workspace)).status == 404, framing


def resident_mib(server):
    status = open(f"/proc/{server.process.pid}/status", encoding="ascii").read()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) >> 10


def test_slow_clients_delay_no_others_and_are_disconnected():
    """Hundreds that drip their headers, stop in their bodies, or ask for much and read nothing; others are served meanwhile."""
    server = Server("--sandbox", "off", "--log-level", "error", "--idle-timeout-s", "2", "--worker-threads", "4").start()
    slow = []
    try:
        with Wire(server) as wire:
            wire.call("PUT", at("large.bin"), os.urandom(20 * MIB)).ok()
            before = resident_mib(server)
            for number in range(60):
                for start in (b"GET /api/v1/me HTT", f"PUT {at(f'slow-{number}')} HTTP/1.1\r\n{AUTHORIZED}Content-Length: 100000\r\n\r\nabc".encode(),
                              f"GET {at('large.bin')} HTTP/1.1\r\n{AUTHORIZED}\r\n".encode(), f"POST /api/v1/workspaces HTTP/1.1\r\n{AUTHORIZED}Content-Length: 50\r\n\r\n{{".encode()):
                    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
                    connection.sendall(start)
                    slow.append(connection)
            for number in range(20):
                assert wire.call("PUT", at(f"quick-{number}"), b"x" * 1000).status == 201
                assert wire.call("GET", at(f"quick-{number}")).ok().body == b"x" * 1000
            assert resident_mib(server) < before + 200
            # Each is let go: an answer that says so, or the end of the connection.
            for connection in slow:
                answer = b""
                try:
                    while piece := connection.recv(1 << 20):
                        answer = answer or piece[:100]
                except ConnectionResetError:
                    pass
                assert status_of(answer) in (None, 200, 408), answer
            wire.close()  # the server has closed it by now, idle as it was
            found = wire.call("GET", "/api/v1/workspaces/default/list?glob=slow-*").ok().json()["items"]
            assert found == [], "half a body was kept"
            verify(wire)
        assert server.stop() == 0
    finally:
        for connection in slow:
            connection.close()
        server.remove()


def test_a_huge_json_body_is_refused_before_it_fills_the_memory(victim, wire):
    before = resident_mib(victim)

    def endless():
        yield b'{"changes": ['
        for _ in range(40):
            yield b'{"op": "put", "path": "x", "content": "' + b"x" * MIB + b'"},'

    answer = wire.call("POST", "/api/v1/workspaces/default/batch", endless())
    assert assert_civil(answer, "40 MiB of JSON") == 413
    assert resident_mib(victim) < before + 100
