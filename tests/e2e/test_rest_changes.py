"""mkdir, move, copy, batches, and the conditions that every write may carry."""

import base64
import threading

import pytest

from rest_client import Client

NEVER = "v_" + "0" * 31 + "1"


def test_mkdir_makes_folders_and_is_no_error_when_there(api, ws):
    assert ws.post("mkdir", 201, path="a/b")["entry"]["path"] == "a/b"
    assert ws.post("mkdir", 200, path="a/b")["unchanged"]
    assert ws.post("mkdir", 201, path="c", mode="0700")["entry"]["mode"] == "0700"
    ws.put("file", b"x")
    api.error("POST", f"{ws.root}/mkdir", 409, "conflict", json={"path": "file"})
    api.error("POST", f"{ws.root}/mkdir", 409, "conflict", json={"path": "file/below"})
    assert ws.paths() == ["a", "c", "file", "a/b"]


def test_a_move_keeps_id_versions_and_links(api, ws):
    ws.put("a.txt", b"one")
    made = ws.put("a.txt", b"two")
    moved = ws.post("move", 200, **{"from": "a.txt", "to": "d/b.txt"})
    assert moved["entry"]["id"] == made["entry"]["id"] and moved["entry"]["version_id"] == made["version"]["id"]
    assert ws.paths() == ["d", "d/b.txt"] and len(ws.versions("d/b.txt")) == 2
    assert api.get(made["entry"]["link"], 200).content == b"two"
    api.error("GET", ws.file("a.txt"), 404, "not_found")


def test_a_folder_moves_with_all_below_it(ws):
    ws.put("a/b/c.txt", b"x")
    ws.put("a/d.txt", b"y")
    ws.put("ab/e.txt", b"z")
    ws.post("move", 200, **{"from": "a", "to": "n/m"})
    assert ws.paths() == ["ab", "n", "ab/e.txt", "n/m", "n/m/b", "n/m/d.txt", "n/m/b/c.txt"]
    assert ws.read("n/m/b/c.txt") == b"x"


def test_a_move_that_cannot_be_is_refused(api, ws):
    ws.put("a/x", b"1")
    ws.put("b", b"2")
    for body, status, code in (
        ({"from": "missing", "to": "c"}, 404, "not_found"), ({"from": "a", "to": "a/below"}, 400, "bad_request"), ({"from": "a", "to": "b"}, 409, "conflict"),
        ({"from": "b", "to": "a"}, 409, "conflict"), ({"from": "b", "to": "a/x/y"}, 409, "conflict"), ({"from": "b"}, 400, "bad_request"),
        ({"from": "b", "to": "c", "on_existing": "merge"}, 400, "bad_request"), ({"from": "a/x", "to": "a", "on_existing": "replace"}, 409, "conflict"),
    ):
        api.error("POST", f"{ws.root}/move", status, code, json=body)
    assert ws.paths() == ["a", "b", "a/x"]


def test_an_existing_target_is_replaced_or_the_new_entry_is_renamed(api, ws):
    ws.put("a.txt", b"a")
    ws.put("b.txt", b"b")
    moved = ws.post("move", 200, **{"from": "a.txt", "to": "b.txt", "on_existing": "rename"})
    assert moved["entry"]["path"] == "b (2).txt"
    moved = ws.post("move", 200, **{"from": "b (2).txt", "to": "b.txt", "on_existing": "replace"})
    assert ws.read("b.txt") == b"a" and ws.paths() == ["b.txt"]
    trash = api.get(f"{ws.root}/trash", 200).json()["items"]
    assert [item["path"] for item in trash] == ["b.txt"]


def test_a_copy_is_a_new_file_that_costs_nothing(api, ws):
    made = ws.put("a.bin", b"x" * 100_000)
    before = api.get(ws.root).json()["used_bytes"]
    copied = ws.post("copy", 201, **{"from": "a.bin", "to": "b.bin"})
    assert copied["entry"]["id"] != made["entry"]["id"] and copied["version"]["number"] == 1
    assert copied["version"]["source"] == {"kind": "copy", "version_id": made["version"]["id"]}
    assert api.get(ws.root).json()["used_bytes"] == before and ws.read("b.bin") == b"x" * 100_000


def test_a_folder_is_copied_with_all_below_it(ws):
    ws.put("a/b/c.txt", b"x")
    ws.post("mkdir", 201, path="a/empty")
    ws.post("copy", 201, **{"from": "a", "to": "z"})
    assert ws.paths() == ["a", "z", "a/b", "a/empty", "a/b/c.txt", "z/b", "z/empty", "z/b/c.txt"]


def test_an_old_version_and_another_workspace_can_be_copied_from(api, ws, unique):
    first = ws.put("a.txt", b"one")["version"]["id"]
    ws.put("a.txt", b"two")
    ws.post("copy", 201, **{"from": "a.txt", "to": "old.txt", "from_version": first})
    assert ws.read("old.txt") == b"one"
    other = api.workspace(unique("other"))
    other.post("copy", 201, **{"from": "a.txt", "to": "got.txt", "from_workspace": ws.name})
    assert other.read("got.txt") == b"two"
    onto = ws.post("copy", 200, **{"from": "old.txt", "to": "a.txt", "on_existing": "replace"})
    assert onto["version"]["number"] == 3 and ws.read("a.txt") == b"one"
    api.error("POST", f"{ws.root}/copy", 409, "conflict", json={"from": "a.txt", "to": "old.txt"})
    api.error("POST", f"{ws.root}/copy", 404, "not_found", json={"from": "a.txt", "to": "n", "from_version": NEVER})
    api.error("POST", f"{ws.root}/copy", 404, "not_found", json={"from": "a.txt", "to": "n", "from_workspace": "nowhere"})
    api.error("POST", f"{ws.root}/copy", 400, "bad_request", json={"from": "a.txt", "to": "n", "from_version": "latest"})


def test_copying_can_break_a_quota_too(api, ws, unique):
    from rest_client import Workspace
    small = Workspace(api, api.post("/api/v1/workspaces", 201, json={"name": unique("small"), "quota_bytes": 10}).json())
    ws.put("a", b"x" * 100)
    api.error("POST", f"{small.root}/copy", 507, "quota_exceeded", json={"from": "a", "to": "a", "from_workspace": ws.id})
    assert small.paths() == []


# Conditions.


def each_write(ws, path):
    """Every way to write to an existing file: (name, function of headers)."""
    client = ws.client
    old = ws.versions(path)[-1]["id"]
    return [
        ("put", lambda **k: client.put(ws.file(path), data=b"new bytes", **k)),
        ("patch", lambda **k: client.patch(ws.file(path), json={"mode": "0600"}, **k)),
        ("restore-version", lambda **k: client.post(f"{ws.root}/restore-version", json={"version_id": old}, **k)),
        ("copy onto", lambda **k: client.post(f"{ws.root}/copy", json={"from": "source", "to": path, "on_existing": "replace"}, **k)),
        ("form", lambda **k: client.post(f"{ws.root}/files/", files={"f": (path, b"form bytes")}, **k)),
        ("blob", lambda **k: client.post(f"/blob?workspace={ws.id}&name={path}", data=b"blob bytes", **k)),
        ("move", lambda **k: client.post(f"{ws.root}/move", json={"from": path, "to": "moved"}, **k)),
        ("delete", lambda **k: client.delete(ws.file(path), **k)),
    ]


WRITES = ["put", "patch", "restore-version", "copy onto", "form", "blob", "move", "delete"]


@pytest.fixture
def target(ws):
    ws.put("source", b"source")
    ws.put("a.txt", b"one")
    ws.put("a.txt", b"two")
    return ws


@pytest.mark.parametrize("way", WRITES)
def test_every_write_honours_its_precondition(target, way):
    ws = target
    write = dict(each_write(ws, "a.txt"))[way]
    before = ws.entry("a.txt")
    stale = ws.versions("a.txt")[-1]["id"]
    failed = write(headers={"If-Match": f'"{stale}"'})
    assert failed.status_code == 412, failed.text
    error = failed.json()["error"]
    assert error["code"] == "precondition_failed" and error["current_version_id"] == before["version_id"]
    if way not in ("move", "delete"):
        assert write(headers={"If-None-Match": "*"}).status_code == 412
    assert ws.entry("a.txt") == before
    done = write(headers={"If-Match": f'"{NEVER}", "{before["version_id"]}"'})
    assert done.status_code in (200, 201), done.text


@pytest.mark.parametrize("way", WRITES)
def test_every_write_honours_locks_and_fences(target, unique, way):
    ws = target
    _, friend = ws.client.make_principal(unique("friend"))
    me = friend.get("/api/v1/me").json()["principal"]["id"]
    ws.client.put(f"{ws.root}/members/{me}", 200, json={"role": "write"})
    write = dict(each_write(ws.seen_by(friend), "a.txt"))[way]
    lock = ws.lock("a.txt", purpose="editing")
    before = ws.entry("a.txt")
    refused = write()
    assert refused.status_code == 423, refused.text
    error = refused.json()["error"]
    assert error["code"] == "locked" and error["holder"] == "admin" and error["purpose"] == "editing" and error["expires_at"] == lock["expires_at"]
    assert write(headers={"X-Sandkeep-Lock": "lt_wrong"}).status_code in (412, 423)
    assert ws.entry("a.txt") == before
    # The owner of the lock needs its token too: another program of the same person is another writer.
    assert dict(each_write(ws, "a.txt"))[way]().status_code == 423
    stale = write(headers={"X-Sandkeep-Lock": lock["token"], "X-Sandkeep-Fence": str(lock["fence"] - 1)})
    assert stale.status_code == 412, stale.text
    assert ws.entry("a.txt") == before
    done = write(headers={"X-Sandkeep-Lock": f"{lock['token']}", "X-Sandkeep-Fence": str(lock["fence"])})
    assert done.status_code in (200, 201), done.text


def test_conditions_can_stand_in_the_json_body(api, ws):
    ws.put("a.txt", b"one")
    head = ws.entry("a.txt")["version_id"]
    api.error("POST", f"{ws.root}/move", 412, "precondition_failed", json={"from": "a.txt", "to": "b", "if_match": [NEVER]})
    api.error("POST", f"{ws.root}/mkdir", 412, "precondition_failed", json={"path": "a.txt", "if_none_match": "*"})
    api.error("POST", f"{ws.root}/copy", 412, "precondition_failed", json={"from": "a.txt", "to": "new", "if_match": ["*"]})
    lock = ws.lock("a.txt")
    api.error("POST", f"{ws.root}/move", 423, "locked", json={"from": "a.txt", "to": "b", "if_match": [head]})
    ws.post("move", 200, **{"from": "a.txt", "to": "b", "if_match": [head], "lock_tokens": [lock["token"]], "fence": lock["fence"]})


@pytest.mark.parametrize("headers", [
    {"If-Match": ""}, {"If-Unmodified-Since": "yesterday"}, {"If-None-Match": '"v_1"'}, {"X-Sandkeep-Fence": "first"}, {"X-Sandkeep-Fence": "-1"},
    {"If-Match": '"' + NEVER},
])
def test_conditions_that_cannot_be_read_are_400(api, ws, headers):
    api.error("PUT", ws.file("a.txt"), 400, "bad_request", data=b"x", headers=headers)
    assert ws.paths() == []


@pytest.mark.parametrize("body", [{"if_match": "v"}, {"if_match": []}, {"if_match": ["x"]}, {"if_none_match": "v"}, {"lock_tokens": "t"}, {"fence": "1"}, {"fence": -1}])
def test_conditions_in_json_that_cannot_be_read_are_400(api, ws, body):
    api.error("POST", f"{ws.root}/mkdir", 400, "bad_request", json={"path": "a", **body})


def test_two_writers_with_preconditions_lose_no_update(server, ws):
    """Each counts up a number that it read; a lost update would be missing at the end."""
    ws.put("count", b"0")
    rounds = 40

    def count(client):
        mine = ws.seen_by(client)
        done = 0
        while done < rounds:
            answer = client.get(mine.file("count"), 200, headers={"Accept-Encoding": "identity"})
            number = int(answer.content) + 1
            done += client.put(mine.file("count"), data=str(number), headers={"If-Match": answer.headers["ETag"]}).status_code == 200

    threads = [threading.Thread(target=count, args=(Client(server),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ws.read("count") == str(4 * rounds).encode()
    assert ws.entry("count")["version_count"] == 4 * rounds + 1


# Batches.


def test_a_batch_applies_every_kind_of_change_in_order(ws):
    old = ws.put("keep.txt", b"old")["version"]["id"]
    ws.put("keep.txt", b"new")
    made = ws.post("batch", 200, changes=[
        {"op": "put", "path": "text.txt", "content": "täxt", "mime": "text/x-own", "mode": "0600", "mtime": "2020-01-01T00:00:00Z"},
        {"op": "put", "path": "bytes.bin", "content_base64": base64.b64encode(b"\0\1\2").decode()},
        {"op": "mkdir", "path": "folder"},
        {"op": "move", "from": "text.txt", "to": "folder/text.txt"},
        {"op": "copy", "from": "folder/text.txt", "to": "folder/copy.txt"},
        {"op": "trash", "path": "bytes.bin"},
        {"op": "restore_version", "version_id": old},
        {"op": "set", "path": "folder/copy.txt", "mode": "0640"},
    ])
    assert len(made["items"]) == 8
    assert ws.paths() == ["folder", "keep.txt", "folder/copy.txt", "folder/text.txt"]
    assert ws.read("keep.txt") == b"old" and ws.read("folder/text.txt") == "täxt".encode()
    copy = ws.entry("folder/copy.txt")
    assert copy["mode"] == "0640" and copy["mime"] == "text/x-own" and copy["mtime"].startswith("2020-01-01")


@pytest.mark.parametrize("last, status, code", [
    ({"op": "trash", "path": "missing"}, 404, "not_found"),
    ({"op": "put", "path": "a", "content": "x", "if_none_match": "*"}, 412, "precondition_failed"),
    ({"op": "put", "path": "locked", "content": "x"}, 423, "locked"),
    ({"op": "move", "from": "a", "to": "locked"}, 423, "locked"),
    ({"op": "put", "path": "../up", "content": "x"}, 400, "bad_request"),
    ({"op": "put", "path": "b"}, 400, "bad_request"),
    ({"op": "put", "path": "b", "content": "x", "content_base64": "eA=="}, 400, "bad_request"),
    ({"op": "put", "path": "b", "content_base64": "?"}, 400, "bad_request"),
    ({"op": "put", "path": "b", "content": "x", "mime": "a\r\nb"}, 400, "bad_request"),
    ({"op": "put", "path": "b", "content": "x", "colour": "red"}, 400, "bad_request"),
    ({"op": "delete", "path": "b"}, 400, "bad_request"),
    ({"path": "b"}, 400, "bad_request"),
    ({"op": "set", "path": "a"}, 400, "bad_request"),
    ({"op": "restore_version", "version_id": NEVER}, 404, "not_found"),
])
def test_a_batch_with_one_change_that_fails_changes_nothing(api, ws, last, status, code):
    ws.put("a", b"before")
    ws.lock("locked")
    before = ws.events(limit=1000)["cursor"]
    error = api.error("POST", f"{ws.root}/batch", status, code, json={"changes": [
        {"op": "put", "path": "a", "content": "after"}, {"op": "mkdir", "path": "folder"}, last]})
    assert ws.paths() == ["a"] and ws.read("a") == b"before" and ws.events(limit=1000)["cursor"] == before
    if status == 400 and "field" in error:
        assert error["field"].startswith("changes[2].")
    elif status != 400:
        assert error["change"] == 2


def test_a_batch_may_be_empty_but_must_be_a_list_of_objects(api, ws):
    assert ws.post("batch", 200, changes=[])["items"] == []
    for body in ({}, {"changes": {}}, {"changes": [1]}, {"changes": "x"}):
        api.error("POST", f"{ws.root}/batch", 400, "bad_request", json=body)


def test_a_batch_over_the_limit_is_413(make_server):
    api = Client(make_server("--batch-operations-max", "5"))
    ws = api.workspace("w")
    api.error("POST", f"{ws.root}/batch", 413, "too_large", json={"changes": [{"op": "mkdir", "path": f"d{n}"} for n in range(6)]})
    assert ws.paths() == []
    assert len(ws.post("batch", 200, changes=[{"op": "mkdir", "path": f"d{n}"} for n in range(5)])["items"]) == 5
