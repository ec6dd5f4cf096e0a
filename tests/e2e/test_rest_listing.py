"""Listings: sorted, paged honestly, filtered."""

import pytest
import requests

from rest_client import Client
from sandkeep_cli import Cli
from sandkeep_server import ROOT_KEY


@pytest.fixture(scope="module")
def big(server):
    """A workspace with 2,500 files in one folder and some elsewhere."""
    ws = Client(server).workspace("listing-2500")
    for start in range(0, 2500, 500):
        ws.post("batch", 200, changes=[{"op": "put", "path": f"many/f{start + n:05}.txt", "content": "x"} for n in range(500)])
    ws.put("other/a.csv", b"a,b\n")
    ws.put("other/deep/b.csv", b"a,b\n")
    ws.put("top.txt", b"x")
    return ws


@pytest.mark.parametrize("limit", [1000, 999, 1, 700])
def test_pages_are_complete_and_say_whether_more_follow(big, limit):
    names, cursor, pages = [], None, 0
    while True:
        page = big.client.get(f"{big.root}/list", 200, params={"folder": "many", "limit": limit, **({"cursor": cursor} if cursor else {})}).json()
        assert len(page["items"]) <= limit
        names += [item["name"] for item in page["items"]]
        pages += 1
        if limit == 1 and pages == 5:
            assert names == [f"f{n:05}.txt" for n in range(5)] and page["has_more"]
            return
        assert page["has_more"] == (len(names) < 2500)
        if not page["has_more"]:
            break
        cursor = page["next_cursor"]
    assert names == [f"f{n:05}.txt" for n in range(2500)]


def test_the_last_page_that_is_just_full_says_so(big):
    page = big.client.get(f"{big.root}/list", 200, params={"folder": "other", "limit": 2}).json()
    assert [item["name"] for item in page["items"]] == ["a.csv", "deep"] and not page["has_more"] and page["next_cursor"] is None


def test_a_listing_is_of_one_folder_or_of_all_below(big):
    def names(**query):
        return [item["path"] for item in big.client.get(f"{big.root}/list", 200, params=query).json()["items"]]

    assert names() == ["many", "other", "top.txt"]
    assert names(folder="other") == ["other/a.csv", "other/deep"]
    assert names(folder="other", recursive="true") == ["other/a.csv", "other/deep", "other/deep/b.csv"]
    assert names(folder="/other/") == names(folder="other")
    assert len(big.paths()) == 2500 + 6


@pytest.mark.parametrize("glob, expected", [
    ("*.csv", ["other/a.csv", "other/deep/b.csv"]), ("other/*.csv", ["other/a.csv"]), ("other/**", ["other/a.csv", "other/deep", "other/deep/b.csv"]),
    ("**/b.csv", ["other/deep/b.csv"]), ("f0000[0-2].txt", [f"many/f0000{n}.txt" for n in range(3)]), ("f?2499.txt", ["many/f02499.txt"]), ("nothing*", []),
])
def test_a_glob_picks_what_matches(big, glob, expected):
    assert big.paths(glob=glob) == expected


def test_pages_of_a_glob_are_complete(big):
    assert len(big.paths(glob="f*5.txt", limit="7")) == 250


def test_clients_go_on_after_an_empty_page(make_server, tmp_path):
    """A page of a pattern ends after so many comparisons, also if nothing matched."""
    server = make_server("--sandbox", "off", "--list-scan-max", "100")
    ws = Client(server).workspace("patterns")
    ws.post("batch", 200, changes=[{"op": "put", "path": f"many/{number}.txt", "content": "x"} for number in range(450)] + [{"op": "put", "path": "z/last.csv", "content": "x"}])
    page = ws.client.get(f"{ws.root}/list", 200, params={"recursive": "true", "glob": "*.csv"}).json()
    assert page["items"] == [] and page["has_more"] and page["next_cursor"]
    assert ws.paths(glob="*.csv") == ["z/last.csv"] and ws.paths(glob="*.none") == [] and len(ws.paths()) == 453
    cli = Cli(tmp_path, server, workspace=ws.id)
    assert cli("ls", "-1", "**/*.csv").lines == ["z/last.csv"]
    cli("get", "**/*.csv", str(tmp_path / "got") + "/")
    assert [path.name for path in (tmp_path / "got").rglob("*.csv")] == ["last.csv"]
    cli("ls", "*.none", code=3)
    pages, found, cursor = 0, [], None
    while pages == 0 or cursor:
        answer = list_files(server, workspace=ws.id, recursive=True, glob="*.csv", **({"cursor": cursor} if cursor else {}))
        found += [entry["path"] for entry in answer["structuredContent"]["entries"]]
        pages, cursor = pages + 1, answer["structuredContent"].get("next_cursor")
    assert found == ["z/last.csv"] and pages == 5


def list_files(server, **arguments):
    """The result of the MCP tool."""
    version = "2026-07-28"
    params = {"name": "list_files", "arguments": arguments,
              "_meta": {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}}
    headers = {"Authorization": f"Bearer {ROOT_KEY}", "MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "list_files",
               "Accept": "application/json, text/event-stream"}
    answer = requests.post(server.url + "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers=headers, timeout=60)
    assert answer.status_code == 200 and "error" not in answer.json(), answer.text
    return answer.json()["result"]


def test_a_listing_goes_on_while_files_come_and_go(ws):
    for number in range(10):
        ws.put(f"f{number}", b"x")
    page = ws.client.get(f"{ws.root}/list", 200, params={"limit": 5}).json()
    ws.client.delete(ws.file("f4"), 200)
    ws.put("f00", b"x")
    rest = ws.client.get(f"{ws.root}/list", 200, params={"cursor": page["next_cursor"]}).json()
    assert [item["name"] for item in rest["items"]] == ["f5", "f6", "f7", "f8", "f9"]


def test_names_in_other_scripts_sort_by_their_bytes(ws):
    names = ["Z", "a", "é", "z", "日", "😀", "É"]
    for name in names:
        ws.put(name, b"x")
    assert ws.paths() == sorted(names, key=lambda name: name.encode())


def test_listing_what_is_no_folder(api, ws):
    ws.put("a.txt", b"x")
    api.error("GET", f"{ws.root}/list", 400, "bad_request", params={"folder": "a.txt"})
    api.error("GET", f"{ws.root}/list", 404, "not_found", params={"folder": "missing"})
    assert api.get(f"{ws.root}/list", 200, params={"limit": 5}).json() == {"items": [ws.entry("a.txt")], "has_more": False, "next_cursor": None}


def test_an_empty_folder_stays(ws):
    ws.post("mkdir", 201, path="empty")
    assert ws.paths() == ["empty"] and ws.paths(folder="empty") == []


def test_a_question_mark_and_a_class_stand_for_a_character_of_any_script(ws):
    for name in ("é.txt", "日本.txt", "a.txt"):
        ws.put(name)
    assert ws.paths(glob="?.txt") == ["a.txt", "é.txt"]
    assert ws.paths(glob="??.txt") == ["日本.txt"]
    assert ws.paths(glob="[àéè].txt") == ["é.txt"]
    assert ws.paths(glob="[!a-z].txt") == ["é.txt"]


def test_a_recursive_listing_goes_by_folder_then_by_name(ws):
    for path in ("b", "a/z", "a-b", "a/b/c", "c"):
        ws.put(path)
    assert ws.paths() == ["a", "a-b", "b", "c", "a/b", "a/z", "a/b/c"]
