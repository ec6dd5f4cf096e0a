"""Errors as OpenAI's clients read them, and what is told about fields that are not understood."""

import hashlib
import json

import pytest
import requests

from http_api import Api
from sandkeep_server import ROOT_KEY

NOBODY = "0" * 32


@pytest.mark.parametrize("path", ["/containers", "/files", f"/containers/cntr_{NOBODY}", f"/files/file-{NOBODY}/content", "/responses"])
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Nonsense"}, {"api-key": "wrong"}])
def test_a_missing_or_wrong_key_is_told_in_openais_shape(server, path, headers):
    answer = requests.get(f"{server.url}/v1{path}", headers=headers, timeout=30)
    if path == "/responses":
        assert answer.status_code == 404  # nothing is there, whoever asks
    else:
        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "invalid_api_key"
        assert answer.json()["error"]["type"] == "invalid_request_error"
    assert answer.headers["x-request-id"]


def test_the_hint_of_a_wrong_key_names_the_header_that_was_sent(server):
    for name, value in (("api-key", "wrong"), ("Authorization", "Bearer wrong")):
        message = requests.get(f"{server.url}/openai/v1/containers", headers={name: value}, timeout=30).json()["error"]["message"]
        assert [header for header in ("api-key", "Authorization") if header in message] == [name]


def test_files_that_are_not_kept_are_named_as_code_sees_them(make_server):
    api = Api(make_server("--quota-default-bytes", "2 MiB"))
    container = api.container()
    ran = api.exec(container, "import os\nos.mkdir('d'); open('d/b.bin', 'wb').write(os.urandom(3_000_000)); _ = open('small', 'w').write('x')")
    assert [(item["path"], item["reason"]) for item in ran["not_kept"]] == [("/mnt/data/d/b.bin", "quota")]
    assert "sessions/" not in json.dumps(ran["not_kept"]) + json.dumps(ran["outputs"])
    message = api.error("DELETE", f"/containers/{container}", 409)["message"]
    assert "/mnt/data/d/b.bin" in message and "force=true" in message and "session" not in message, message
    assert api.delete(f"/containers/{container}?force=true")["deleted"]


def test_a_failed_script_says_its_exit_status(api, container):
    assert api.exec(container, "exit 4", language="bash")["error"] == {"name": "error", "message": "the shell script ended with exit status 4"}
    assert api.exec(container, "import sys; sys.exit(5)")["error"]["message"] == "the program ended with exit status 5"


def test_a_key_that_is_used_for_other_code_is_refused_in_openais_words(api, container):
    headers = {"Idempotency-Key": f"once-{container}"}
    api.post(f"/containers/{container}/exec", {"code": "1"}, headers=headers)
    assert "session" not in api.error("POST", f"/containers/{container}/exec", 409, json={"code": "2"}, headers=headers)["message"]


@pytest.mark.parametrize("path", ["/responses", "/chat/completions", "/models", "/containers/x/y/z", "/vector_stores", "/"])
def test_what_is_not_served_says_what_is(api, path):
    error = api.error("POST", path, 404)
    assert "is not available" in error["message"] and "/exec" in error["message"]


def test_a_note_about_cut_output_begins_a_line(api, container):
    ran = api.exec(container, "print('y' * 3_000_000, end='')")
    logs = "".join(one["logs"] for one in ran["outputs"])
    assert "y\nThe output was cut" in logs, logs[-200:]


@pytest.mark.parametrize("path", [
    f"/containers/cntr_{NOBODY}", "/containers/nonsense", f"/containers/cntr_{NOBODY}/files", f"/files/file-{NOBODY}", "/files/x",
    f"/containers/cntr_{NOBODY}/files/cfile_{NOBODY}/content",
])
def test_an_unknown_id_is_a_404(api, path):
    assert api.error("GET", path, 404)["code"] == "not_found"


@pytest.mark.parametrize("body, param", [
    ({}, "name"),
    ({"name": None}, "name"),
    ({"name": 7}, "name"),
    ({"name": "x" * 101}, "name"),
    ({"name": "x", "file_ids": "file-1"}, "file_ids"),
    ({"name": "x", "file_ids": [1]}, "file_ids"),
    ({"name": "x", "file_ids": [f"file-{NOBODY}"]}, "file_ids"),
    ({"name": "x", "memory_limit": 1}, "memory_limit"),
    ({"name": "x", "memory_limit": "2g"}, "memory_limit"),
    ({"name": "x", "memory_limit": "64g"}, "memory_limit"),
    ({"name": "x", "expires_after": 20}, "expires_after"),
    ({"name": "x", "expires_after": {"anchor": "last_active_at"}}, "expires_after.minutes"),
    ({"name": "x", "expires_after": {"anchor": "created_at", "minutes": 5}}, "expires_after.anchor"),
    ({"name": "x", "expires_after": {"anchor": "last_active_at", "minutes": 0}}, "expires_after.minutes"),
    ({"name": "x", "expires_after": {"anchor": "last_active_at", "minutes": 1.5}}, "expires_after.minutes"),
    ({"name": "x", "network_policy": {"type": "allowlist", "allowed_domains": ["example.com"]}}, "network_policy"),
    ({"name": "x", "network_policy": {"type": "open"}}, "network_policy.type"),
])
def test_a_field_of_the_wrong_kind_is_named(api, body, param):
    before = api.get("/containers?limit=100").json()["data"]
    assert api.error("POST", "/containers", 400, json=body)["param"] == param
    assert api.get("/containers?limit=100").json()["data"] == before, "a refused container was made all the same"


@pytest.mark.parametrize("query, param", [("limit=0", "limit"), ("limit=101", "limit"), ("limit=x", "limit"), ("order=up", "order"), ("after=x", "after")])
def test_a_list_that_cannot_be_given_says_why(api, container, query, param):
    for path in ("/containers", f"/containers/{container}/files"):
        assert api.error("GET", f"{path}?{query}", 400)["param"] == param


def test_fields_that_are_not_known_are_accepted_and_named(api):
    answer = api.send("POST", "/containers?tea=green", json={"name": "x", "skills": [], "colour": "red", "héllo\r\nx: y": 1,
                                                             "expires_after": {"anchor": "last_active_at", "minutes": 3, "mood": 1}})
    assert answer.headers["x-sandkeep-ignored"] == "tea, skills, colour, h%C3%A9llo%0D%0Ax%3A%20y, expires_after.mood"
    form = api.send("POST", "/files", files={"file": ("a.txt", b"x")}, data={"purpose": "batch", "metadata[team]": "blue"})
    assert form.headers["x-sandkeep-ignored"] == "metadata%5Bteam%5D"
    assert "x-sandkeep-ignored" not in api.get("/containers?api-version=2025-04-01-preview").headers


@pytest.mark.parametrize("data, param", [
    ({}, "purpose"),
    ({"purpose": "gossip"}, "purpose"),
    ({"purpose": "batch", "expires_after[anchor]": "created_at"}, "expires_after.seconds"),
    ({"purpose": "batch", "expires_after[anchor]": "now", "expires_after[seconds]": "3600"}, "expires_after.anchor"),
    ({"purpose": "batch", "expires_after[anchor]": "created_at", "expires_after[seconds]": "60"}, "expires_after.seconds"),
    ({"purpose": "batch", "expires_after[anchor]": "created_at", "expires_after[seconds]": "soon"}, "expires_after.seconds"),
])
def test_a_file_that_says_too_little_or_too_much_is_refused(api, data, param):
    before = api.get("/files").json()["data"]
    assert api.error("POST", "/files", 400, files={"file": ("a.txt", b"x")}, data=data)["param"] == param
    assert api.get("/files").json()["data"] == before


def test_a_form_without_a_file_is_refused(api, container):
    assert api.error("POST", "/files", 400, files={"other": ("a.txt", b"x")}, data={"purpose": "batch"})["param"] == "file"
    assert api.error("POST", f"/containers/{container}/files", 400, files={"other": ("a.txt", b"x")})["param"] == "file"
    assert api.error("POST", f"/containers/{container}/files", 400, json={})["param"] == "file_id"
    api.error("POST", "/files", 415, json={"purpose": "batch"})


@pytest.mark.parametrize("name", ["..", "a/../../b", "/", "x" * 256])
def test_a_name_that_leads_out_of_the_container_is_refused(api, container, name):
    api.error("POST", f"/containers/{container}/files", 400, files={"file": (name, b"x")})
    assert api.files(container) == []


def test_an_error_that_a_retry_cannot_fix_says_so(api, container):
    """Clients try a 409 again unless they are told not to."""
    api.put(container, "folder/file.txt", b"x")
    answer = api.send("POST", f"/containers/{container}/files", 409, files={"file": ("folder", b"x")})
    assert answer.headers["x-should-retry"] == "false"
    assert answer.json()["error"]["type"] == "invalid_request_error"


def test_a_full_quota_is_openais_insufficient_quota(make_server):
    api = Api(make_server("--quota-default-bytes", "1 MiB"))
    answer = api.send("POST", "/files", 429, files={"file": ("big.bin", b"x" * (2 << 20))}, data={"purpose": "batch"})
    assert (answer.json()["error"]["code"], answer.headers["x-should-retry"]) == ("insufficient_quota", "false")
    upload = api.post("/uploads", {"filename": "big.bin", "purpose": "batch", "bytes": 2 << 20, "mime_type": "text/plain"})
    api.error("POST", f"/uploads/{upload['id']}/parts", 429, files={"data": ("x", bytes(2 << 20))})
    api.give("small.txt", b"this still fits")


def test_a_read_only_key_reads_and_changes_nothing(server, api, container):
    made = requests.post(f"{server.url}/api/v1/keys", json={"name": "reader", "read_only": True}, headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=30)
    reader = Api(server, key=made.json()["secret"])
    file = api.put(container, "a.txt", b"x")
    assert reader.content(container, file["id"]).content == b"x"
    assert reader.files(container) == api.files(container)
    upload = api.post("/uploads", {"filename": "a", "purpose": "batch", "bytes": 1, "mime_type": "text/plain"})["id"]
    for method, path, options in [
        ("POST", "/containers", {"json": {"name": "x"}}),
        ("DELETE", f"/containers/{container}", {}),
        ("POST", f"/containers/{container}/exec", {"json": {"code": "1"}}),
        ("POST", f"/containers/{container}/files", {"files": {"file": ("b.txt", b"x")}}),
        ("DELETE", f"/containers/{container}/files/{file['id']}", {}),
        ("POST", "/files", {"files": {"file": ("b.txt", b"x")}, "data": {"purpose": "batch"}}),
        ("DELETE", f"/files/file-{file['id'][6:]}", {}),
        ("POST", "/uploads", {"json": {"filename": "a", "purpose": "batch", "bytes": 1, "mime_type": "text/plain"}}),
        ("POST", f"/uploads/{upload}/parts", {"files": {"data": ("x", b"x")}}),
        ("POST", f"/uploads/{upload}/complete", {"json": {"part_ids": []}}),
        ("POST", f"/uploads/{upload}/cancel", {"json": {}}),
    ]:
        reader.error(method, path, 403, **options)
    assert api.content(container, file["id"]).content == b"x"


def test_a_completion_repeated_after_its_file_was_deleted_says_so(api):
    upload = api.post("/uploads", {"filename": "a", "purpose": "batch", "bytes": 1, "mime_type": "text/plain"})["id"]
    part = api.send("POST", f"/uploads/{upload}/parts", files={"data": ("x", b"x")}).json()["id"]
    done = api.post(f"/uploads/{upload}/complete", {"part_ids": [part]})
    again = api.post(f"/uploads/{upload}/complete", {"part_ids": [part], "md5": hashlib.md5(b"x").hexdigest()})
    assert again["file"]["id"] == done["file"]["id"]
    api.delete(f"/files/{done['file']['id']}")
    assert "deleted" in api.error("POST", f"/uploads/{upload}/complete", 410, json={"part_ids": [part]})["message"]


def test_a_second_completion_with_other_parts_is_refused(api):
    upload = api.post("/uploads", {"filename": "a", "purpose": "batch", "bytes": 2, "mime_type": "text/plain"})["id"]
    parts = [api.send("POST", f"/uploads/{upload}/parts", files={"data": ("x", piece)}).json()["id"] for piece in (b"x", b"y")]
    done = api.post(f"/uploads/{upload}/complete", {"part_ids": parts})
    assert api.error("POST", f"/uploads/{upload}/complete", 409, json={"part_ids": parts[::-1]})["param"] == "part_ids"
    assert api.error("POST", f"/uploads/{upload}/complete", 409, json={"part_ids": parts, "md5": "0" * 32})["param"] == "md5"
    assert api.post(f"/uploads/{upload}/complete", {"part_ids": parts})["file"]["id"] == done["file"]["id"]


def test_objects_of_other_principals_are_404(server, api, container):
    root = {"Authorization": f"Bearer {ROOT_KEY}"}
    person = requests.post(f"{server.url}/api/v1/principals", json={"name": f"stranger {container}"}, headers=root, timeout=30).json()
    key = requests.post(f"{server.url}/api/v1/keys", json={"name": "k", "principal_id": person["id"]}, headers=root, timeout=30).json()["secret"]
    stranger = Api(server, key=key)
    file = api.put(container, "secret.txt", b"x")
    upload = api.post("/uploads", {"filename": "a", "purpose": "batch", "bytes": 1, "mime_type": "text/plain"})["id"]
    own = stranger.container()
    for method, path in [("GET", f"/containers/{container}"), ("GET", f"/containers/{container}/files"), ("DELETE", f"/containers/{container}"),
                         ("GET", f"/containers/{container}/files/{file['id']}/content"), ("GET", f"/files/file-{file['id'][6:]}"),
                         ("GET", f"/files/file-{file['id'][6:]}/content"), ("DELETE", f"/files/file-{file['id'][6:]}"),
                         ("GET", f"/containers/{own}/files/{file['id']}"), ("POST", f"/uploads/{upload}/cancel")]:
        stranger.error(method, path, 404)
    stranger.error("POST", f"/containers/{own}/files", 404, json={"file_id": file["id"]})
    assert stranger.get("/containers").json()["data"][0]["id"] == own
    assert stranger.get("/files").json()["data"] == []


def test_ranges_and_conditions_are_answered(api, container):
    file = api.put(container, "letters.txt", b"abcdefghij")
    for path in (f"/containers/{container}/files/{file['id']}/content", f"/files/file-{file['id'][6:]}/content"):
        part = api.get(path, 206, headers={"Range": "bytes=2-4"})
        assert (part.content, part.headers["Content-Range"]) == (b"cde", "bytes 2-4/10")
        assert api.get(path, 206, headers={"Range": "bytes=-3"}).content == b"hij"
        beyond = api.send("GET", path, 416, headers={"Range": "bytes=10-"})
        assert (beyond.headers["Content-Range"], beyond.json()["error"]["code"]) == ("bytes */10", "range_not_satisfiable")
        assert api.get(path, 304, headers={"If-None-Match": part.headers["ETag"]}).content == b""
        assert api.send("HEAD", path).headers["Content-Length"] == "10"


def test_a_purged_file_is_gone_under_every_id_and_says_when(server, api, container):
    file = api.put(container, "a.txt", b"x")
    api.send("DELETE", f"/containers/{container}/files/{file['id']}")
    assert api.get(file["link"]).text == "x", "its permanent link serves until the owner purges it"
    other = api.put(container, "b.txt", b"y")
    api.exec(container, "import os; os.remove('b.txt')")
    root = f"{server.url}/api/v1/workspaces/default/trash"
    mine = {item["path"].split("/")[-1]: item["id"] for item in api.get(f"{root}?limit=100").json()["items"]
            if item["path"].endswith((f"{container[-8:]}/a.txt", f"{container[-8:]}/b.txt"))}
    for item in mine.values():
        api.send("DELETE", f"{root}/{item}")
    for path in (f"/containers/{container}/files/{other['id']}", f"/files/{other['id']}/content"):
        assert "purged at 2" in api.error("GET", path, 410)["message"]
    assert [api.get(link, 410).json()["error"]["code"] for link in (file["link"], other["link"])] == ["gone", "gone"]


def test_bodies_that_are_no_json_are_refused(api, container):
    for body in (b"{", b"[]", b"\xff", b"null", json.dumps("x").encode(), b"[" * 100_000):
        for path in ("/containers", "/uploads", f"/containers/{container}/exec", f"/containers/{container}/files"):
            api.error("POST", path, 400, data=body, headers={"Content-Type": "application/json"})
