"""Locks hold for other people's clients, too: what one of them writes or deletes needs the token, which can go in a header. The ways of our own API are in
tests/e2e/test_lock_ways.py."""

import pathlib
import sys

import pytest
import requests

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "openai"), str(HERE / "mcp"), str(HERE / "azure")]

from http_api import Api  # noqa: E402
from mcp_http import Plain  # noqa: E402
from pool import POOL  # noqa: E402
from sandkeep_server import ROOT_KEY  # noqa: E402

ROOT = {"Authorization": f"Bearer {ROOT_KEY}"}
WS = "/api/v1/workspaces/default"


class Keep:
    """The workspace that all of them share, as its owner sees it."""

    def __init__(self, server):
        self.url = server.url + WS
        self.openai = Api(server)
        self.server = server

    def call(self, method, path, expect, **options):
        answer = requests.request(method, self.url + path, headers=ROOT, timeout=60, **options)
        assert answer.status_code == expect, answer.text
        return answer.json() if answer.content else None

    def entries(self):
        found, cursor = [], {}
        while cursor is not None:
            page = self.call("GET", "/list", 200, params={"recursive": "true", **cursor})
            found += page["items"]
            cursor = {"cursor": page["next_cursor"]} if page["has_more"] else None
        return found

    def head(self):
        """The journal, without what is said of locks and of sessions themselves."""
        events, after = [], "0"
        while True:
            page = self.call("GET", "/events", 200, params={"after": after, "limit": 1000})
            events += [e for e in page["items"] if not e["kind"].startswith(("lock.", "session."))]
            if not page["items"]:
                return events
            after = page["cursor"]

    def path_of(self, id_):
        """Of a file, by the id that another dialect gave its newest version."""
        return next(e["path"] for e in self.entries() if e["version_id"] == "v_" + id_.rpartition("-" if id_.startswith("file-") else "_")[2])

    def lock(self, path):
        return self.call("POST", "/locks", 201, json={"path": path, "purpose": "testing"})

    def release(self, lock):
        self.call("POST", "/locks/release", 204, json={"token": lock["token"]})

    def send(self, method, path, headers, **options):
        return requests.request(method, self.server.url + path, headers={**ROOT, **headers}, timeout=120, **options)


# Each: what it makes first, as (path of the lock, call with headers).


def openai_put(keep):
    container = keep.openai.container()
    path = keep.path_of(keep.openai.put(container, "a.txt", b"1")["id"])
    return path, lambda h: keep.send("POST", f"/v1/containers/{container}/files", h, files={"file": ("a.txt", b"2")})


def openai_put_new(keep):
    container = keep.openai.container()
    path = keep.path_of(keep.openai.put(container, "a.txt", b"1")["id"]).replace("a.txt", "new.txt")
    return path, lambda h: keep.send("POST", f"/v1/containers/{container}/files", h, files={"file": ("new.txt", b"2")})


def openai_copy(keep):
    container = keep.openai.container()
    given = keep.openai.give("given.txt", b"1")["id"]
    folder = keep.path_of(keep.openai.put(container, "a.txt", b"1")["id"]).rpartition("/")[0]
    return folder, lambda h: keep.send("POST", f"/v1/containers/{container}/files", h, json={"file_id": given})


def openai_delete(keep):
    container = keep.openai.container()
    file = keep.openai.put(container, "a.txt", b"1")["id"]
    return keep.path_of(file), lambda h: keep.send("DELETE", f"/v1/containers/{container}/files/{file}", h)


def openai_delete_old(keep):
    """An id of an older version: the file stays, and is locked all the same."""
    container = keep.openai.container()
    file = keep.openai.put(container, "a.txt", b"1")["id"]
    path = keep.path_of(keep.openai.put(container, "a.txt", b"2")["id"])
    return path, lambda h: keep.send("DELETE", f"/v1/files/file-{file.rpartition('_')[2]}", h)


def openai_file(keep):
    return "uploads", lambda h: keep.send("POST", "/v1/files", h, files={"file": ("a.txt", b"1")}, data={"purpose": "user_data"})


def openai_file_delete(keep):
    file = keep.openai.give("given.txt", b"1")["id"]
    return keep.path_of(file), lambda h: keep.send("DELETE", f"/v1/files/{file}", h)


def openai_upload(keep):
    upload = keep.openai.post("/uploads", {"filename": "a.bin", "purpose": "user_data", "bytes": 3, "mime_type": "text/plain"})["id"]
    part = keep.openai.send("POST", f"/uploads/{upload}/parts", files={"data": ("p", b"abc")}).json()["id"]
    return "uploads", lambda h: keep.send("POST", f"/v1/uploads/{upload}/complete", h, json={"part_ids": [part]})


def azure_session(keep, name):
    made = keep.send("POST", f"{POOL}/files/upload?identifier={name}", {}, files=[("file", ("a.txt", b"1"))])
    assert made.status_code == 200, made.text
    return next(e["path"] for e in keep.entries() if e["path"].endswith("/a.txt") and name in e["path"])


def azure_put(keep):
    path = azure_session(keep, "locks-one")
    return path, lambda h: keep.send("POST", f"{POOL}/files/upload?identifier=locks-one", h, files=[("file", ("a.txt", b"2"))])


def azure_delete(keep):
    path = azure_session(keep, "locks-two")
    return path, lambda h: keep.send("DELETE", f"{POOL}/files/a.txt?identifier=locks-two", h)


def librechat_upload(keep):
    return "sessions", lambda h: keep.send("POST", "/librechat/v1/upload", h, files=[("kind", (None, "user")), ("id", (None, "u")), ("file", ("a.txt", b"1"))])


def librechat_delete(keep):
    before = {e["path"] for e in keep.entries()}
    made = keep.send("POST", "/librechat/v1/upload", {}, files=[("kind", (None, "user")), ("id", (None, "u")), ("file", ("a.txt", b"1"))]).json()
    path = next(e["path"] for e in keep.entries() if e["path"] not in before and e["path"].endswith("/a.txt"))
    return path, lambda h: keep.send("DELETE", f"/librechat/v1/files/{made['storage_session_id']}/{made['files'][0]['fileId']}", h, params={"kind": "user", "id": "u"})


WAYS = [openai_put, openai_put_new, openai_copy, openai_delete, openai_delete_old, openai_file, openai_file_delete, openai_upload,
        azure_put, azure_delete, librechat_upload, librechat_delete]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_client_of_another_dialect_needs_the_token(server, way):
    keep = Keep(server)
    path, call = way(keep)
    before = keep.entries(), keep.head()
    first = keep.lock(path)
    keep.release(first)
    held = keep.lock(path)
    try:
        refused = call({})
        assert refused.status_code == 423 and "admin" in refused.text and held["expires_at"] in refused.text, refused.text
        stale = call({"X-Sandkeep-Lock": held["token"], "X-Sandkeep-Fence": str(first["fence"])})
        assert stale.status_code == 412, stale.text
        assert (keep.entries(), keep.head()) == before
        done = call({"X-Sandkeep-Lock": held["token"], "X-Sandkeep-Fence": str(held["fence"])})
        assert done.status_code in (200, 201, 204), done.text
    finally:
        keep.release(held)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_no_precondition_is_ignored_in_another_dialect(server, way):
    """It is checked, or the call says that it does not support it; nothing is changed either way."""
    keep = Keep(server)
    _, call = way(keep)
    before = keep.entries(), keep.head()
    conditions = [{"If-Match": f'"v_{"1" * 32}"'}]
    if way not in (openai_put_new, openai_copy):  # what does not exist yet was not modified
        conditions.append({"If-Unmodified-Since": "Mon, 01 Jan 2001 00:00:00 GMT"})
    for condition in conditions:
        refused = call(condition)
        assert refused.status_code in (400, 412), (condition, refused.status_code, refused.text)
    assert (keep.entries(), keep.head()) == before


@pytest.fixture
def model(server):
    client = Plain(server)
    client.begin()
    return client


def trashed(model, name):
    model.works("delete_file", path=f"mcp-locks/{name}", confirm=True)


# Name of the tool, the lock, its arguments; what has to be done before.
TOOLS = [
    ("write_file", "mcp-locks/a", {"path": "mcp-locks/a", "text": "new"}, None),
    ("write_file", "mcp-locks/n", {"path": "mcp-locks/n/o/p", "text": "new"}, None),
    ("edit_file", "mcp-locks/a", {"path": "mcp-locks/a", "edits": [{"old": "first", "new": "second"}]}, None),
    ("move_file", "mcp-locks/a", {"from": "mcp-locks/a", "to": "mcp-locks/z"}, None),
    ("move_file", "mcp-locks/q/a", {"from": "mcp-locks", "to": "mcp-other"}, None),
    ("copy_file", "mcp-locks/c (2)", {"from": "mcp-locks/a", "to": "mcp-locks/c", "on_existing": "rename"}, None),
    ("delete_file", "mcp-locks/a", {"path": "mcp-locks/a", "confirm": True}, None),
    ("restore", "mcp-locks/b", {"path": "mcp-locks/b"}, "b"),
]


@pytest.mark.parametrize("tool, path, arguments, gone", TOOLS, ids=[f"{tool} {path}" for tool, path, _, _ in TOOLS])
def test_a_tool_needs_the_token(server, model, tool, path, arguments, gone):
    keep = Keep(server)
    for name in ("a", "b", "c"):
        model.works("write_file", path=f"mcp-locks/{name}", text="first")
    if gone:
        trashed(model, gone)
    before = keep.entries(), keep.head()
    lock = keep.lock(path)
    try:
        refused = model.tool(tool, **arguments)
        assert refused["isError"] and "admin" in str(refused) and lock["expires_at"] in str(refused), refused
        assert (keep.entries(), keep.head()) == before
        model.works(tool, **arguments, lock_token=lock["token"])
    finally:
        keep.release(lock)
        for folder in ("mcp-locks", "mcp-other"):
            requests.delete(f"{keep.url}/files/{folder}", headers=ROOT, timeout=60)
