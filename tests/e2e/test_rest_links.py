"""Permanent links: private, signed, immutable, never rotting."""

import hashlib
import http.client
import re

import pytest
import requests

from rest_client import Client
from sandkeep_server import ROOT_KEY


def nobody(server):
    return Client(server, None)


def test_a_private_link_is_404_without_access(api, ws, server, unique):
    link = ws.put("a.txt", b"secret")["entry"]["link"]
    assert api.get(link, 200).content == b"secret"
    nobody(server).error("GET", link, 404, "not_found")
    _, stranger = api.make_principal(unique("stranger"))
    stranger.error("GET", link, 404, "not_found")
    Client(server, "wrong-key-wrong-key").error("GET", link, 401, "unauthorized")


def test_every_way_to_write_an_id_leads_to_the_same_bytes(api, ws):
    version = ws.put("a.txt", b"hello")["version"]["id"]
    digits = version[2:]
    for written in (version, "cfile_" + digits, "file-" + digits, digits):
        assert api.get(f"/k/{written}/a.txt", 200).content == b"hello"
        assert api.get(f"/k/{written}/any%20other%20name", 200).content == b"hello"
    for wrong in ("v_" + "0" * 31 + "1", "v_", "x", "v_" + digits[:-1], "f_" + digits, "v_" + digits.replace(digits[-1], "g")):
        api.error("GET", f"/k/{wrong}/a.txt", 404, "not_found")


def test_a_link_always_serves_its_version(api, ws):
    link = ws.put("a.txt", b"one")["entry"]["link"]
    ws.put("a.txt", b"two")
    assert api.get(link, 200).content == b"one"
    ws.post("move", 200, **{"from": "a.txt", "to": "b.txt"})
    assert api.get(link, 200).content == b"one"
    api.delete(ws.file("b.txt"), 200)
    assert api.get(link, 200).content == b"one"
    api.delete(ws.root, 204)
    assert api.get(link, 200).content == b"one"
    api.post(f"{ws.root}/restore", 200)


def test_links_are_cacheable_forever_and_signed_ones_until_they_are_revoked(api, ws, server):
    made = ws.put("a.txt", b"one")
    private = api.get(made["entry"]["link"], 200).headers
    assert private["Cache-Control"] == "private, max-age=31536000, immutable"
    signed = api.get(f"{ws.root}/version/{made['version']['id']}", 200).json()["signed_link"]
    public = nobody(server).get(signed, 200).headers
    assert public["Cache-Control"] == "private, no-cache"
    nobody(server).get(signed, 304, headers={"If-None-Match": public["ETag"]})


def test_a_link_serves_ranges_heads_and_downloads(api, ws):
    link = ws.put("plot ä.png", b"0123456789")["entry"]["link"]
    assert api.get(link, 206, headers={"Range": "bytes=2-4"}).content == b"234"
    head = api.head(link, 200)
    assert head.headers["Content-Length"] == "10" and head.headers["Content-Type"] == "image/png"
    assert head.headers["Content-Disposition"].startswith("inline") and "plot%20%C3%A4.png" in head.headers["Content-Disposition"]
    assert api.get(link + "?download=1", 200).headers["Content-Disposition"].startswith("attachment")
    api.error("GET", link + "?download=yes", 400, "bad_request")
    api.error("GET", link + "?sig=x", 400, "bad_request")


def test_a_signed_link_opens_one_version_without_a_key(api, ws, server):
    first = ws.put("a.txt", b"one")["version"]["id"]
    second = ws.put("a.txt", b"two")["version"]["id"]
    signed = api.get(f"{ws.root}/version/{first}", 200).json()["signed_link"]
    assert nobody(server).get(signed, 200).content == b"one"
    nobody(server).error("GET", signed.replace(first, second), 404, "not_found")
    for wrong in (signed[:-1], signed + "A", re.sub(r"s=.*", "s=", signed), signed[:-2] + ("AA" if signed[-2:] != "AA" else "BB")):
        nobody(server).error("GET", wrong, 404, "not_found")


def test_revoking_ends_all_signed_links_and_new_ones_work(api, ws, server):
    version = ws.put("a.txt", b"one")["version"]
    old = api.get(f"{ws.root}/version/{version['id']}", 200).json()["signed_link"]
    api.post(f"{ws.root}/revoke-links", 204)
    for link in [link for link, minted in server.minted.items() if minted["key"] is None and minted["workspace_id"] == ws.id]:
        del server.minted[link]
    nobody(server).error("GET", old, 404, "not_found")
    assert api.get(version["link"], 200).content == b"one"
    new = api.get(f"{ws.root}/version/{version['id']}", 200).json()["signed_link"]
    assert new != old and nobody(server).get(new, 200).content == b"one"


def test_a_person_who_may_not_see_a_link_gets_a_page_that_says_what_to_do(ws, server):
    link = ws.put("a.html", b"<script>alert(1)</script>")["entry"]["link"]
    page = requests.get(link, headers={"Accept": "text/html"}, timeout=30)
    assert page.status_code == 404 and "sign in" in page.text and "script-src" not in page.headers["Content-Security-Policy"]
    assert requests.get(link + "%22%3E%3Cscript%3E", headers={"Accept": "text/html"}, timeout=30).text.count("<script>") == 0


def test_a_link_of_a_workspace_that_was_left_is_404(api, ws, unique):
    principal, friend = api.make_principal(unique("friend"))
    api.put(f"{ws.root}/members/{principal}", 200, json={"role": "read"})
    link = ws.put("a.txt", b"x")["entry"]["link"]
    assert friend.get(link, 200).content == b"x"
    api.delete(f"{ws.root}/members/{principal}", 204)
    friend.error("GET", link, 404, "not_found")


def purge_on_record(server, workspace):
    events = requests.get(f"{server.url}/api/v1/workspaces/{workspace}/events", params={"kinds": "trash.purge,version.purge"},
                          headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=30)
    if events.status_code == 200 and events.json()["items"]:
        return True
    # Of a workspace that was purged as a whole, the server's own journal knows.
    events = requests.get(f"{server.url}/api/v1/events", params={"kinds": "workspace.purge", "limit": 1000},
                          headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=30).json()["items"]
    return workspace in [event["facts"]["workspace_id"] for event in events]


@pytest.mark.last
def test_every_link_that_any_answer_of_this_run_minted_leads_to_its_bytes(server):
    """Runs last. Purged versions must answer 410, all others their bytes."""
    assert server.minted
    wrong = []
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    for link, minted in server.minted.items():
        assert link.startswith(server.url + "/k/")
        purged = re.search(r"/k/(v_[0-9a-f]{32})/", link).group(1) in server.purged
        # The key that saw the link may be revoked since; the administrator can read what it could.
        for key in [None] if minted["key"] is None else [minted["key"], ROOT_KEY]:
            connection.request("GET", link[len(server.url):], headers={"Authorization": f"Bearer {key}"} if key else {})
            answer = connection.getresponse()
            content = answer.read()
            if answer.status in (200, 410):
                break
        if answer.status == 410 and not purged:
            # Purged by the command line or by an administrator, whose answers do not tell: then it is in the journal.
            purged = purge_on_record(server, minted["workspace_id"])
        good = answer.status == (410 if purged else 200)
        if good and not purged and minted["sha256"]:
            good = hashlib.sha256(content).hexdigest() == minted["sha256"]
        if not good:
            wrong.append((link, answer.status, purged))
    assert not wrong, f"{len(wrong)} of {len(server.minted)}: {wrong[:10]}"
