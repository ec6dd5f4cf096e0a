"""Keys: who gets in, and how far."""

import datetime
import time

import pytest
import requests

from rest_client import Client
from sandkeep_server import ROOT_KEY


def later(**delta):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(**delta)).isoformat().replace("+00:00", "Z")


def test_a_key_is_taken_as_bearer_as_header_and_as_basic_password(server):
    me = server.url + "/api/v1/me"
    for options in ({"headers": {"Authorization": f"Bearer {ROOT_KEY}"}}, {"headers": {"authorization": f"bearer {ROOT_KEY}"}},
                    {"headers": {"X-API-Key": ROOT_KEY}}, {"auth": ("anybody", ROOT_KEY)}, {"auth": (ROOT_KEY, "")}):
        answer = requests.get(me, timeout=30, **options)
        assert answer.status_code == 200 and answer.json()["principal"]["name"] == "admin", options


@pytest.mark.parametrize("headers", [
    {}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer"}, {"Authorization": ""}, {"Authorization": "Digest x"},
    {"Authorization": "Basic !!!"}, {"Authorization": "Basic eHh4"}, {"X-API-Key": "wrong"}, {"X-API-Key": ""},
    {"Cookie": "sandkeep_session=made-up"},
])
def test_without_a_valid_key_it_is_401(server, headers):
    nobody = Client(server, None)
    for method, path in (("GET", "/api/v1/me"), ("GET", "/api/v1/workspaces"), ("PUT", "/api/v1/workspaces/default/files/x"),
                         ("POST", "/blob"), ("POST", "/api/v1/gc"), ("GET", "/api/v1/workspaces/default/events")):
        nobody.error(method, path, 401, "unauthorized", headers=headers)


def test_a_new_key_works_at_once_and_its_secret_is_shown_once(api):
    made = api.post("/api/v1/keys", 201, json={"name": "mine"}).json()
    assert Client(api.server, made["secret"]).get("/api/v1/me", 200).json()["key"]["id"] == made["key"]["id"]
    listed = api.get("/api/v1/keys", 200)
    assert made["key"]["id"] in listed.text and made["secret"] not in listed.text


def test_a_revoked_key_opens_nothing_at_once(api):
    key_id, client = api.make_key()
    client.get("/api/v1/me", 200)
    api.delete(f"/api/v1/keys/{key_id}", 204)
    assert "revoked" in client.error("GET", "/api/v1/me", 401, "unauthorized")["message"]
    listed = {key["id"]: key for key in api.get("/api/v1/keys").json()["items"]}
    assert listed[key_id]["revoked_at"]
    api.delete(f"/api/v1/keys/{key_id}", 204)


def test_an_expired_key_opens_nothing(api):
    _, client = api.make_key(expires_in_s=1)
    client.get("/api/v1/me", 200)
    deadline = time.monotonic() + 30
    while client.get("/api/v1/me").status_code == 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert "expired" in client.error("GET", "/api/v1/me", 401, "unauthorized")["message"]


def test_a_key_may_end_at_a_time(api):
    made = api.post("/api/v1/keys", 201, json={"name": "x", "expires_at": later(hours=1)}).json()
    assert made["key"]["expires_at"] > made["key"]["created_at"]


@pytest.mark.parametrize("wanted", [
    {}, {"name": ""}, {"name": "x" * 200}, {"name": "x", "expires_at": "yesterday"}, {"name": "x", "expires_at": later(hours=-1)},
    {"name": "x", "expires_in_s": 0}, {"name": "x", "expires_in_s": 10**15}, {"name": "x", "expires_in_s": 5, "expires_at": later(hours=1)},
    {"name": "x", "principal_id": "me"}, {"name": "x", "read_only": "yes"}, {"name": "x", "scopes": []},
])
def test_a_key_that_cannot_be_made_is_400(api, wanted):
    api.error("POST", "/api/v1/keys", 400, "bad_request", json=wanted)


def test_a_read_only_key_reads_everything_and_writes_nothing(api, ws):
    ws.put("a.txt", b"hello")
    version = ws.entry("a.txt")["version_id"]
    _, reader = api.make_key(read_only=True)
    seen = ws.seen_by(reader)
    assert seen.read("a.txt") == b"hello" and seen.paths() == ["a.txt"] and seen.versions("a.txt")
    seen.events()
    reader.get(f"{ws.root}/audit", 200)
    token = ws.lock("b.txt")["token"]
    writes = [
        ("PUT", ws.file("b.txt"), {"data": b"x"}), ("DELETE", ws.file("a.txt"), {}), ("PATCH", ws.file("a.txt"), {"json": {"mode": "0600"}}),
        ("POST", ws.file("up"), {"files": {"f": ("n", b"x")}}), ("POST", f"{ws.root}/mkdir", {"json": {"path": "d"}}),
        ("POST", f"{ws.root}/move", {"json": {"from": "a.txt", "to": "b.txt"}}), ("POST", f"{ws.root}/copy", {"json": {"from": "a.txt", "to": "b.txt"}}),
        ("POST", f"{ws.root}/restore-version", {"json": {"version_id": version}}),
        ("POST", f"{ws.root}/restore-as-of", {"json": {"time": later(seconds=-1)}}), ("POST", f"{ws.root}/batch", {"json": {"changes": []}}),
        ("POST", f"{ws.root}/locks", {"json": {"path": "x"}}), ("POST", f"{ws.root}/locks/renew", {"json": {"token": token}}),
        ("POST", f"{ws.root}/locks/release", {"json": {"token": token}}), ("DELETE", f"{ws.root}/trash", {}), ("DELETE", ws.root, {}),
        ("PATCH", ws.root, {"json": {"name": "other"}}), ("PATCH", ws.root, {"json": {"quota_bytes": 5}}), ("POST", f"{ws.root}/revoke-links", {}),
        ("DELETE", f"{ws.root}/version/{version}", {}), ("POST", f"/blob?workspace={ws.id}", {"data": b"x"}),
        ("POST", "/api/v1/workspaces", {"json": {"name": "new"}}), ("POST", "/api/v1/keys", {"json": {"name": "new"}}),
        ("POST", "/api/v1/principals", {"json": {"name": "new"}}), ("POST", "/api/v1/gc", {}),
    ]
    before = ws.events(limit=1000)["cursor"]
    for method, path, options in writes:
        reader.error(method, path, 403, "forbidden", **options)
    assert ws.events(limit=1000)["cursor"] == before
    assert ws.paths() == ["a.txt"]


def test_a_key_of_one_workspace_does_not_see_others(api, ws, unique):
    other = api.workspace(unique("other"))
    other.put("secret.txt", b"x")
    _, scoped = api.make_key(workspace=ws.name)
    ws.seen_by(scoped).put("a.txt", b"x")
    assert [item["id"] for item in scoped.get("/api/v1/workspaces", 200).json()["items"]] == [ws.id]
    for path in (other.root, other.file("secret.txt"), f"/api/v1/workspaces/{other.name}"):
        scoped.error("GET", path, 404, "not_found")
    scoped.error("POST", "/api/v1/workspaces", 403, "forbidden", json={"name": unique("new")})
    scoped.error("GET", "/api/v1/principals", 403, "forbidden")
    scoped.error("GET", "/api/v1/events", 403, "forbidden")
    scoped.error("POST", "/api/v1/verify", 403, "forbidden")
    assert scoped.post("/blob?name=b.txt", 201, data=b"x").json()["path"] == "b.txt"
    assert ws.paths() == ["a.txt", "b.txt"]


def test_a_key_makes_no_key_with_more_rights_than_its_own(api, ws, unique):
    _, scoped = api.make_key(workspace=ws.id)
    scoped.error("POST", "/api/v1/keys", 403, "forbidden", json={"name": "wider"})
    scoped.post("/api/v1/keys", 201, json={"name": "same", "workspace": ws.id})
    other = api.workspace(unique("other"))
    scoped.error("POST", "/api/v1/keys", 404, "not_found", json={"name": "elsewhere", "workspace": other.id})


def test_a_key_that_expires_makes_none_that_outlives_it(api, unique):
    made = api.post("/api/v1/keys", 201, json={"name": "short", "expires_in_s": 600}).json()
    short, ends = Client(api.server, made["secret"]), made["key"]["expires_at"]
    assert short.get("/api/v1/me", 200).json()["key"]["expires_at"] == ends
    assert api.get("/api/v1/me", 200).json()["key"]["expires_at"] is None
    # Without a time of its own the new key ends with the one that made it, also in the second generation.
    same = short.post("/api/v1/keys", 201, json={"name": "same"}).json()
    assert same["key"]["expires_at"] == ends
    assert Client(api.server, same["secret"]).post("/api/v1/keys", 201, json={"name": "again"}).json()["key"]["expires_at"] == ends
    assert short.post("/api/v1/keys", 201, json={"name": "shorter", "expires_in_s": 60}).json()["key"]["expires_at"] < ends
    somebody, _ = api.make_principal(unique("somebody"))
    for wanted in ({"expires_in_s": 6000}, {"expires_at": later(days=1)}, {"principal_id": somebody, "expires_in_s": 6000}):
        short.error("POST", "/api/v1/keys", 403, "forbidden", json={"name": "longer", **wanted})
    assert short.post("/api/v1/keys", 201, json={"name": "theirs", "principal_id": somebody}).json()["key"]["expires_at"] == ends


def test_a_page_sign_in_ends_with_the_key(api, server):
    _, client = api.make_key(expires_in_s=1)
    browser = requests.Session()
    browser.trust_env = False
    browser.post(server.url + "/login", data={"key": client.key}, timeout=30)
    assert "Sign out" in browser.get(server.url + "/", timeout=30).text
    deadline = time.monotonic() + 30
    while "Sign out" in browser.get(server.url + "/", timeout=30).text:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_key_for_somebody_else_opens_one_of_their_workspaces(api, ws, unique):
    ada, hers = api.make_principal(unique("ada"))
    home = hers.get("/api/v1/workspaces/default", 200).json()
    for name in ("default", home["id"]):
        made = api.post("/api/v1/keys", 201, json={"name": "x", "principal_id": ada, "workspace": name}).json()
        assert made["key"]["workspace_id"] == home["id"]
        scoped = Client(api.server, made["secret"])
        assert [item["id"] for item in scoped.get("/api/v1/workspaces", 200).json()["items"]] == [home["id"]]
    # Not one of the administrator's own, until she is let in.
    api.error("POST", "/api/v1/keys", 404, "not_found", json={"name": "x", "principal_id": ada, "workspace": ws.id})
    api.put(f"{ws.root}/members/{ada}", 200, json={"role": "read"})
    made = api.post("/api/v1/keys", 201, json={"name": "x", "principal_id": ada, "workspace": ws.name}).json()
    assert Client(api.server, made["secret"]).get(ws.root, 200).json()["role"] == "read"
    me = api.get("/api/v1/me").json()["principal"]["id"]
    hers.error("POST", "/api/v1/keys", 403, "forbidden", json={"name": "x", "principal_id": me, "workspace": "default"})


def test_what_belongs_to_somebody_else_is_404(api, ws, unique):
    ws.put("a.txt", b"secret")
    version = ws.entry("a.txt")["version_id"]
    _, stranger = api.make_principal(unique("stranger"))
    for method, path, options in (
        ("GET", ws.root, {}), ("GET", ws.file("a.txt"), {}), ("HEAD", ws.file("a.txt"), {}), ("PUT", ws.file("b.txt"), {"data": b"x"}),
        ("DELETE", ws.file("a.txt"), {}), ("GET", f"{ws.root}/list", {}), ("GET", f"{ws.root}/entries/a.txt", {}),
        ("GET", f"{ws.root}/versions/a.txt", {}), ("GET", f"{ws.root}/version/{version}", {}), ("GET", f"{ws.root}/trash", {}),
        ("GET", f"{ws.root}/locks", {}), ("POST", f"{ws.root}/locks", {"json": {"path": "x"}}), ("GET", f"{ws.root}/events", {}),
        ("GET", f"{ws.root}/audit", {}), ("POST", f"{ws.root}/batch", {"json": {"changes": []}}), ("DELETE", ws.root, {}),
        ("POST", f"{ws.root}/restore", {}), ("POST", f"/blob?workspace={ws.id}", {"data": b"x"}), ("GET", f"/k/{version}/a.txt", {}),
        ("POST", "/api/v1/workspaces/default/copy", {"json": {"from": "a.txt", "to": "b.txt", "from_workspace": ws.id}}),
    ):
        if method == "HEAD":
            stranger.head(path, 404)
        else:
            stranger.error(method, path, 404, "not_found", **options)
    assert stranger.get("/api/v1/workspaces", 200).json()["items"][0]["name"] == "default"
    assert ws.paths() == ["a.txt"]


def test_only_administrators_manage_principals_and_the_server(api, unique):
    name = unique("agent")
    principal, client = api.make_principal(name)
    assert principal in api.get("/api/v1/principals", 200).text
    api.error("POST", "/api/v1/principals", 409, "conflict", json={"name": name})
    api.error("POST", "/api/v1/principals", 400, "bad_request", json={"name": "x", "kind": "robot"})
    for method, path, options in (("GET", "/api/v1/principals", {}), ("POST", "/api/v1/principals", {"json": {"name": "x"}}), ("GET", "/api/v1/events", {}),
                                  ("GET", "/api/v1/audit", {}), ("POST", "/api/v1/gc", {}), ("POST", "/api/v1/verify", {})):
        client.error(method, path, 403, "forbidden", **options)
    admin = api.get("/api/v1/me").json()["principal"]["id"]
    client.error("POST", "/api/v1/keys", 403, "forbidden", json={"name": "x", "principal_id": admin})


def test_nobody_sees_or_revokes_the_keys_of_others(api, unique):
    key_id, _ = api.make_key()
    _, stranger = api.make_principal(unique("stranger"))
    assert key_id not in stranger.get("/api/v1/keys", 200).text
    stranger.error("DELETE", f"/api/v1/keys/{key_id}", 404, "not_found")
    api.error("DELETE", "/api/v1/keys/nonsense", 400, "bad_request")
    api.error("DELETE", "/api/v1/keys/key_" + "0" * 31 + "1", 404, "not_found")


def test_refused_attempts_and_reads_are_in_the_access_log(api, ws, server):
    ws.put("watched.txt", b"x")
    ws.read("watched.txt")
    Client(server, None).get(ws.file("watched.txt"), 401)
    folder = server.data / "access"
    deadline = time.monotonic() + 60
    while True:
        text = "".join(path.read_text() for path in folder.glob("*")) if folder.exists() else ""
        if "watched.txt" in text and "unauthorized" in text:
            break
        assert time.monotonic() < deadline, text[-2000:]
        time.sleep(0.2)
    assert ROOT_KEY not in text
