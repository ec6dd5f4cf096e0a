"""The trash: deleting is not losing, until somebody purges."""

import pytest

from rest_client import Client


def test_what_is_deleted_lies_in_the_trash_and_comes_back(api, ws):
    made = ws.put("a.txt", b"one")
    deleted = api.delete(ws.file("a.txt"), 200).json()
    assert deleted["id"] == made["entry"]["id"] and ws.paths() == []
    assert api.get(made["entry"]["link"], 200).content == b"one"
    trash = api.get(f"{ws.root}/trash", 200).json()["items"]
    assert [item["path"] for item in trash] == ["a.txt"] and trash[0]["trashed_at"]
    restored = api.post(f"{ws.root}/trash/{deleted['id']}/restore", 200).json()
    assert restored["path"] == "a.txt" and "trashed_at" not in restored and ws.read("a.txt") == b"one"
    assert api.get(f"{ws.root}/trash", 200).json()["items"] == []
    api.error("POST", f"{ws.root}/trash/{deleted['id']}/restore", 404, "not_found")


def test_a_folder_is_one_thing_in_the_trash(api, ws):
    ws.put("d/a.txt", b"1")
    ws.put("d/e/b.txt", b"2")
    folder = api.delete(ws.file("d"), 200).json()
    assert [item["path"] for item in api.get(f"{ws.root}/trash").json()["items"]] == ["d"]
    assert ws.paths() == []
    api.post(f"{ws.root}/trash/{folder['id']}/restore", 200)
    assert ws.paths() == ["d", "d/a.txt", "d/e", "d/e/b.txt"]


def test_restoring_where_something_is(api, ws):
    ws.put("a.txt", b"old")
    old = api.delete(ws.file("a.txt"), 200).json()["id"]
    ws.put("a.txt", b"new")
    at = f"{ws.root}/trash/{old}/restore"
    api.error("POST", at, 409, "conflict")
    api.error("POST", at, 400, "bad_request", json={"on_existing": "merge"})
    api.error("POST", at, 400, "bad_request", json={"to": "../x"})
    assert api.post(at, 200, json={"on_existing": "rename"}).json()["path"] == "a (2).txt"
    api.delete(ws.file("a (2).txt"), 200)
    assert api.post(at, 200, json={"to": "b/c.txt"}).json()["path"] == "b/c.txt"
    api.delete(ws.file("b/c.txt"), 200)
    assert api.post(at, 200, json={"to": "a.txt", "on_existing": "replace"}).json()["path"] == "a.txt"
    assert ws.read("a.txt") == b"old"


def test_restoring_into_a_locked_folder_needs_the_lock(api, ws):
    ws.put("d/a.txt", b"x")
    gone = api.delete(ws.file("d/a.txt"), 200).json()["id"]
    ws.lock("d")
    api.error("POST", f"{ws.root}/trash/{gone}/restore", 423, "locked")


def test_a_purge_says_what_it_breaks_and_links_then_say_when(api, ws, server):
    first = ws.put("d/a.txt", b"1" * 140_000)["version"]
    second = ws.put("d/a.txt", b"2" * 140_000)["version"]
    kept = ws.put("kept.txt", b"1" * 140_000)
    folder = api.delete(ws.file("d"), 200).json()["id"]
    purged = api.delete(f"{ws.root}/trash/{folder}", 200).json()
    assert purged["files"] == 2 and purged["versions"] == 2 and purged["freed_bytes"] == 140_000
    assert {broken["link"] for broken in purged["broken_links"]} == {first["link"], second["link"]}
    for version in (first, second):
        assert api.error("GET", version["link"], 410, "gone")["purged_at"]
        Client(server, None).error("GET", version["link"], 410, "gone")
        api.error("GET", f"{ws.root}/version/{version['id']}", 410, "gone")
    api.error("DELETE", f"{ws.root}/trash/{folder}", 404, "not_found")
    # Content that another file has stays, also after the collector has been.
    api.post("/api/v1/gc", 200)
    assert ws.read("kept.txt") == b"1" * 140_000 and api.get(kept["entry"]["link"], 200).content == b"1" * 140_000


def test_only_what_is_in_the_trash_can_be_purged(api, ws):
    made = ws.put("a.txt", b"x")
    api.error("DELETE", f"{ws.root}/trash/{made['entry']['id']}", 404, "not_found")
    api.error("DELETE", f"{ws.root}/trash/everything", 400, "bad_request")
    assert ws.read("a.txt") == b"x"


def test_emptying_purges_all(api, ws):
    for name in ("a", "b", "c"):
        ws.put(name, name.encode() * 100)
        api.delete(ws.file(name), 200)
    ws.put("kept", b"x")
    emptied = api.delete(f"{ws.root}/trash", 200).json()
    assert emptied["files"] == 3 and emptied["freed_bytes"] == 300 and len(emptied["broken_links"]) == 3
    assert api.get(f"{ws.root}/trash", 200).json()["items"] == [] and ws.paths() == ["kept"]
    assert api.delete(f"{ws.root}/trash", 200).json() == {"files": 0, "versions": 0, "freed_bytes": 0, "broken_links": []}
    assert api.get(ws.root).json()["used_bytes"] == 1


def test_the_trash_is_paged_newest_first(api, ws):
    names = [f"f{n:02}" for n in range(7)]
    for name in names:
        ws.put(name, b"x")
        api.delete(ws.file(name), 200)
    found, cursor = [], None
    while True:
        page = api.get(f"{ws.root}/trash", 200, params={"limit": 3, **({"cursor": cursor} if cursor else {})}).json()
        found += [item["path"] for item in page["items"]]
        if not page["has_more"]:
            break
        cursor = page["next_cursor"]
    assert found == names[::-1]
    for bad in ("x", "1-2", "-"):
        api.error("GET", f"{ws.root}/trash", 400, "bad_request", params={"cursor": bad})


@pytest.mark.parametrize("times", [3])
def test_one_path_can_lie_in_the_trash_several_times(api, ws, times):
    ids = []
    for number in range(times):
        ws.put("a.txt", str(number))
        ids.append(api.delete(ws.file("a.txt"), 200).json()["id"])
    assert len(set(ids)) == times
    api.post(f"{ws.root}/trash/{ids[0]}/restore", 200)
    assert ws.read("a.txt") == b"0"
