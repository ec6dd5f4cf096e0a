"""What the server says of itself, and what every answer has."""

import gzip
import re
import socket

import pytest
import requests

from rest_client import Client


def test_the_root_of_the_api_tells_version_limits_and_where_to_read_on(server):
    described = Client(server, None).get("/api/v1", 200).json()
    assert described["name"] == "sandkeep"
    assert re.match(r"\d+\.\d+\.\d+$", described["version"])
    assert described["limits"]["list_page_max"] == 1000
    for link in described["links"].values():
        assert requests.get(link, timeout=30).status_code == 200


def test_health_readiness_and_metrics_need_no_key(server):
    nobody = Client(server, None)
    assert nobody.get("/healthz", 200).json() == {"status": "ok"}
    assert nobody.get("/readyz", 200).json() == {"status": "ok"}
    metrics = nobody.get("/metrics", 200)
    assert metrics.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    for line in metrics.text.splitlines():
        assert re.match(r"(# (HELP|TYPE) \S+ .+|[a-z_]+(\{.*\})? -?[0-9.e+naif-]+)$", line), line
    # Counted under the route's pattern, so that paths of files do not become labels.
    assert "/api/v1" in metrics.text and "sandkeep-e2e" not in metrics.text


def test_metrics_tell_no_names(api, server, unique):
    principal, somebody = api.make_principal(unique("confidential-person"))
    ws = api.workspace(unique("confidential-workspace"))
    link = ws.put("confidential-file.txt", b"x")["entry"]["link"]
    api.get(link, 200)
    somebody.get(f"/api/v1/workspaces/{ws.name}", 404)
    requests.get(f"{server.url}/confidential-path", timeout=30)
    metrics = requests.get(server.url + "/metrics", timeout=30).text
    for name in ("confidential", principal, ws.id, somebody.key, link.split("/")[-2]):
        assert name not in metrics, name


def test_every_answer_has_a_request_id_and_takes_a_harmless_one_of_the_clients(server):
    nobody = Client(server, None)
    first, second = (nobody.get("/healthz").headers["X-Request-Id"] for _ in range(2))
    assert first and second and first != second
    assert nobody.get("/healthz", headers={"X-Request-Id": "my-id-1"}).headers["X-Request-Id"] == "my-id-1"
    strange = nobody.get("/healthz", headers={"X-Request-Id": "a b<script>"}).headers["X-Request-Id"]
    assert strange != "a b<script>"


def test_json_and_text_are_compressed_for_who_takes_it(server, api, ws):
    ws.put("long.txt", b"sandkeep " * 5000)
    raw = requests.get(f"{server.url}/api/v1/openapi.json", headers={"Accept-Encoding": "gzip"}, stream=True, timeout=30)
    assert raw.headers["Content-Encoding"] == "gzip"
    assert b'"openapi"' in gzip.decompress(raw.raw.read())
    plain = requests.get(f"{server.url}/api/v1/openapi.json", headers={"Accept-Encoding": "identity"}, timeout=30)
    assert "Content-Encoding" not in plain.headers and plain.json()["openapi"] == "3.1.0"
    assert ws.read("long.txt") == b"sandkeep " * 5000


def test_an_etag_that_came_with_a_compressed_answer_still_names_the_version(api, ws):
    ws.put("long.txt", b"sandkeep " * 5000)
    tag = api.get(ws.file("long.txt"), 200, headers={"Accept-Encoding": "gzip"}).headers["ETag"]
    api.get(ws.file("long.txt"), 304, headers={"If-None-Match": tag})
    api.put(ws.file("long.txt"), 200, data=b"short", headers={"If-Match": tag})


def test_unknown_addresses_and_methods_are_errors_in_the_one_shape(server, api):
    for path in ("/api/v1/nothing", "/nothing/at/all"):
        assert "/api/v1/openapi.json" in api.error("GET", path, 404, "not_found")["hint"]
    error = api.send("DELETE", "/api/v1/me", 405)
    assert error.json()["error"]["code"] == "method_not_allowed"
    assert "GET" in error.headers["Allow"]


@pytest.mark.parametrize("path, params", [
    ("/api/v1/me", {"x": "1"}),
    ("/api/v1/workspaces", {"trash": "true"}),
    ("/api/v1/workspaces/default/list", {"folders": "a"}),
    ("/api/v1/workspaces/default/events", {"since": "1"}),
])
def test_an_unknown_query_parameter_is_named(api, path, params):
    error = api.error("GET", path, 400, "bad_request", params=params)
    assert next(iter(params)) in error["message"]


def test_the_nearest_known_parameter_is_offered(api):
    error = api.error("GET", "/api/v1/workspaces/default/list", 400, "bad_request", params={"recursiv": "true"})
    assert "'recursive'" in error["message"]


def test_a_query_parameter_given_twice_or_of_the_wrong_type_is_named(api):
    assert "twice" in api.error("GET", "/api/v1/workspaces/default/list?limit=1&limit=2", 400, "bad_request")["message"]
    for query in ("limit=many", "limit=-1", "limit=0", "limit=1001", "limit=99999999999999999999999", "recursive=maybe", "cursor=!"):
        api.error("GET", "/api/v1/workspaces/default/list?" + query, 400, "bad_request")


@pytest.mark.parametrize("body, mentions", [
    (b"{", "JSON"),
    (b"[]", "object"),
    (b'{"name": 1}', "name"),
    (b'{"name": "x", "colour": "red"}', "colour"),
    (b'{}', "name"),
    (b'{"name": "x", "quota_bytes": "1"}', "quota_bytes"),
    (b'{"name": "x", "quota_bytes": 1.5}', "quota_bytes"),
    (b'{"name": "x", "quota_bytes": -1}', "quota_bytes"),
    (b'{"name": "x", "quota_bytes": 18446744073709551615}', "quota_bytes"),
    (b'{"name": "\xff"}', "JSON"),
    (b"[" * 100 + b"]" * 100, "64"),
])
def test_a_wrong_json_body_is_refused_with_what_is_wrong(api, body, mentions):
    error = api.error("POST", "/api/v1/workspaces", 400, "bad_request", data=body, headers={"Content-Type": "application/json"})
    assert mentions in error["message"]


def test_a_json_body_over_the_limit_is_413(api):
    api.error("POST", "/api/v1/workspaces", 413, "too_large", data=b'{"name": "' + b"x" * (5 << 20) + b'"}')


def test_a_form_where_json_belongs_is_415(api):
    api.error("POST", "/api/v1/workspaces", 415, "unsupported_media_type", files={"file": b"x"})


def test_head_answers_like_get_without_the_body(api, ws):
    ws.put("a.txt", b"hello")
    got = api.get(ws.file("a.txt"), 200, headers={"Accept-Encoding": "identity"})
    head = api.head(ws.file("a.txt"), 200, headers={"Accept-Encoding": "identity"})
    for name in ("Content-Length", "Content-Type", "ETag", "Last-Modified", "Accept-Ranges", "Content-Disposition"):
        assert head.headers[name] == got.headers[name]
    api.head(ws.root, 200)
    api.head(ws.file("missing"), 404)


def test_only_configured_origins_may_call_from_a_browser(make_server, server):
    origin = "https://chat.example"
    open_server = make_server("--cors-origins", origin)
    for one, allowed in ((open_server, True), (server, False)):
        asked = requests.options(one.url + "/api/v1/me", timeout=30, headers={
            "Origin": origin, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"})
        assert (asked.headers.get("Access-Control-Allow-Origin") == origin) == allowed
        got = Client(one).get("/api/v1/me", 200, headers={"Origin": origin})
        assert (got.headers.get("Access-Control-Allow-Origin") == origin) == allowed
        other = Client(one).get("/api/v1/me", 200, headers={"Origin": "https://evil.example"})
        assert "Access-Control-Allow-Origin" not in other.headers


def test_links_start_with_the_public_address_when_one_is_set(make_server):
    one = make_server("--public-url", "https://files.example/")
    made = Client(one).workspace("w").put("a.txt", b"x")
    assert made["entry"]["link"].startswith("https://files.example/k/v_")


def test_without_one_links_follow_the_request(server, api, ws):
    link = ws.put("a.txt", b"x")["entry"]["link"]
    assert link.startswith(server.url + "/k/v_")


@pytest.mark.parametrize("raw", [
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET /api/v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /api/v1/workspaces/default/files/a%00b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer root-key-of-the-end-to-end-tests\r\n\r\n",
])
def test_malformed_requests_are_400(server, raw):
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(raw)
        assert connection.recv(4096).startswith(b"HTTP/1.1 400")


def test_a_request_that_is_not_http_is_disconnected(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        answer = connection.recv(4096)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400")


def test_the_document_is_valid_and_names_every_parameter_of_its_paths(server):
    document = Client(server, None).get("/api/v1/openapi.json", 200).json()
    seen = set()
    for template, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["operationId"] not in seen
            seen.add(operation["operationId"])
            assert operation["summary"] and operation["responses"]
            named = {p["name"] for p in operation.get("parameters", []) if p["in"] == "path"}
            assert named == set(re.findall(r"\{(\w+)\}", template)), (method, template)
    references = set(re.findall(r'"\$ref": ?"#/components/schemas/(\w+)"', requests.get(f"{server.url}/api/v1/openapi.json", timeout=30).text))
    assert references <= set(document["components"]["schemas"])
