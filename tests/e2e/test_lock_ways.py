"""Every way in, against every lock that covers what it touches: without the token nothing happens, with it everything does.

The ways of other people's clients are in tests/clients/test_locks_across_dialects.py.
"""

import itertools
import json
import time

import pytest

from rest_client import Client
from test_rest_page import Browser

_names = itertools.count(1)


class Way:
    """A call that writes. `prepare(ws)` makes what it needs and returns what `call(ws, made, **options)` is told; `locks` are those that stand in
    its way, by what they are on: (path, deep)."""

    def __init__(self, name, call, locks, prepare=lambda ws: None, success=(200, 201, 204)):
        self.name, self.call, self.locks, self.prepare, self.success = name, call, locks, prepare, success


def covering(path, *, implied=(), membership=True, landing=False):
    """The locks that cover a change at `path`. `membership`: it comes or goes; `landing`: it is put there; `implied`: folders that are made for it."""
    folder = path.rpartition("/")[0]
    locks = {"the path": (path, False), "the path, deep": (path, True), "the workspace": ("", True)}
    if folder:
        locks["a folder above"] = (folder, True)
    if membership and not implied:
        locks["the folder, not deep"] = (folder, False)
    if landing:
        locks["something below"] = (path + "/below", True)
    for made in implied:
        locks[f"{made}, which is made"] = (made, False)
        locks[f"the folder of {made}, not deep"] = (made.rpartition("/")[0], False)
    return locks


def post(act, **body):
    return lambda ws, made, **options: ws.client.post(f"{ws.root}/{act}", json=body, **options)


def change(**body):
    """One change in a batch, behind one that touches nothing locked."""
    changes = [{"op": "put", "path": "elsewhere/innocent", "content": "x"}, body]
    return lambda ws, made, **options: ws.client.post(f"{ws.root}/batch", json={"changes": changes}, **options)


def put(path):
    return lambda ws, made, **options: ws.client.put(ws.file(path), data=b"new", **options)


def delete(path):
    return lambda ws, made, **options: ws.client.delete(ws.file(path), **options)


def restore(**body):
    return lambda ws, made, **options: ws.client.post(f"{ws.root}/trash/{made}/restore", json=body, **options)


def trashed(path, *also):
    def prepare(ws):
        for one in also:
            ws.put(one)
        return ws.client.delete(ws.file(path), 200).json()["id"]
    return prepare


def old_version(ws):
    return ws.versions("d/e/a.txt")[-1]["id"]


def moved_away(ws):
    """A file that has left its folder since a time."""
    ws.put("old/x", b"x")
    then = ws.client.get(f"{ws.root}/events", 200, params={"limit": 1000}).json()["items"][-1]["time"]
    ws.put("tick", b"x")
    ws.post("move", 200, **{"from": "old/x", "to": "new/x"})
    return then


def as_of(folder):
    return lambda ws, made, **options: ws.client.post(f"{ws.root}/restore-as-of", json={"time": made, "folder": folder}, **options)


def without(locks, *names):
    return {name: lock for name, lock in locks.items() if name not in names}


A = "d/e/a.txt"
NEW = "d/e/new.txt"
FAR = "d/n/o/new.txt"
INTO_FAR = covering(FAR, landing=True, implied=["d/n", "d/n/o"])
INTO_NEW = covering(NEW, landing=True)
CONTENT = covering(A, membership=False)
OUT = covering(A)
# A folder is touched with all that is in it.
FOLDER_OUT = {**covering("t"), "a file in it": ("t/x", True), "what is not in it yet": ("t/later", False)}
FOLDER_IN = {**covering("d/q", landing=True), "what it brings": ("d/q/x", True)}

WAYS = [
    Way("put: a new file", put(NEW), INTO_NEW),
    Way("put: a new version", put(A), CONTENT),
    Way("put: in folders that are not there", put(FAR), INTO_FAR),
    Way("put: a folder", lambda ws, made, **o: ws.client.put(ws.file("d/e/f/"), **o), covering("d/e/f")),
    Way("put: by pieces", lambda ws, made, **o: ws.client.put(ws.file(NEW), data=iter([b"a", b"b"]), **o), INTO_NEW),
    Way("post: a form", lambda ws, made, **o: ws.client.post(ws.file("d/e"), files={"f": ("new.txt", b"x")}, **o), INTO_NEW),
    Way("post: two files, one of them locked", lambda ws, made, **o: ws.client.post(
        f"{ws.root}/files/", files=[("f", ("free.txt", b"x")), ("g", (A, b"y"))], **o), without(CONTENT, "the workspace")),
    Way("blob", lambda ws, made, **o: ws.client.post(f"/blob?workspace={ws.id}&folder=d/e&name=new.txt", data=b"x", **o), INTO_NEW),
    Way("blob: a form", lambda ws, made, **o: ws.client.post(f"/blob?workspace={ws.id}&folder=d/n/o", files={"file": ("new.txt", b"x")}, **o), INTO_FAR),
    Way("mkdir", post("mkdir", path="d/e/f"), covering("d/e/f")),
    Way("mkdir: in folders that are not there", post("mkdir", path="d/n/o/p"), covering("d/n/o/p", implied=["d/n", "d/n/o"])),
    Way("move: a file, from", post("move", **{"from": A, "to": "free"}), OUT),
    Way("move: a file, to", post("move", **{"from": "y.txt", "to": FAR}), INTO_FAR),
    Way("move: a file onto another", post("move", **{"from": "y.txt", "to": A, "on_existing": "replace"}), OUT),
    Way("move: a file beside another", post("move", **{"from": "y.txt", "to": A, "on_existing": "rename"}), covering("d/e/a (2).txt", landing=True)),
    Way("move: a folder, from", post("move", **{"from": "t", "to": "free"}), FOLDER_OUT),
    Way("move: a folder, to", post("move", **{"from": "t", "to": "d/q"}), FOLDER_IN),
    Way("move: a folder beside another", post("move", **{"from": "t", "to": "d/e", "on_existing": "rename"}),
        {**covering("d/e (2)", landing=True), "what it brings": ("d/e (2)/x", True)}),
    Way("copy: a file", post("copy", **{"from": "y.txt", "to": FAR}), INTO_FAR),
    Way("copy: a file onto another", post("copy", **{"from": "y.txt", "to": A, "on_existing": "replace"}), CONTENT),
    Way("copy: a file beside another", post("copy", **{"from": "y.txt", "to": A, "on_existing": "rename"}), covering("d/e/a (2).txt", landing=True)),
    Way("copy: a folder", post("copy", **{"from": "t", "to": "d/q"}), FOLDER_IN),
    Way("copy: a folder onto another", post("copy", **{"from": "t", "to": "d/e", "on_existing": "replace"}),
        {**covering("d/e", landing=True), "a file that goes": (A, True)}),
    Way("delete: a file", delete(A), OUT),
    Way("delete: a folder", delete("t"), FOLDER_OUT),
    Way("restore-version", lambda ws, made, **o: ws.client.post(f"{ws.root}/restore-version", json={"version_id": made}, **o), CONTENT, old_version),
    Way("patch", lambda ws, made, **o: ws.client.patch(ws.file(A), json={"mode": "0600"}, **o), CONTENT),
    Way("patch: a folder", lambda ws, made, **o: ws.client.patch(ws.file("d/e"), json={"mode": "0700"}, **o), covering("d/e", membership=False)),
    Way("restore: a file", restore(), covering(A, landing=True), trashed(A)),
    Way("restore: a file to folders that are not there", restore(to=FAR), INTO_FAR, trashed(A)),
    Way("restore: a file beside another", restore(to="d/e/b.txt", on_existing="rename"), covering("d/e/b (2).txt", landing=True), trashed(A, "d/e/b.txt")),
    Way("restore: a file onto another", restore(to="d/e/b.txt", on_existing="replace"), covering("d/e/b.txt"), trashed(A, "d/e/b.txt")),
    Way("restore: a folder", restore(to="d/q"), FOLDER_IN, trashed("t")),
    Way("restore-as-of: into", as_of("old"), {**covering("old"), "its place": ("old/x", True)}, moved_away),
    Way("restore-as-of: out of", as_of("old"), covering("new/x"), moved_away),
    Way("purge: one version", lambda ws, made, **o: ws.client.delete(f"{ws.root}/version/{made}", **o), CONTENT, old_version),
    Way("workspace to the trash", lambda ws, made, **o: ws.client.delete(ws.root, **o), {"the workspace": ("", False), "a file": (A, True), "nothing yet": ("x/y", False)}),
    Way("batch: put", change(op="put", path=FAR, content="x"), without(INTO_FAR, "the workspace")),
    Way("batch: mkdir", change(op="mkdir", path="d/e/f"), without(covering("d/e/f"), "the workspace")),
    Way("batch: move", change(op="move", **{"from": "t", "to": "d/q"}), without(FOLDER_IN, "the workspace")),
    Way("batch: copy", change(op="copy", **{"from": "t", "to": "d/q"}), without(FOLDER_IN, "the workspace")),
    Way("batch: trash", change(op="trash", path="t"), without(FOLDER_OUT, "the workspace", "the folder, not deep")),
    Way("batch: set", change(op="set", path=A, mode="0600"), without(CONTENT, "the workspace")),
]

CASES = [pytest.param(way, lock, id=f"{way.name} | {where}") for way in WAYS for where, lock in way.locks.items()]


@pytest.fixture(scope="module")
def friend(server):
    """Somebody else who owns the workspaces, too."""
    return Client(server).make_principal(f"lock-ways-{next(_names)}")


@pytest.fixture
def tree(ws, friend):
    """A small tree, with somebody else's view of it."""
    principal, client = friend
    ws.client.put(f"{ws.root}/members/{principal}", 200, json={"role": "own"})
    ws.post("batch", 200, changes=[{"op": "put", "path": path, "content": path} for path in ("y.txt", A, "t/x", "t/s/z")])
    ws.put(A, b"second")
    return ws, ws.seen_by(client)


def state(ws):
    """All that a write could change."""
    entries = ws.client.get(f"{ws.root}/list", 200, params={"recursive": "true"}).json()["items"]
    trash = ws.client.get(f"{ws.root}/trash", 200).json()["items"]
    versions = ws.versions(A) if any(entry["path"] == A for entry in entries) else []
    return json.dumps([entries, trash, versions]), [e for e in ws.events(limit=1000)["items"] if not e["kind"].startswith("lock.")]


def release(ws, lock):
    ws.client.post(f"{ws.root}/locks/release", 204, json={"token": lock["token"]})


@pytest.mark.parametrize("way, lock", CASES)
def test_a_write_needs_the_token_and_a_fence_that_is_not_stale(tree, way, lock):
    ws, other = tree
    path, deep = lock
    made = way.prepare(ws)
    before = state(ws)
    first = ws.lock(path, deep=deep)
    release(ws, first)
    held = ws.lock(path, deep=deep, purpose="testing")
    for asking in (other, ws):  # also the holder's other programs
        refused = way.call(asking, made)
        assert refused.status_code == 423, refused.text
        error = refused.json()["error"]
        assert (error["code"], error["holder"], error["expires_at"], error["purpose"]) == ("locked", "admin", held["expires_at"], "testing")
    assert state(ws) == before
    old = {"X-Sandkeep-Fence": str(first["fence"])}
    stale = way.call(other, made, headers={"X-Sandkeep-Lock": held["token"], **old})
    assert stale.status_code == 412 and stale.json()["error"]["current_fence"] == held["fence"], stale.text
    gone = way.call(other, made, headers={"X-Sandkeep-Lock": first["token"]})
    assert gone.status_code == 412, gone.text
    release(ws, held)
    late = way.call(other, made, headers=old)
    assert late.status_code == 412 and late.json()["error"]["current_fence"] == held["fence"], late.text
    assert state(ws) == before
    last = ws.lock(path, deep=deep)
    done = way.call(other, made, headers={"X-Sandkeep-Lock": last["token"], "X-Sandkeep-Fence": str(last["fence"])})
    assert done.status_code in way.success, done.text


@pytest.mark.parametrize("way, lock", [pytest.param(way, ("d/e", False), id=way.name) for way in WAYS if way.locks in (CONTENT,)])
def test_a_lock_on_a_folder_that_is_not_deep_leaves_what_is_in_its_files_alone(tree, way, lock):
    ws, other = tree
    made = way.prepare(ws)
    ws.lock(lock[0], deep=lock[1])
    done = way.call(other, made)
    assert done.status_code in way.success, done.text


def test_a_lock_does_not_cover_the_path_beside_it(tree):
    ws, other = tree
    ws.lock("m/locked")
    other.post("mkdir", 201, path="m")
    other.put("m/free", b"x", 201)
    other.client.error("PUT", ws.file("m/locked"), 423, "locked", data=b"x")


def test_purging_what_is_in_the_trash_is_not_held_up_by_the_path_that_it_had(tree):
    ws, other = tree
    file = ws.client.delete(ws.file(A), 200).json()["id"]
    ws.lock("d")
    other.client.delete(f"{ws.root}/trash/{file}", 200)


# Fences.


def fences_of(ws, path, **wanted):
    """Two locks that came and went; their numbers."""
    numbers = []
    for _ in range(2):
        lock = ws.lock(path, **wanted)
        release(ws, lock)
        numbers.append(lock["fence"])
    return numbers


@pytest.mark.parametrize("locked, touched", [("q", "q/x"), ("q/x", "q"), ("q/r/s", "q"), ("q/x/not/there", "q")])
def test_a_folder_cannot_be_deleted_or_moved_with_a_fence_older_than_one_inside(api, ws, locked, touched):
    ws.put("q/x", b"x")
    ws.put("q/r/s", b"x")
    old, new = fences_of(ws, locked)
    for act in (lambda n: api.delete(ws.file(touched), headers={"X-Sandkeep-Fence": str(n)}),
                lambda n: api.post(f"{ws.root}/move", json={"from": touched, "to": "m", "fence": n})):
        assert act(old).status_code == 412
        assert act(new).status_code == 200
        if ws.client.get(ws.file(touched)).status_code == 404 and "m" not in ws.paths():
            file = api.get(f"{ws.root}/trash", 200).json()["items"][0]["id"]
            api.post(f"{ws.root}/trash/{file}/restore", 200, json={})


def test_a_fence_of_a_folder_that_is_not_deep_covers_who_comes_into_it(api, ws):
    ws.post("mkdir", 201, path="g")
    old, new = fences_of(ws, "g", deep=False)
    for path in ("g/a", "g/sub/a"):
        api.error("PUT", ws.file(path), 412, "precondition_failed", data=b"x", headers={"X-Sandkeep-Fence": str(old)})
    ws.put("g/a", b"x", 201, X_Sandkeep_Fence=str(new))
    ws.put("g/a", b"y", 200, X_Sandkeep_Fence=str(old))  # its content was never locked


@pytest.mark.parametrize("deep", [False, True])
def test_fences_go_with_what_is_moved(api, ws, deep):
    ws.put("m", b"x")
    ws.put("f/s/x", b"x")
    old, new = fences_of(ws, "m", deep=deep)
    ws.post("move", 200, **{"from": "m", "to": "m2"})
    api.error("PUT", ws.file("m2"), 412, "precondition_failed", data=b"y", headers={"X-Sandkeep-Fence": str(old)})
    api.error("PUT", ws.file("m"), 412, "precondition_failed", data=b"y", headers={"X-Sandkeep-Fence": str(old)})
    ws.put("m2", b"y", 200, X_Sandkeep_Fence=str(new))
    inner, _ = fences_of(ws, "f/s/x", deep=deep)
    outer, last = fences_of(ws, "f")
    ws.post("move", 200, **{"from": "f/s", "to": "elsewhere/t"})
    for stale in (inner, outer):
        api.error("PUT", ws.file("elsewhere/t/x"), 412, "precondition_failed", data=b"y", headers={"X-Sandkeep-Fence": str(stale)})
        api.error("DELETE", ws.file("elsewhere"), 412, "precondition_failed", headers={"X-Sandkeep-Fence": str(stale)})
    ws.put("elsewhere/t/x", b"y", 200, X_Sandkeep_Fence=str(last))


def test_fences_go_through_the_trash(api, ws):
    ws.put("f/x", b"x")
    old, new = fences_of(ws, "f/x")
    file = api.delete(ws.file("f"), 200).json()["id"]
    api.post(f"{ws.root}/trash/{file}/restore", 200, json={"to": "back"})
    api.error("PUT", ws.file("back/x"), 412, "precondition_failed", data=b"y", headers={"X-Sandkeep-Fence": str(old)})
    ws.put("back/x", b"y", 200, X_Sandkeep_Fence=str(new))


def test_fences_go_with_what_comes_back_as_of_a_time(api, ws):
    then = moved_away(ws)
    old, new = fences_of(ws, "new/x")
    ws.post("restore-as-of", 200, time=then, folder="old")
    api.error("PUT", ws.file("old/x"), 412, "precondition_failed", data=b"y", headers={"X-Sandkeep-Fence": str(old)})
    ws.put("old/x", b"y", 200, X_Sandkeep_Fence=str(new))


# Conditions that were not looked at.


@pytest.mark.parametrize("name, value", [("If-Match", "*"), ("If-None-Match", "*"), ("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT")])
def test_a_condition_on_a_call_that_cannot_have_it_is_refused(api, ws, name, value):
    file = trashed("a", "a")(ws)
    ws.put("b", b"1")
    version = ws.put("b", b"2") and ws.versions("b")[-1]["id"]
    before = state(ws)
    calls = [("POST", f"{ws.root}/batch", {"changes": [{"op": "mkdir", "path": "x"}]}),
             ("POST", f"{ws.root}/restore-as-of", {"time": ws.entry("b")["created_at"]}),
             ("DELETE", f"{ws.root}/version/{version}", None), ("DELETE", f"{ws.root}/trash/{file}", None), ("DELETE", f"{ws.root}/trash", None),
             ("DELETE", ws.root, None), ("PATCH", ws.root, {"name": "other"})]
    for method, path, body in calls:
        error = api.error(method, path, 400, "bad_request", json=body, headers={name: value})
        assert error["field"] == name
    assert state(ws) == before


def test_the_batch_says_where_conditions_go(api, ws):
    error = api.error("POST", f"{ws.root}/batch", 400, "bad_request", json={"changes": [{"op": "mkdir", "path": "x"}]}, headers={"If-None-Match": "*"})
    assert "each change" in error["hint"]


def test_many_files_at_once_take_tokens_and_fences_as_fields(api, ws):
    then = moved_away(ws)
    old, _ = fences_of(ws, "new")
    lock = ws.lock("new")
    body = {"time": then, "folder": "old"}
    api.error("POST", f"{ws.root}/restore-as-of", 412, "precondition_failed", json={**body, "lock_tokens": [lock["token"]], "fence": old})
    ws.post("restore-as-of", 200, **body, lock_tokens=[lock["token"]], fence=lock["fence"])
    assert ws.read("old/x") == b"x"


def test_what_comes_back_from_the_trash_honours_its_conditions(api, ws):
    head = ws.put("a", b"x")["version"]["id"]
    other = ws.put("b", b"x")["version"]["id"]
    file = trashed("a")(ws)
    path = f"{ws.root}/trash/{file}/restore"
    error = api.error("POST", path, 412, "precondition_failed", json={}, headers={"If-Match": f'"{other}"'})
    assert error["current_version_id"] == head
    api.error("POST", path, 412, "precondition_failed", json={"to": "b", "on_existing": "replace", "if_none_match": "*"})
    assert ws.read("b") == b"x"
    api.post(path, 200, json={"to": "c", "if_match": [head], "if_none_match": "*"})
    assert ws.read("c") == b"x"


def test_a_move_asks_its_source_for_the_version_and_its_target_to_be_free(api, ws):
    head = ws.put("a", b"a")["version"]["id"]
    taken = ws.put("b", b"b")["version"]["id"]
    for more in ({"on_existing": "replace"}, {"on_existing": "rename"}, {}):
        error = api.error("POST", f"{ws.root}/move", 412, "precondition_failed", json={"from": "a", "to": "b", "if_none_match": "*", **more})
        assert error["current_version_id"] == taken and error["path"] == "b"
    error = api.error("POST", f"{ws.root}/move", 412, "precondition_failed", json={"from": "a", "to": "c", "if_match": [taken]})
    assert error["current_version_id"] == head and error["path"] == "a"
    ws.post("move", 200, **{"from": "a", "to": "c", "if_match": [head], "if_none_match": "*"})
    assert ws.paths() == ["b", "c"] and ws.read("c") == b"a"


@pytest.mark.parametrize("tag", ['"abc"', 'W/"abc"', "latest", '"v_1"', '"5d41402abc4b2a76b9719d911017c592", "x"'])
def test_a_tag_from_elsewhere_is_412_as_for_reading(api, ws, tag):
    head = ws.put("a", b"x")["version"]["id"]
    assert api.get(ws.file("a"), headers={"If-Match": tag}).status_code == 412
    error = api.error("PUT", ws.file("a"), 412, "precondition_failed", data=b"y", headers={"If-Match": tag})
    assert error["current_version_id"] == head
    api.error("PUT", ws.file("new"), 412, "precondition_failed", data=b"y", headers={"If-Match": tag})
    ws.post("mkdir", 201, path="d")
    api.error("DELETE", ws.file("d"), 412, "precondition_failed", headers={"If-Match": tag})
    assert ws.paths() == ["a", "d"] and ws.read("a") == b"x"
    ws.put("a", b"y", 200, If_Match=f'{tag}, "{head}"')


def test_a_write_can_ask_that_nothing_was_changed_since_a_date(api, ws):
    ws.put("a", b"1")
    seen = api.get(ws.file("a"), 200).headers["Last-Modified"]
    # The next write must have another date, and dates have whole seconds.
    while api.get(ws.file("a"), 200).headers["Last-Modified"] == seen:
        time.sleep(0.2)
        ws.put("a", str(time.time()).encode())
    head = ws.entry("a")["version_id"]
    for write in (lambda **o: api.put(ws.file("a"), data=b"late", **o), lambda **o: api.delete(ws.file("a"), **o),
                  lambda **o: api.post(f"{ws.root}/move", json={"from": "a", "to": "b"}, **o),
                  lambda **o: api.patch(ws.file("a"), json={"mode": "0600"}, **o)):
        refused = write(headers={"If-Unmodified-Since": seen})
        assert refused.status_code == 412 and refused.json()["error"]["current_version_id"] == head, refused.text
    now = api.get(ws.file("a"), 200).headers["Last-Modified"]
    # An attribute is not what readers are told the date of.
    api.patch(ws.file("a"), 200, json={"mode": "0600"})
    ws.put("a", b"in time", 200, If_Unmodified_Since=now)
    # The tag is more exact, and counts alone.
    ws.put("a", b"by tag", 200, If_Unmodified_Since=seen, If_Match=f'"{ws.entry("a")["version_id"]}"')
    ws.put("new", b"x", 201, If_Unmodified_Since=seen)


def test_the_page_says_who_holds_a_lock(server, ws):
    ws.put("a", b"x")
    ws.lock("a")
    browser = Browser(server)
    browser.sign_in()
    answer = browser.submit(f"/page/trash/{ws.name}/a", 423)
    assert "admin" in answer.text and ws.paths() == ["a"]
