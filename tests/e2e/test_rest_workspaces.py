"""Workspaces: making, renaming, sharing, losing and finding them."""

import pytest

from rest_client import Workspace


def test_the_first_workspace_is_named_default(api):
    described = api.get("/api/v1/workspaces/default", 200).json()
    assert described["name"] == "default" and described["role"] == "own" and described["quota_bytes"] == 50 << 30
    assert api.get(f"/api/v1/workspaces/{described['id']}", 200).json()["id"] == described["id"]


def test_a_workspace_is_made_listed_renamed_trashed_and_restored(api, unique):
    name, other = unique("work"), unique("renamed")
    ws = api.workspace(name)
    ws.put("a.txt", b"hello")
    link = ws.entry("a.txt")["link"]
    assert api.patch(ws.root, 200, json={"name": other}).json()["name"] == other
    api.get(f"/api/v1/workspaces/{name}", 404)
    listed = api.get("/api/v1/workspaces", 200).json()
    assert other in [item["name"] for item in listed["items"]] and not listed["has_more"]

    api.delete(ws.root, 204)
    api.error("GET", ws.root, 404, "not_found")
    api.error("GET", ws.file("a.txt"), 404, "not_found")
    assert api.get(link, 200).content == b"hello"
    assert ws.id in [item["id"] for item in api.get("/api/v1/workspaces?trashed=true", 200).json()["items"]]

    assert api.post(f"{ws.root}/restore", 200).json()["name"] == other
    assert ws.read("a.txt") == b"hello"
    api.error("POST", f"{ws.root}/restore", 404, "not_found")


def test_a_restored_workspace_gives_way_to_one_that_took_its_name(api, unique):
    name = unique("work")
    first = api.workspace(name)
    api.delete(first.root, 204)
    api.workspace(name)
    assert api.post(f"{first.root}/restore", 200).json()["name"] == f"{name} (2)"


@pytest.mark.parametrize("name", ["", " ", "a/b", "ws_x", "x" * 101, "a\nb", ".", "..", " a", "a:b"])
def test_a_name_that_cannot_be_is_400(api, name):
    api.error("POST", "/api/v1/workspaces", 400, "bad_request", json={"name": name})


def test_a_taken_name_is_409(api, ws, unique):
    api.error("POST", "/api/v1/workspaces", 409, "conflict", json={"name": ws.name})
    other = api.workspace(unique("other"))
    api.error("PATCH", other.root, 409, "conflict", json={"name": ws.name})
    api.error("PATCH", other.root, 400, "bad_request", json={})


def test_names_with_spaces_and_other_scripts_are_addresses(api, unique):
    name = unique("Büro 日本")
    ws = api.workspace(name)
    assert api.get(f"/api/v1/workspaces/{name}", 200).json()["id"] == ws.id


def test_a_write_over_the_quota_fails_whole_and_tells_the_figures(api, unique):
    made = api.post("/api/v1/workspaces", 201, json={"name": unique("small"), "quota_bytes": 100_000}).json()
    small = Workspace(api, made)
    small.put("a.bin", b"a" * 60_000)
    error = api.error("PUT", small.file("b.bin"), 507, "quota_exceeded", data=b"b" * 40_001)
    assert error["quota_bytes"] == 100_000 and error["used_bytes"] == 60_000 and error["needed_bytes"] == 40_001
    assert small.paths() == ["a.bin"]
    # The same bytes again cost nothing; exactly the rest fits; not one byte more.
    small.put("copy.bin", b"a" * 60_000)
    small.put("b.bin", b"b" * 40_000)
    assert api.get(small.root).json()["used_bytes"] == 100_000
    api.error("PUT", small.file("c.bin"), 507, "quota_exceeded", data=b"c")
    api.error("POST", f"{small.root}/batch", 507, "quota_exceeded", json={"changes": [
        {"op": "trash", "path": "a.bin"}, {"op": "put", "path": "d", "content": "d"}]})
    assert small.paths() == ["a.bin", "b.bin", "copy.bin"]
    assert api.patch(small.root, 200, json={"quota_bytes": 200_000}).json()["quota_bytes"] == 200_000
    small.put("c.bin", b"c")


def test_trash_counts_until_it_is_purged(api, unique):
    small = Workspace(api, api.post("/api/v1/workspaces", 201, json={"name": unique("small"), "quota_bytes": 1000}).json())
    small.put("a", b"a" * 900)
    api.delete(small.file("a"), 200)
    api.error("PUT", small.file("b"), 507, "quota_exceeded", data=b"b" * 900)
    assert api.delete(f"{small.root}/trash", 200).json()["freed_bytes"] == 900
    small.put("b", b"b" * 900)


def test_members_get_in_as_far_as_their_role(api, ws, unique):
    ws.put("a.txt", b"x")
    principal, friend = api.make_principal(unique("friend"))
    seen = ws.seen_by(friend)
    friend.error("GET", ws.root, 404, "not_found")
    assert api.put(f"{ws.root}/members/{principal}", 200, json={"role": "read"}).json()["role"] == "read"
    assert seen.read("a.txt") == b"x" and friend.get(ws.root).json()["role"] == "read"
    friend.error("PUT", ws.file("b.txt"), 403, "forbidden", data=b"x")

    api.put(f"{ws.root}/members/{principal}", 200, json={"role": "write"})
    seen.put("b.txt", b"x")
    friend.error("DELETE", f"{ws.root}/trash", 403, "forbidden")
    friend.error("PUT", f"{ws.root}/members/{principal}", 403, "forbidden", json={"role": "own"})
    friend.error("DELETE", ws.root, 403, "forbidden")
    friend.error("POST", f"{ws.root}/revoke-links", 403, "forbidden")

    api.put(f"{ws.root}/members/{principal}", 200, json={"role": "own"})
    friend.delete(f"{ws.root}/trash", 200)
    api.delete(f"{ws.root}/members/{principal}", 204)
    friend.error("GET", ws.root, 404, "not_found")


def test_a_member_that_cannot_be_is_refused(api, ws):
    me = api.get("/api/v1/me").json()["principal"]["id"]
    api.error("PUT", f"{ws.root}/members/{me}", 400, "bad_request", json={"role": "read"})
    api.error("PUT", f"{ws.root}/members/p_{'0' * 31}1", 404, "not_found", json={"role": "read"})
    api.error("PUT", f"{ws.root}/members/nobody", 400, "bad_request", json={"role": "read"})
    api.error("PUT", f"{ws.root}/members/p_{'0' * 31}1", 400, "bad_request", json={"role": "king"})


def test_quotas_are_for_administrators(api, unique):
    _, somebody = api.make_principal(unique("somebody"))
    mine = somebody.workspace("mine")
    somebody.error("PATCH", mine.root, 403, "forbidden", json={"quota_bytes": 1 << 50})
    somebody.error("POST", "/api/v1/workspaces", 403, "forbidden", json={"name": "big", "quota_bytes": 1 << 50})


def test_an_administrator_sets_anybodys_quota_and_sees_the_figures_but_not_the_files(api, unique):
    _, ada = api.make_principal(unique("ada"))
    hers = Workspace(ada, ada.get("/api/v1/workspaces/default", 200).json())
    hers.put("diary.txt", b"dear diary")
    seen = api.get(hers.root, 200).json()
    assert seen["used_bytes"] == 10 and seen["role"] == "none" and seen["owner"]["name"].startswith("ada")
    assert api.patch(hers.root, 200, json={"quota_bytes": 10}).json()["quota_bytes"] == 10
    ada.error("PUT", hers.file("more.txt"), 507, "quota_exceeded", data=b"x")
    assert hers.events(kinds="workspace.quota")["items"][-1]["facts"]["quota_bytes"] == 10
    # The quota is all: nothing of hers can be read, renamed, shared or deleted.
    for method, path, options in (("GET", hers.file("diary.txt"), {}), ("GET", f"{hers.root}/list", {}), ("GET", f"{hers.root}/events", {}),
                                  ("GET", f"{hers.root}/audit", {}), ("PUT", hers.file("x"), {"data": b"x"}), ("DELETE", hers.root, {}),
                                  ("POST", f"{hers.root}/revoke-links", {}), ("GET", hers.entry("diary.txt")["link"], {})):
        api.error(method, path, 404, "not_found", **options)
    api.error("PATCH", hers.root, 403, "forbidden", json={"name": "mine"})
    api.error("PATCH", hers.root, 403, "forbidden", json={"name": "mine", "quota_bytes": 99})
    assert ada.get(hers.root).json()["name"] == "default" and ada.get(hers.root).json()["quota_bytes"] == 10


def test_only_an_administrator_whose_key_is_not_narrowed_looks_at_other_workspaces(api, ws, unique):
    _, ada = api.make_principal(unique("ada"))
    hers = ada.get("/api/v1/workspaces/default", 200).json()["id"]
    listed = {item["id"]: item["role"] for item in api.get("/api/v1/workspaces?all=true", 200).json()["items"]}
    assert listed[hers] == "none" and listed[ws.id] == "own"
    assert hers not in [item["id"] for item in api.get("/api/v1/workspaces", 200).json()["items"]]
    _, reader = api.make_key(read_only=True)
    assert reader.get(f"/api/v1/workspaces/{hers}", 200).json()["role"] == "none"
    reader.error("PATCH", f"/api/v1/workspaces/{hers}", 403, "forbidden", json={"quota_bytes": 5})
    _, scoped = api.make_key(workspace=ws.id)
    for narrow in (scoped, ada):
        narrow.error("GET", "/api/v1/workspaces?all=true", 403, "forbidden")
    scoped.error("GET", f"/api/v1/workspaces/{hers}", 404, "not_found")
    scoped.error("PATCH", f"/api/v1/workspaces/{hers}", 404, "not_found", json={"quota_bytes": 5})
    ada.error("PATCH", ws.root, 404, "not_found", json={"quota_bytes": 5})


def test_a_trashed_workspace_is_purged_for_ever(api, unique):
    name = unique("purged")
    ws = api.workspace(name)
    ws.put("folder/a.txt", b"first")
    ws.put("folder/a.txt", b"second")
    links = [version["link"] for version in ws.versions("folder/a.txt")]
    signed = api.get(f"{ws.root}/version/{ws.versions('folder/a.txt')[0]['id']}", 200).json()["signed_link"]
    assert api.error("DELETE", f"{ws.root}?purge=true", 409, "conflict")["advice"] == "trash_workspace_first"
    api.delete(ws.root, 204)
    assert api.get(links[0], 200).content == b"second", "the trash keeps the links"
    purged = api.delete(f"{ws.root}?purge=true", 200).json()
    assert (purged["files"], purged["versions"], purged["freed_bytes"]) == (2, 2, 11)
    assert sorted(one["link"] for one in purged["broken_links"]) == sorted(links)
    for link in (*links, signed):
        assert api.error("GET", link, 410, "gone")["purged_at"]
    api.error("POST", f"{ws.root}/restore", 404, "not_found")
    api.error("DELETE", f"{ws.root}?purge=true", 404, "not_found")
    for listed in ("", "?trashed=true", "?all=true", "?all=true&trashed=true"):
        assert ws.id not in [item["id"] for item in api.get(f"/api/v1/workspaces{listed}", 200).json()["items"]]
    assert api.workspace(name).id != ws.id, "its name is free"
    # The server's own journal keeps that it existed, what it held and who purged it.
    events = api.get("/api/v1/events?kinds=workspace.purge&limit=1000", 200).json()["items"]
    (event,) = [event for event in events if event["facts"]["workspace_id"] == ws.id]
    assert event["personal"]["name"] == name and event["facts"]["versions"] == 2 and event["facts"]["journal_seq"] > 3
    assert event["actor_id"] == api.get("/api/v1/me", 200).json()["principal"]["id"]
    assert api.post("/api/v1/verify", 200).json()["problems"] == []


def test_a_name_that_several_trashed_workspaces_have_is_not_guessed(api, unique):
    name = unique("twin")
    twins = []
    for _ in range(2):
        twins.append(api.workspace(name))
        api.delete(twins[-1].root, 204)
    assert api.error("DELETE", f"/api/v1/workspaces/{name}?purge=true", 409, "conflict")["advice"] == "name_workspace_by_id"
    api.delete(f"{twins[0].root}?purge=true", 200)
    api.delete(f"/api/v1/workspaces/{name}?purge=true", 200)


def test_an_administrator_purges_without_seeing_names(api, unique):
    _, ada = api.make_principal(unique("ada"))
    hers = ada.workspace(unique("hers"))
    hers.put("private name.txt", b"x")
    api.error("DELETE", f"{hers.root}?purge=true", 404, "not_found")
    ada.delete(hers.root, 204)
    answer = api.delete(f"{hers.root}?purge=true", 200)
    assert answer.json()["versions"] == 1 and answer.json()["broken_links"] == [] and "private" not in answer.text
