"""History: nothing is overwritten, everything can come back."""

import datetime
import os
import time

import pytest
import requests

NEVER = "v_" + "0" * 31 + "1"


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")


def test_versions_are_listed_newest_first_with_their_origin(api, ws):
    for text in (b"one", b"two", b"three"):
        ws.put("a.txt", text)
    versions = ws.versions("a.txt")
    assert [version["number"] for version in versions] == [3, 2, 1]
    assert [version["is_head"] for version in versions] == [True, False, False]
    assert [version["base_id"] for version in versions] == [versions[1]["id"], versions[2]["id"], None]
    assert versions[0]["author"]["name"] == "admin" and versions[0]["source"] == {"kind": "upload"} and versions[0]["complete"]
    assert [api.get(version["link"], 200).content for version in versions] == [b"three", b"two", b"one"]


def test_pages_of_versions_are_complete(api, ws):
    for number in range(25):
        ws.put("a.txt", str(number))
    found, cursor = [], None
    while True:
        page = api.get(f"{ws.root}/versions/a.txt", 200, params={"limit": 10, **({"cursor": cursor} if cursor else {})}).json()
        found += [version["number"] for version in page["items"]]
        if not page["has_more"]:
            assert page["next_cursor"] is None
            break
        cursor = page["next_cursor"]
    assert found == list(range(25, 0, -1))
    api.error("GET", f"{ws.root}/versions/a.txt", 400, "bad_request", params={"cursor": "x"})


def test_one_version_comes_with_a_signed_link(api, ws):
    version = ws.put("a.txt", b"one")["version"]
    described = api.get(f"{ws.root}/version/{version['id']}", 200).json()
    assert requests.get(described["signed_link"], timeout=30).content == b"one"
    api.error("GET", f"{ws.root}/version/{NEVER}", 404, "not_found")
    api.error("GET", f"{ws.root}/version/v_x", 400, "bad_request")


def test_versions_are_found_by_path_or_file_id_but_not_of_folders(api, ws):
    made = ws.put("d/a.txt", b"one")
    by_id = api.get(f"{ws.root}/versions/", 200, params={"file_id": made["entry"]["id"]}).json()
    assert by_id["items"] == ws.versions("d/a.txt")
    api.error("GET", f"{ws.root}/versions/d", 400, "bad_request")
    api.error("GET", f"{ws.root}/versions/", 400, "bad_request")
    api.error("GET", f"{ws.root}/versions/d/a.txt", 400, "bad_request", params={"file_id": made["entry"]["id"]})
    api.error("GET", f"{ws.root}/versions/missing", 404, "not_found")
    api.error("GET", f"{ws.root}/versions/", 404, "not_found", params={"file_id": "f_" + "0" * 31 + "1"})
    api.delete(ws.file("d/a.txt"), 200)
    assert len(api.get(f"{ws.root}/versions/", 200, params={"file_id": made["entry"]["id"]}).json()["items"]) == 1


def test_an_old_version_comes_back_as_a_new_one(api, ws):
    first = ws.put("a.txt", b"one")["version"]["id"]
    second = ws.put("a.txt", b"two")["version"]["id"]
    restored = ws.post("restore-version", 200, version_id=first)
    assert restored["version"]["number"] == 3 and restored["version"]["source"] == {"kind": "restore", "version_id": first}
    assert restored["version"]["base_id"] == second and ws.read("a.txt") == b"one"
    assert len(ws.versions("a.txt")) == 3
    again = ws.post("restore-version", 200, version_id=restored["version"]["id"])
    assert again["unchanged"] and len(ws.versions("a.txt")) == 3
    api.error("POST", f"{ws.root}/restore-version", 404, "not_found", json={"version_id": NEVER})
    api.error("POST", f"{ws.root}/restore-version", 400, "bad_request", json={"version_id": "first"})
    api.delete(ws.file("a.txt"), 200)
    error = api.error("POST", f"{ws.root}/restore-version", 409, "conflict", json={"version_id": first})
    assert error["file_id"] == restored["entry"]["id"]


def test_two_writers_from_one_base_are_both_kept_and_the_file_says_so(api, ws):
    base = ws.put("a.txt", b"base")["version"]["id"]
    ours = ws.put("a.txt", b"ours", X_Sandkeep_Base=base)
    assert not ours["diverged"]
    theirs = ws.put("a.txt", b"theirs", X_Sandkeep_Base=base)
    assert theirs["diverged"] and theirs["entry"]["diverged"] and theirs["version"]["base_id"] == base
    assert ws.entry("a.txt")["diverged"] and ws.read("a.txt") == b"theirs"
    assert api.get(ours["version"]["link"], 200).content == b"ours"
    # A write that knows the head ends it.
    merged = ws.put("a.txt", b"merged", X_Sandkeep_Base=theirs["version"]["id"])
    assert not merged["entry"]["diverged"]
    assert [version["size"] for version in ws.versions("a.txt")] == [6, 6, 4, 4]


def test_a_folder_goes_back_to_how_it_was(api, ws):
    ws.put("d/keep.txt", b"same")
    ws.put("d/changed.txt", b"before")
    ws.put("d/moved.txt", b"moved")
    ws.put("d/sub/deleted.txt", b"deleted")
    ws.put("outside.txt", b"before")
    time.sleep(0.01)
    then = now()
    time.sleep(0.01)
    ws.put("d/changed.txt", b"after")
    ws.put("d/new.txt", b"new")
    ws.put("outside.txt", b"after")
    ws.post("move", 200, **{"from": "d/moved.txt", "to": "d/elsewhere.txt"})
    api.delete(ws.file("d/sub"), 200)

    plan = ws.post("restore-as-of", 200, folder="d", time=then, dry_run=True)
    assert plan["dry_run"] and ws.read("d/changed.txt") == b"after"
    done = ws.post("restore-as-of", 200, folder="d", time=then)
    assert {**plan, "dry_run": False} == done
    assert ws.paths() == ["d", "outside.txt", "d/changed.txt", "d/keep.txt", "d/moved.txt", "d/sub", "d/sub/deleted.txt"]
    assert ws.read("d/changed.txt") == b"before" and ws.read("outside.txt") == b"after"
    assert len(ws.versions("d/changed.txt")) == 3
    assert "d/new.txt" in [item["path"] for item in api.get(f"{ws.root}/trash").json()["items"]]
    again = ws.post("restore-as-of", 200, folder="d", time=then)
    assert again["trashed"] == 0 and ws.read("d/changed.txt") == b"before"


def moment():
    time.sleep(0.01)
    then = now()
    time.sleep(0.01)
    return then


def test_what_stays_in_the_trash_when_its_folder_goes_back_is_in_reach(api, ws):
    ws.put("F/a", b"1")
    then = moment()
    ws.put("F/b", b"22")
    api.delete(ws.file("F"), 200)
    assert ws.post("restore-as-of", 200, time=then)["restored"] == 2
    error = api.error("GET", ws.file("F/b"), 404, "not_found")
    assert api.post(f"{ws.root}/trash/{error['trashed_file_id']}/restore", 200, json={}).json()["path"] == "F/b"
    ws.put("F/c", b"333")
    api.delete(ws.file("F"), 200)
    error = api.error("GET", ws.file("F/c"), 404, "not_found")
    assert error["trashed_file_id"] in error["hint"] and "'F'" in error["hint"]
    api.post(f"{ws.root}/trash/{error['trashed_file_id']}/restore", 200, json={})
    assert ws.paths() == ["F", "F/a", "F/b", "F/c"]


def test_a_folder_that_was_moved_away_leaves_later_files_where_they_are(api, ws):
    ws.put("old/D/x", b"x")
    then = moment()
    ws.post("move", 200, **{"from": "old/D", "to": "new/D"})
    ws.put("new/D/y", b"y")
    ws.post("restore-as-of", 200, folder="old", time=then)
    assert ws.paths() == ["new", "old", "new/D", "new/D/y", "old/D", "old/D/x"]
    assert api.get(f"{ws.root}/list", 200, params={"folder": "new/D"}).json()["items"][0]["path"] == "new/D/y"


def test_an_empty_folder_a_mode_and_a_single_file_go_back_and_a_mistyped_one_is_404(api, ws):
    folder = ws.post("mkdir", 201, path="q1")["entry"]["id"]
    ws.put("a.txt", b"same", X_Sandkeep_Mode="0644")
    then = moment()
    api.delete(ws.file("q1"), 200)
    ws.put("a.txt", b"same", X_Sandkeep_Mode="0600")
    assert ws.post("restore-as-of", 200, folder="q1", time=then)["restored"] == 1
    assert ws.entry("q1")["id"] == folder
    assert ws.post("restore-as-of", 200, folder="a.txt", time=then)["restored"] == 1
    assert ws.entry("a.txt")["mode"] == "0644"
    api.error("POST", f"{ws.root}/restore-as-of", 404, "not_found", json={"folder": "q2", "time": then})


def test_a_base_that_never_was_a_version_of_the_file_is_400(api, ws):
    ws.put("a.txt", b"one")
    other = ws.put("b.txt", b"two")["version"]["id"]
    for base in ("v_" + "0" * 31 + "2", other):
        api.error("PUT", ws.file("a.txt"), 400, "bad_request", data=b"three", headers={"X-Sandkeep-Base": base})
    assert ws.read("a.txt") == b"one" and not ws.entry("a.txt")["diverged"]


def test_the_current_bytes_end_a_divergence_when_their_version_is_named(api, ws):
    base = ws.put("a.txt", b"base")["version"]["id"]
    ws.put("a.txt", b"ours")
    head = ws.put("a.txt", b"theirs", X_Sandkeep_Base=base)["version"]["id"]
    assert ws.entry("a.txt")["diverged"]
    kept = ws.put("a.txt", b"theirs", If_Match=f'"{head}"')
    assert kept["unchanged"] and not kept["entry"]["diverged"] and not ws.entry("a.txt")["diverged"]
    assert "file.settle" in [event["kind"] for event in ws.events()["items"]]


def test_the_same_bytes_of_another_type_are_a_version_and_another_time_is_set(api, ws):
    first = ws.put("a.txt", b"same", Content_Type="text/plain")
    again = ws.put("a.txt", b"same", X_Sandkeep_Mtime="2020-01-02T03:04:05Z")
    assert again["unchanged"] and ws.entry("a.txt")["mtime"].startswith("2020-01-02T03:04:05")
    other = ws.put("a.txt", b"same", Content_Type="text/markdown")
    assert other["version"]["number"] == 2 and ws.entry("a.txt")["mime"] == "text/markdown"
    assert api.get(first["version"]["link"], 200).headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("body", [{}, {"time": "yesterday"}, {"time": "2999-01-01T00:00:00Z"}, {"time": 5}, {"time": "2020-01-01T00:00:00Z", "folder": ".."}])
def test_a_time_that_cannot_be_gone_back_to_is_400(api, ws, body):
    api.error("POST", f"{ws.root}/restore-as-of", 400, "bad_request", json=body)


def test_going_back_stops_at_locks(api, ws):
    ws.put("d/a.txt", b"one")
    time.sleep(0.01)
    then = now()
    ws.put("d/a.txt", b"two")
    ws.lock("d/a.txt")
    api.error("POST", f"{ws.root}/restore-as-of", 423, "locked", json={"time": then})
    assert ws.read("d/a.txt") == b"two"


def test_an_old_version_can_be_purged_but_not_the_current_one(api, ws):
    first = ws.put("a.bin", os.urandom(100_000))["version"]
    second = ws.put("a.bin", b"small")["version"]
    api.error("DELETE", f"{ws.root}/version/{second['id']}", 409, "conflict")
    purged = api.delete(f"{ws.root}/version/{first['id']}", 200).json()
    assert purged["versions"] == 1 and purged["freed_bytes"] == 100_000
    assert purged["broken_links"] == [{"version_id": first["id"], "path": "a.bin", "link": first["link"]}]
    error = api.error("GET", first["link"], 410, "gone")
    assert error["purged_at"] <= now()
    api.error("DELETE", f"{ws.root}/version/{first['id']}", 404, "not_found")
    assert [version["id"] for version in ws.versions("a.bin")] == [second["id"]]
    ws.put("a.bin", b"next")
    assert [version["number"] for version in ws.versions("a.bin")] == [3, 2]


def test_a_file_can_have_ten_thousand_versions(api, ws):
    for start in range(0, 10_000, 500):
        ws.post("batch", 200, changes=[{"op": "put", "path": "a.txt", "content": str(start + n)} for n in range(500)])
    assert ws.entry("a.txt")["version_count"] == 10_000
    page = api.get(f"{ws.root}/versions/a.txt", 200).json()
    assert page["has_more"] and len(page["items"]) == 1000 and page["items"][0]["number"] == 10_000
    oldest = api.get(f"{ws.root}/versions/a.txt", 200, params={"cursor": "2"}).json()["items"][0]
    assert api.get(oldest["link"], 200).content == b"0"
    ws.post("restore-version", 200, version_id=oldest["id"])
    assert ws.read("a.txt") == b"0"
