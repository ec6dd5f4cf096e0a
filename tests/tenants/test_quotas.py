"""What one tenant keeps: rows and bytes without end are refused with the figures, and removing always works."""

import itertools
import sqlite3

import pytest

from rest_client import Client
from sessions_client import wait_for

_numbers = itertools.count(1)
# Above a full quota of a workspace or a principal, so much is left for records, and not for contents.
FREE = 1 << 20


def tenant(server, **limits):
    """A client of a new principal with these limits, and its id."""
    root = Client(server)
    principal, client = root.make_principal(f"tenant-{next(_numbers)}")
    if limits:
        changed = root.send("PATCH", f"/api/v1/principals/{principal}", 200, json={"limits": limits}).json()
        assert {name: changed["limits"][name] for name in limits} == limits
    return client, principal


def usage(client, workspace=None):
    return client.send("GET", f"/api/v1/workspaces/{workspace}/usage" if workspace else "/api/v1/usage", 200).json()


def store(client, message, text, expect=None):
    return client.send("PUT", f"/api/v1/conversations/chat/messages/{message}", expect, json={"text": text})


def until_refused(action, most):
    """Repeats the action until it is refused for a quota; returns the error and how often it worked before."""
    for number in range(most):
        answer = action(number)
        if answer.status_code == 507:
            error = answer.json()["error"]
            assert error["code"] == "quota_exceeded", error
            return error, number
        assert answer.ok, answer.text
    raise AssertionError(f"{most} worked")


def test_workspaces_without_end_are_refused_with_limit_and_figure(make_server):
    server = make_server("--workspaces-per-principal-max", "5")
    greedy, _ = tenant(server)
    other, _ = tenant(server)

    def create_and_trash(number):
        answer = greedy.send("POST", "/api/v1/workspaces", json={"name": f"w{number}"})
        if answer.ok:
            greedy.send("DELETE", f"/api/v1/workspaces/w{number}", 204)
        return answer

    error, made = until_refused(create_and_trash, 10)
    assert made == 4 and (error["count"], error["limit"]) == (5, 5), error
    assert usage(greedy)["workspaces"] == {"count": 5, "in_trash": 4, "max": 5}
    other.send("POST", "/api/v1/workspaces", 201, json={"name": "mine"})
    greedy.send("POST", "/api/v1/workspaces/w1/restore", 200, json={})


def test_keys_without_end_are_refused_and_revoked_ones_are_forgotten(make_server):
    server = make_server("--keys-per-principal-max", "4")
    greedy, _ = tenant(server)
    error, _ = until_refused(lambda number: greedy.send("POST", "/api/v1/keys", json={"name": f"k{number}"}), 10)
    assert (error["count"], error["limit"]) == (4, 4), error
    for _ in range(20):
        valid = [key for key in greedy.send("GET", "/api/v1/keys", 200).json()["items"] if key["revoked_at"] is None and key["name"].startswith("k")]
        greedy.send("DELETE", f"/api/v1/keys/{valid[0]['id']}", 204)
        greedy.send("POST", "/api/v1/keys", 201, json={"name": "k-again"})
    assert len(greedy.send("GET", "/api/v1/keys", 200).json()["items"]) <= 8


def test_sessions_without_end_are_refused_until_one_is_deleted(make_user_server):
    server = make_user_server("--sessions-kept-per-principal-max", "3")
    greedy, _ = tenant(server)
    error, made = until_refused(lambda number: greedy.send("POST", "/api/v1/sessions", json={"name": f"s{number}"}), 10)
    assert made == 3 and (error["count"], error["limit"]) == (3, 3), error
    first = greedy.send("GET", "/api/v1/sessions", 200).json()["items"][0]
    greedy.send("DELETE", f"/api/v1/sessions/{first['id']}")
    greedy.send("POST", "/api/v1/sessions", 201, json={"name": "again"})


def test_a_principal_may_run_as_many_sessions_as_an_administrator_set(make_user_server):
    server = make_user_server()
    greedy, _ = tenant(server, sessions_max=1)
    session = [greedy.send("POST", "/api/v1/sessions", 201, json={"name": f"s{number}"}).json()["id"] for number in range(2)]
    for one in session * 2:
        ran = greedy.send("POST", f"/api/v1/sessions/{one}/executions", json={"code": "1+1"})
        assert ran.ok, ran.text
        # The other one may still be ending.
        wait_for(lambda: [item["status"] for item in greedy.send("GET", "/api/v1/sessions", 200).json()["items"]].count("running") == 1)


def test_messages_without_end_fill_the_quota_and_can_be_deleted(make_server):
    server = make_server()
    greedy, _ = tenant(server, quota_bytes=3_000_000)
    other, _ = tenant(server)
    error, stored = until_refused(lambda number: store(greedy, number, "x" * 500_000), 10)
    assert stored == 8 and error["quota_of"] == "principal" and error["quota_bytes"] == 3_000_000, error
    mine = usage(greedy)
    assert mine["messages"]["count"] == 8 and 4_000_000 < mine["messages"]["bytes"] <= mine["bytes"] <= mine["quota_bytes"] + FREE
    store(other, 1, "x" * 500_000, 200)
    greedy.send("DELETE", "/api/v1/conversations/chat", 204)
    assert usage(greedy)["messages"] == {"bytes": 0, "count": 0}
    store(greedy, 1, "x" * 500_000, 200)


def test_messages_count_for_the_quota_of_their_workspace(make_server):
    server = make_server("--quota-default-bytes", "1 MiB")
    greedy, _ = tenant(server)
    error, stored = until_refused(lambda number: store(greedy, number, "x" * 500_000), 10)
    assert stored == 6 and "quota_of" not in error, "one MiB of records is free, one is the quota, and one is left above it"
    assert greedy.send("PUT", "/api/v1/workspaces/default/files/a", data=b"a" * 200_000).status_code == 507
    for number in range(3):
        greedy.send("DELETE", f"/api/v1/conversations/chat/messages/{number}", 204)
    greedy.send("PUT", "/api/v1/workspaces/default/files/a", 201, data=b"a" * 200_000)


def test_outputs_count_and_end_with_the_quota(make_user_server):
    server = make_user_server()
    greedy, _ = tenant(server, quota_bytes=2_000_000)
    session = greedy.send("POST", "/api/v1/sessions", 201, json={"name": "s"}).json()["id"]

    def run(number):
        return greedy.send("POST", f"/api/v1/sessions/{session}/executions", json={"code": f"print('x' * 500_000) #{number}"})

    error, ran = until_refused(run, 10)
    assert 6 <= ran <= 7 and error["quota_of"] == "principal", error
    seen = usage(greedy, "default")["executions"]
    assert seen["count"] == ran and seen["bytes"] > ran * 500_000, seen
    greedy.send("DELETE", f"/api/v1/sessions/{session}")
    assert usage(greedy)["sessions_kept"]["count"] == 0
    # A deleted session's records still count, and are deleted by the owner of the workspace.
    assert greedy.send("POST", "/api/v1/sessions", json={"name": "again"}).status_code == 507
    deleted = greedy.send("DELETE", "/api/v1/workspaces/default/executions", 200).json()
    assert (deleted["executions"], deleted["sessions"], deleted["has_more"]) == (ran, 1, False) and deleted["bytes"] > ran * 500_000
    assert usage(greedy, "default")["executions"] == {"bytes": 0, "count": 0}
    session = greedy.send("POST", "/api/v1/sessions", 201, json={"name": "again"}).json()["id"]
    assert run(0).ok


def test_deleted_records_leave_the_files_and_the_session(make_user_server):
    server = make_user_server()
    client, _ = tenant(server)
    other, _ = tenant(server)
    session = client.send("POST", "/api/v1/sessions", 201, json={"name": "s", "folder": "s"}).json()["id"]
    executions = f"/api/v1/sessions/{session}/executions"
    first = client.send("POST", executions, 200, json={"code": "x = 40; open('a.txt', 'w').write('kept')"}).json()
    assert other.send("DELETE", "/api/v1/workspaces/default/executions", 200).json()["executions"] == 0, "of its own workspace"
    assert client.send("DELETE", "/api/v1/workspaces/default/executions?before=2020-01-01T00:00:00Z", 200).json()["executions"] == 0
    assert client.send("DELETE", f"/api/v1/workspaces/default/executions?session={session}", 200).json()["executions"] == 1
    client.send("GET", f"{executions}/{first['id']}", 404)
    version = client.send("GET", "/api/v1/workspaces/default/versions/s/a.txt", 200).json()["items"][0]
    assert version["source"]["execution_id"] == first["id"]
    second = client.send("POST", executions, 200, json={"code": "print(x + 2, open('a.txt').read())"}).json()
    assert second["outputs"][0]["text"] == "42 kept\n"
    assert [one["id"] for one in client.send("GET", executions, 200).json()["items"]] == [second["id"]]
    events = client.send("GET", "/api/v1/workspaces/default/events?kinds=executions.delete", 200).json()["items"]
    assert [event["facts"]["executions"] for event in events] == [1], events


def test_queued_executions_and_long_code_do_not_pass_the_quota(make_user_server):
    server = make_user_server()
    greedy, _ = tenant(server, quota_bytes=2_000_000)
    session = greedy.send("POST", "/api/v1/sessions", 201, json={"name": "s"}).json()["id"]
    executions = f"/api/v1/sessions/{session}/executions"
    too_long = greedy.send("POST", executions, json={"code": "#" + "x" * 3_100_000})
    assert too_long.status_code == 507 and too_long.json()["error"]["needed_bytes"] == 3_100_001, too_long.text
    codes = ["import time; time.sleep(2)"] + ["print('x' * 900_000)"] * 20
    queued = [greedy.send("POST", executions, json={"code": code, "wait": False}).json()["id"] for code in codes]
    ended = [wait_for(lambda one=one: (found := greedy.send("GET", f"{executions}/{one}", 200).json())["status"] == "done" and found) for one in queued]
    assert [one["end"] for one in ended[:2]] == ["ok", "ok"]
    assert ended[-1]["end"] == "error" and "no room is left" in ended[-1]["message"], ended[-1]
    assert usage(greedy)["bytes"] < 5_500_000


def test_what_a_session_writes_over_the_quota_of_its_owner_is_named_and_retried(make_user_server):
    server = make_user_server()
    greedy, principal = tenant(server, quota_bytes=1_000_000)
    session = greedy.send("POST", "/api/v1/sessions", 201, json={"name": "s"}).json()["id"]
    url = f"/api/v1/sessions/{session}/executions"
    ran = greedy.send("POST", url, json={"code": "import os; open('big', 'wb').write(os.urandom(3_000_000))"}).json()
    assert [(item["path"].split("/")[-1], item["reason"]) for item in ran["not_kept"]] == [("big", "quota")], ran
    Client(server).send("PATCH", f"/api/v1/principals/{principal}", 200, json={"limits": {"quota_bytes": None}})
    ran = greedy.send("POST", url, json={"code": "1"}).json()
    assert [item["path"].split("/")[-1] for item in ran["kept"]] == ["big"] and not ran["not_kept"], ran


def test_files_that_no_quota_counts_are_in_few_sessions_only(make_user_server):
    """What could not be kept stays in its session's folder on the disk; without end of sessions, that would be without end."""
    server = make_user_server()
    greedy, _ = tenant(server, quota_bytes=1_500_000, sessions_max=2)
    other, _ = tenant(server)
    sessions = [greedy.send("POST", "/api/v1/sessions", 201, json={"name": f"s{number}"}).json()["id"] for number in range(3)]

    def run(session, code):
        return greedy.send("POST", f"/api/v1/sessions/{session}/executions", json={"code": code})

    for session in sessions[:2]:
        assert run(session, "open('large', 'wb').write(bytes(range(256)) * 10_000)").json()["not_kept"]
        greedy.send("POST", f"/api/v1/sessions/{session}/sleep", 200)
    refused = run(sessions[2], "1+1")
    assert refused.status_code == 507 and (refused.json()["error"]["count"], refused.json()["error"]["limit"]) == (2, 2), refused.text
    mine = other.send("POST", "/api/v1/sessions", 201, json={"name": "s"}).json()["id"]
    assert other.send("POST", f"/api/v1/sessions/{mine}/executions", json={"code": "1+1"}).ok
    # One that holds such files runs, so that its code can remove them.
    assert run(sessions[0], "import os; os.remove('large')").ok
    assert run(sessions[2], "1+1").ok
    assert greedy.send("DELETE", f"/api/v1/sessions/{sessions[1]}?force=true").ok


@pytest.mark.parametrize("full", ["principal", "workspace"])
def test_over_the_quota_everything_can_be_removed(make_server, full):
    server = make_server()
    greedy, principal = tenant(server)
    files = "/api/v1/workspaces/default/files/"
    greedy.send("PUT", files + "a", 201, data=b"first")
    greedy.send("PUT", files + "a", 200, data=b"second")
    greedy.send("PUT", files + "b", 201, data=b"b")
    store(greedy, 1, "x" * 3_000_000, 200)
    lock = greedy.send("POST", "/api/v1/workspaces/default/locks", 201, json={"path": "b"}).json()
    key = greedy.send("POST", "/api/v1/keys", 201, json={"name": "k"}).json()["key"]
    guest = "/api/v1/workspaces/default/members/" + tenant(server)[1]
    greedy.send("PUT", guest, 200, json={"role": "write"})
    root = Client(server)
    if full == "principal":
        root.send("PATCH", f"/api/v1/principals/{principal}", 200, json={"limits": {"quota_bytes": 1000}})
    else:
        workspace = greedy.send("GET", "/api/v1/workspaces/default", 200).json()["id"]
        root.send("PATCH", f"/api/v1/workspaces/{workspace}", 200, json={"quota_bytes": 1000})
    assert greedy.send("PUT", files + "c", data=b"c").status_code == 507
    assert store(greedy, 2, "x").status_code == 507
    assert greedy.send("POST", "/api/v1/workspaces/default/move", json={"from": "a", "to": "d"}).status_code == 507
    member = "/api/v1/workspaces/default/members/" + tenant(server)[1]
    assert greedy.send("PUT", member, json={"role": "write"}).status_code == 507
    greedy.send("DELETE", f"/api/v1/workspaces/default/locks/{lock['id']}", 204, headers={"X-Sandkeep-Lock": lock["token"]})
    greedy.send("DELETE", f"/api/v1/keys/{key['id']}", 204)
    greedy.send("PUT", guest, 200, json={"role": "read"})
    greedy.send("DELETE", guest, 204)
    greedy.send("DELETE", files + "b")
    greedy.send("DELETE", "/api/v1/workspaces/default/trash", 200)
    greedy.send("POST", "/api/v1/workspaces/default/revoke-links", 204)
    greedy.send("DELETE", "/api/v1/conversations/chat", 204)
    journal = usage(greedy)["journal"]
    for _ in range(10):
        greedy.send("DELETE", guest, 204)
    assert usage(greedy)["journal"] == journal, "nothing changed, so nothing is recorded"
    greedy.send("DELETE", "/api/v1/workspaces/default", 204)
    greedy.send("DELETE", "/api/v1/workspaces/default?purge=true", 200)
    mine = usage(greedy)
    assert mine["workspaces"]["count"] == 0 and mine["bytes"] == mine["purged_workspaces"]["bytes"] < 1000


def test_revoking_links_without_end_does_not_fill_the_journal(make_server):
    server = make_server()
    greedy, principal = tenant(server)
    store(greedy, 1, "x" * 3_000_000, 200)
    Client(server).send("PATCH", f"/api/v1/principals/{principal}", 200, json={"limits": {"quota_bytes": 1000}})
    revoke = "/api/v1/workspaces/default/revoke-links"
    greedy.send("POST", revoke, 204)
    once = usage(greedy)["journal"]
    for _ in range(20):
        greedy.send("POST", revoke, 204)
    assert usage(greedy)["journal"] == once


def test_folders_below_long_paths_end_with_the_quota(make_server):
    """An attacker took 1.2 GB of the disk while 9 MiB were counted: entries and their former places counted for nothing."""
    server = make_server("--quota-default-bytes", "2 MiB")
    greedy, _ = tenant(server)
    deep = "/".join(["d" * 200] * 30)

    def make(number):
        return greedy.send("POST", "/api/v1/workspaces/default/mkdir", json={"path": f"{deep}/{number}"})

    error, made = until_refused(make, 1000)
    seen = usage(greedy, "default")
    assert made < 400 and seen["counted_bytes"] <= (2 << 20) + FREE, (made, seen)
    # Both the row and its index have the path.
    assert seen["entries"]["bytes"] > made * 2 * len(deep) and seen["entries"]["count"] == made + 30, seen
    assert greedy.send("POST", "/api/v1/workspaces/default/move", json={"from": "d" * 200, "to": "m"}).status_code == 507
    greedy.send("DELETE", "/api/v1/workspaces/default/files/" + "d" * 200)
    greedy.send("DELETE", "/api/v1/workspaces/default/trash", 200)
    assert usage(greedy, "default")["entries"] == {"bytes": 0, "count": 0}
    make(0)


def test_moves_without_end_are_refused(make_server):
    server = make_server("--quota-default-bytes", "1 MiB")
    greedy, _ = tenant(server)
    changes = [{"op": "put", "path": f"a/{'f' * 200}{number}", "content": ""} for number in range(200)]
    greedy.send("POST", "/api/v1/workspaces/default/batch", 200, json={"changes": changes})

    def move(number):
        return greedy.send("POST", "/api/v1/workspaces/default/move", json={"from": "a" if number % 2 == 0 else "b", "to": "b" if number % 2 == 0 else "a"})

    error, moved = until_refused(move, 100)
    assert moved < 40 and usage(greedy, "default")["counted_bytes"] <= (1 << 20) + FREE, (moved, error)


def test_folders_that_code_makes_are_refused_over_the_quota(make_user_server):
    server = make_user_server("--quota-default-bytes", "1 MiB")
    greedy, _ = tenant(server)
    session = greedy.send("POST", "/api/v1/sessions", 201, json={"name": "s"}).json()["id"]
    code = "import os\nfor n in range(4000): os.makedirs(f'{n}' + 'x' * 200)"
    ran = greedy.send("POST", f"/api/v1/sessions/{session}/executions", 200, json={"code": code}).json()
    assert {item["reason"] for item in ran["not_kept"]} == {"quota"}, ran["not_kept"][:2]
    assert usage(greedy, "default")["counted_bytes"] <= (1 << 20) + FREE + 1_000_000, "with the record of the execution"


@pytest.mark.parametrize("full", ["principal", "workspace"])
def test_code_that_removes_files_runs_and_is_recorded_when_the_quota_is_full(make_user_server, full):
    server = make_user_server()
    greedy, principal = tenant(server)
    session = greedy.send("POST", "/api/v1/sessions", 201, json={"name": "s", "folder": "s"}).json()["id"]
    executions = f"/api/v1/sessions/{session}/executions"
    # More than a MiB of records, as any workspace has after a while.
    for number in range(3):
        greedy.send("POST", executions, 200, json={"code": f"open('big{number}', 'wb').write(bytes([{number}]) * 400_000); print('x' * 500_000)"})
    root, held = Client(server), usage(greedy, "default")
    if full == "principal":
        root.send("PATCH", f"/api/v1/principals/{principal}", 200, json={"limits": {"quota_bytes": usage(greedy)["bytes"]}})
    else:
        root.send("PATCH", f"/api/v1/workspaces/{held['workspace_id']}", 200, json={"quota_bytes": held["counted_bytes"]})
    assert greedy.send("PUT", "/api/v1/workspaces/default/files/more", data=b"more").status_code == 507
    ran = greedy.send("POST", executions, 200, json={"code": "import os; os.remove('big0'); print('removed')"}).json()
    assert ran["deleted"] == ["s/big0"] and ran["outputs"][0]["text"] == "removed\n", ran
    greedy.send("DELETE", "/api/v1/workspaces/default/trash", 200)
    greedy.send("PUT", "/api/v1/workspaces/default/files/more", 201, data=b"more")


def test_a_purged_workspace_frees_the_quota_and_its_place(make_user_server):
    server = make_user_server("--workspaces-per-principal-max", "2")
    greedy, _ = tenant(server)
    before = usage(greedy)
    for _ in range(3):
        greedy.send("POST", "/api/v1/workspaces", 201, json={"name": "team"})
        session = greedy.send("POST", "/api/v1/sessions", 201, json={"name": "s", "workspace": "team"}).json()["id"]
        greedy.send("POST", f"/api/v1/sessions/{session}/executions", 200, json={"code": "open('a', 'w').write('x' * 10_000)"})
        greedy.send("DELETE", "/api/v1/workspaces/team", 204)
        trashed = usage(greedy)["trashed_workspaces"]
        assert trashed["count"] == 1 and trashed["bytes"] > 10_000
        greedy.send("DELETE", "/api/v1/workspaces/team?purge=true", 200)
    after = usage(greedy)
    assert after["workspaces"] == {"count": 1, "in_trash": 0, "max": 2} and after["sessions_kept"]["count"] == 0
    assert after["contents"] == before["contents"] and after["executions"] == before["executions"]
    assert after["purged_workspaces"]["count"] == 3 and after["bytes"] == before["bytes"] + after["purged_workspaces"]["bytes"]
    assert Client(server).send("POST", "/api/v1/verify", 200).json()["problems"] == []


def test_of_a_purged_workspace_no_table_has_a_row_left(make_user_server):
    server = make_user_server()
    client, principal = tenant(server)
    workspace = client.send("POST", "/api/v1/workspaces", 201, json={"name": "team"}).json()["id"]
    team = f"/api/v1/workspaces/{workspace}"
    for content in (b"first", b"second"):
        client.send("PUT", f"{team}/files/a/b", data=content)
    client.send("PATCH", f"{team}/files/a/b", 200, json={"mode": "0600"})
    client.send("POST", f"{team}/move", 200, json={"from": "a", "to": "c"})
    client.send("PUT", f"{team}/files/d", 201, data=b"d")
    client.send("DELETE", f"{team}/files/d", 200)
    lock = client.send("POST", f"{team}/locks", 201, json={"path": "c/b"}).json()
    client.send("POST", f"{team}/locks/release", json={"token": lock["token"]})
    client.send("PUT", f"/api/v1/conversations/chat/messages/1?workspace={workspace}", 200, json={"text": "[b](sandbox:/mnt/data/b)", "files": ["c/b"]})
    bound = Client(server, client.send("POST", "/api/v1/keys", 201, json={"name": "bound", "workspace": workspace}).json()["secret"])
    upload = bound.send("POST", "/v1/uploads", 200, json={"filename": "a", "purpose": "user_data", "bytes": 5, "mime_type": "text/plain"}).json()["id"]
    bound.send("POST", f"/v1/uploads/{upload}/parts", 200, files={"data": ("p", b"abc")})
    bound.send("POST", "/v1/files", 200, files={"file": ("given.txt", b"given")}, data={"purpose": "user_data"})
    session = client.send("POST", "/api/v1/sessions", 201, json={"name": "s", "workspace": workspace}).json()["id"]
    client.send("POST", f"/api/v1/sessions/{session}/executions", 200, json={"code": "open('kept', 'w').write('x' * 5000); print('y' * 5000)"})
    client.send("DELETE", team, 204)
    client.send("DELETE", f"{team}?purge=true", 200)
    server.stop()
    left = {}
    with sqlite3.connect(server.data / "catalog.db") as db:
        raw = bytes.fromhex(workspace.partition("_")[2])
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
            for column in columns & {"workspace", "only_workspace"}:
                (count,) = db.execute(f"SELECT count(*) FROM {table} WHERE {column} = ?", (raw,)).fetchone()
                if count:
                    left[table] = count
        orphans = {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                   for table in ("executions", "execution_files", "execution_outputs", "manifests", "unkept", "messages", "message_files", "upload_parts", "session_aliases")}
    server.start()
    # The ids for which links answer 410, the record of the purge, and the key that now opens nothing.
    assert left.pop("purged_versions") == 5 and left.pop("purged_workspaces") == 1 and left.pop("keys") == 1
    assert left == {} and not any(orphans.values()), (left, orphans)
    assert not list((server.data / "copies").glob("*" + session.partition("_")[2] + "*"))


def test_usage_shows_running_sessions_and_unfinished_uploads(make_user_server):
    server = make_user_server()
    client, _ = tenant(server, sessions_max=3)
    session = client.send("POST", "/api/v1/sessions", 201, json={"name": "s"}).json()["id"]
    assert usage(client)["sessions_running"] == {"count": 0, "max": 3}
    client.send("POST", f"/api/v1/sessions/{session}/executions", 200, json={"code": "1"})
    assert usage(client)["sessions_running"] == {"count": 1, "max": 3}
    upload = client.send("POST", "/v1/uploads", 200, json={"filename": "a", "purpose": "user_data", "bytes": 5, "mime_type": "text/plain"}).json()["id"]
    client.send("POST", f"/v1/uploads/{upload}/parts", 200, files={"data": ("p", b"abc")})
    assert usage(client)["uploads"] == usage(client, "default")["uploads"] == {"bytes": 3, "count": 1}
    client.send("POST", f"/v1/uploads/{upload}/cancel", 200)
    assert usage(client)["uploads"] == {"bytes": 0, "count": 0}


def test_only_an_administrator_sets_limits_and_sees_the_usage_of_others(make_server):
    server = make_server()
    one, principal = tenant(server)
    other, _ = tenant(server)
    other.error("PATCH", f"/api/v1/principals/{principal}", 403, "forbidden", json={"limits": {"quota_bytes": 0}})
    one.error("PATCH", f"/api/v1/principals/{principal}", 403, "forbidden", json={"limits": {"keys_max": 10_000}})
    other.error("GET", f"/api/v1/usage?principal={principal}", 403, "forbidden")
    root = Client(server)
    assert root.send("GET", f"/api/v1/usage?principal={principal}", 200).json()["principal_id"] == principal
    root.error("PATCH", f"/api/v1/principals/{principal}", 400, "bad_request", json={"limits": {"quota": 5}})
    root.error("PATCH", f"/api/v1/principals/{principal}", 400, "bad_request", json={"limits": {"quota_bytes": -1}})
    root.error("PATCH", f"/api/v1/principals/{principal}", 400, "bad_request", json={})
