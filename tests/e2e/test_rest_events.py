"""The journal as it grows: pages, long polls, streams that resume."""

import json
import threading
import time

import pytest
import requests

from rest_client import Client


def test_every_change_is_an_event_in_order(api, ws):
    ws.put("a.txt", b"one")
    ws.put("a.txt", b"two")
    ws.post("move", 200, **{"from": "a.txt", "to": "b.txt"})
    ws.post("mkdir", 201, path="d")
    api.delete(ws.file("b.txt"), 200)
    events = ws.events()
    kinds = [event["kind"] for event in events["items"]]
    assert kinds == ["workspace.create", "file.create", "file.write", "file.move", "folder.create", "file.trash"]
    assert [event["seq"] for event in events["items"]] == list(range(1, 7)) and events["cursor"] == 6 and not events["has_more"]
    write = events["items"][2]
    assert write["personal"]["path"] == "a.txt" and write["facts"]["number"] == 2 and write["actor_id"].startswith("p_")


def test_events_are_paged_by_cursor(ws):
    for number in range(9):
        ws.put(f"f{number}", b"x")
    seen, after = [], 0
    while True:
        page = ws.events(after=after, limit=4)
        seen += [event["seq"] for event in page["items"]]
        after = page["cursor"]
        if not page["has_more"]:
            break
    assert seen == list(range(1, 11))
    assert ws.events(after=after)["items"] == []
    assert ws.events(after="now")["cursor"] == after


def test_events_are_filtered_by_kind_path_and_actor(api, ws, unique):
    principal, friend = api.make_principal(unique("friend"))
    api.put(f"{ws.root}/members/{principal}", 200, json={"role": "write"})
    ws.put("d/a.txt", b"x")
    ws.seen_by(friend).put("e/b.txt", b"x")
    ws.lock("d")
    assert {event["kind"] for event in ws.events(kinds="file.*")["items"]} == {"file.create"}
    assert [event["kind"] for event in ws.events(kinds="lock.acquire,member.set")["items"]] == ["member.set", "lock.acquire"]
    assert [event["personal"]["path"] for event in ws.events(path="d", kinds="file.*,lock.*")["items"]] == ["d/a.txt", "d"]
    assert {event["personal"]["path"] for event in ws.events(actor=principal)["items"]} == {"e", "e/b.txt"}
    assert ws.events(kinds="nothing.such")["cursor"] == ws.events()["cursor"]
    for query in ({"after": "x"}, {"after": "-1"}, {"wait": "x"}, {"wait": "61"}, {"actor": "me"}, {"limit": "0"}):
        api.error("GET", f"{ws.root}/events", 400, "bad_request", params=query)


def test_a_long_poll_answers_when_something_happens(api, ws):
    after = ws.events()["cursor"]
    results = []
    poll = threading.Thread(target=lambda: results.append(Client(api.server).get(f"{ws.root}/events", 200, params={"after": after, "wait": 30}).json()))
    poll.start()
    poll.join(0.4)
    assert poll.is_alive()
    begin = time.monotonic()
    ws.put("a.txt", b"x")
    poll.join(20)
    assert time.monotonic() - begin < 10
    assert results[0]["items"][0]["kind"] == "file.create" and results[0]["cursor"] == after + 1


def test_a_long_poll_skips_what_its_filter_does_not_want(api, ws):
    after = ws.events()["cursor"]
    results = []
    poll = threading.Thread(target=lambda: results.append(
        Client(api.server).get(f"{ws.root}/events", 200, params={"after": after, "wait": 30, "path": "wanted"}).json()))
    poll.start()
    for number in range(20):
        ws.put(f"other-{number}", b"x")
    assert poll.is_alive()
    ws.put("wanted/a.txt", b"x")
    poll.join(20)
    assert {event["personal"]["path"] for event in results[0]["items"]} <= {"wanted", "wanted/a.txt"}


def test_a_long_poll_without_news_ends_empty_and_can_be_repeated(ws):
    after = ws.events()["cursor"]
    begin = time.monotonic()
    assert ws.events(after=after, wait=1) == {"items": [], "cursor": after, "has_more": False}
    assert time.monotonic() - begin >= 0.9


def test_many_long_polls_hold_no_thread(api, ws, server):
    """More of them than there are worker threads; the change that ends them gets through."""
    after = ws.events()["cursor"]
    results = []

    def poll():
        results.append(Client(server).get(f"{ws.root}/events", 200, params={"after": after, "wait": 60}).json()["cursor"])

    threads = [threading.Thread(target=poll) for _ in range(100)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    begin = time.monotonic()
    ws.put("a.txt", b"x")
    for thread in threads:
        thread.join(60)
    assert results == [after + 1] * 100 and time.monotonic() - begin < 30


def test_a_revoked_key_ends_its_polls_and_streams(api, ws):
    key_id, client = api.make_key()
    after = ws.events()["cursor"]
    results = []
    poll = threading.Thread(target=lambda: results.append(client.get(f"{ws.root}/events", params={"after": after, "wait": 60})))
    poll.start()
    stream = open_stream(client, ws, after=after)
    time.sleep(0.3)
    api.delete(f"/api/v1/keys/{key_id}", 204)
    ws.put("secret.txt", b"x")
    poll.join(20)
    assert results[0].status_code == 401
    assert read_events(stream, 1) == []


# Server-sent events.


def open_stream(client, ws, last=None, **query):
    headers = {"Accept": "text/event-stream", **({"Last-Event-ID": str(last)} if last is not None else {})}
    answer = client.send("GET", f"{ws.root}/events", 200, params=query, headers=headers, stream=True)
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    answer.lines = answer.iter_lines(chunk_size=1, decode_unicode=True)
    return answer


def read_events(stream, count):
    """Up to `count` events; fewer when the stream ends."""
    events, current = [], {}
    try:
        for line in stream.lines:
            if line.startswith(":"):
                continue
            if line:
                name, _, value = line.partition(": ")
                current[name] = value
                continue
            if current:
                events.append((int(current["id"]), current["event"], json.loads(current["data"])))
                current = {}
            if len(events) == count:
                break
    except requests.exceptions.ChunkedEncodingError:
        pass
    return events


def test_a_stream_tells_the_past_and_then_what_happens(api, ws):
    ws.put("a.txt", b"x")
    with open_stream(api, ws) as stream:
        past = read_events(stream, 2)
        assert [(number, kind) for number, kind, _ in past] == [(1, "workspace.create"), (2, "file.create")]
        ws.seen_by(Client(api.server)).put("b.txt", b"x")
        (number, kind, event), = read_events(stream, 1)
    assert (number, kind) == (3, "file.create") and event == ws.events(after=2)["items"][0]


def test_a_stream_resumes_where_it_stopped(api, ws):
    for number in range(5):
        ws.put(f"f{number}", b"x")
    with open_stream(api, ws) as stream:
        last = read_events(stream, 3)[-1][0]
    with open_stream(api, ws, last=last, after=0) as stream:
        assert [number for number, _, _ in read_events(stream, 3)] == [4, 5, 6]
    api.error("GET", f"{ws.root}/events", 400, "bad_request", headers={"Accept": "text/event-stream", "Last-Event-ID": "x"})


def test_a_stream_is_filtered_too(api, ws):
    with open_stream(api, ws, kinds="lock.*", after="now") as stream:
        other = ws.seen_by(Client(api.server))
        other.put("a.txt", b"x")
        other.lock("a.txt")
        assert [kind for _, kind, _ in read_events(stream, 1)] == ["lock.acquire"]


def test_a_long_backlog_reaches_the_stream_whole_and_in_order(api, ws):
    for start in range(0, 3000, 500):
        ws.post("batch", 200, changes=[{"op": "mkdir", "path": f"d{start + n:05}"} for n in range(500)])
    with open_stream(api, ws) as stream:
        numbers = [number for number, _, _ in read_events(stream, 3001)]
    assert numbers == list(range(1, 3002))


def test_a_reader_slower_than_a_long_backlog_is_waited_for(make_server):
    one = make_server("--event-buffer-bytes-max", "64 KiB")
    ws = Client(one).workspace("w")
    for start in range(0, 3000, 500):
        ws.post("batch", 200, changes=[{"op": "mkdir", "path": f"d{start + n:05}"} for n in range(500)])
    with open_stream(ws.client, ws) as stream:
        numbers = []
        while len(numbers) < 3001:
            time.sleep(0.01)
            got = read_events(stream, 50 if len(numbers) < 3000 else 1)
            assert got, f"cut off after {len(numbers)}"
            numbers += [number for number, _, _ in got]
    assert numbers == list(range(1, 3002))


def test_abandoned_streams_do_not_affect_others(api, ws, server):
    for _ in range(50):
        open_stream(Client(server), ws, after="now").close()
    for number in range(20):
        ws.put(f"f{number}", b"x")
    assert len(ws.events()["items"]) == 21


def test_the_servers_own_journal_is_for_administrators(api, unique):
    name = unique("agent")
    after = api.get("/api/v1/events?after=now", 200).json()["cursor"]
    principal, client = api.make_principal(name)
    events = api.get("/api/v1/events", 200, params={"after": after}).json()["items"]
    kinds = [event["kind"] for event in events]
    assert kinds[0] == "principal.create" and "key.create" in kinds
    assert principal in str(events) and client.key not in str(events)
    client.error("GET", "/api/v1/events", 403, "forbidden")


@pytest.mark.parametrize("wait", [0, 30])
def test_events_that_are_there_are_not_waited_for(ws, wait):
    begin = time.monotonic()
    assert ws.events(wait=wait)["items"]
    assert time.monotonic() - begin < 15
