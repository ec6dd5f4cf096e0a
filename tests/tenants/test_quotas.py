"""What one tenant keeps: rows and bytes without end are refused with the figures, and removing always works."""

import itertools

import pytest

from rest_client import Client
from sessions_client import wait_for

_numbers = itertools.count(1)


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
    assert stored == 5 and error["quota_of"] == "principal" and error["quota_bytes"] == 3_000_000, error
    mine = usage(greedy)
    assert mine["messages"]["count"] == 5 and 2_500_000 < mine["messages"]["bytes"] <= mine["bytes"] <= mine["quota_bytes"]
    store(other, 1, "x" * 500_000, 200)
    greedy.send("DELETE", "/api/v1/conversations/chat", 204)
    assert usage(greedy)["messages"] == {"bytes": 0, "count": 0}
    store(greedy, 1, "x" * 500_000, 200)


def test_messages_count_for_the_quota_of_their_workspace(make_server):
    server = make_server("--quota-default-bytes", "1 MiB")
    greedy, _ = tenant(server)
    error, stored = until_refused(lambda number: store(greedy, number, "x" * 500_000), 10)
    assert stored == 4 and "quota_of" not in error, "one MiB of records is free, and one is the quota"
    assert greedy.send("PUT", "/api/v1/workspaces/default/files/a", data=b"a" * 200_000).status_code == 507
    greedy.send("DELETE", "/api/v1/conversations/chat/messages/0", 204)
    greedy.send("PUT", "/api/v1/workspaces/default/files/a", 201, data=b"a" * 200_000)


def test_outputs_count_and_end_with_the_quota(make_user_server):
    server = make_user_server()
    greedy, _ = tenant(server, quota_bytes=2_000_000)
    session = greedy.send("POST", "/api/v1/sessions", 201, json={"name": "s"}).json()["id"]

    def run(number):
        return greedy.send("POST", f"/api/v1/sessions/{session}/executions", json={"code": f"print('x' * 500_000) #{number}"})

    error, ran = until_refused(run, 10)
    assert 3 <= ran <= 4 and error["quota_of"] == "principal", error
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
    too_long = greedy.send("POST", executions, json={"code": "#" + "x" * 3_000_000})
    assert too_long.status_code == 507 and too_long.json()["error"]["needed_bytes"] == 3_000_001, too_long.text
    codes = ["import time; time.sleep(2)"] + ["print('x' * 900_000)"] * 20
    queued = [greedy.send("POST", executions, json={"code": code, "wait": False}).json()["id"] for code in codes]
    ended = [wait_for(lambda one=one: (found := greedy.send("GET", f"{executions}/{one}", 200).json())["status"] == "done" and found) for one in queued]
    assert [one["end"] for one in ended[:2]] == ["ok", "ok"]
    assert ended[-1]["end"] == "error" and "no room is left" in ended[-1]["message"], ended[-1]
    assert usage(greedy)["bytes"] < 4_500_000


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
    store(greedy, 1, "x" * 2_000_000, 200)
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
