"""A session that is deleted, or whose copy is evicted, while somebody runs code in it."""

import random
import threading

import pytest

from durability import LONG, make_random
from kept_folders import copy_of, entries, in_trash, sleep
from sessions_client import Keep, text_of


def run_raw(keep, session, code):
    """(status, execution or error)"""
    answer = keep.http.post(f"{keep.server.url}/api/v1/sessions/{session['id']}/executions", json={"code": code}, timeout=60)
    return answer.status_code, answer.json()


def together(*calls):
    """Runs them at the same time; their results."""
    results = [None] * len(calls)

    def run(number, call):
        results[number] = call()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert None not in results, results
    return results


def assert_answers_are_kept(keep, session, names, answers):
    """Each answer is a run whose file is in the workspace, or says that the session is gone; nothing is in the trash."""
    kept = entries(keep, session["folder"])
    for name, (status, body) in zip(names, answers):
        assert status in (200, 404, 409, 410), (status, body)
        if status != 200:
            continue
        assert body["end"] in ("ok", "interrupted"), body
        if body["end"] == "ok":
            assert name in kept, (name, sorted(kept), body)
        for item in body["kept"]:
            found = kept.get(item["path"].removeprefix(session["folder"] + "/"))
            assert found and found["sha256"] == item["sha256"], (item, found)
    assert in_trash(keep, session["folder"]) == []


@pytest.mark.parametrize("state", ["awake", "asleep"])
def test_a_delete_that_races_with_executions_loses_nothing(make_user_server, state):
    rng = make_random()
    keep, folder = Keep(make_user_server()), "w"
    for number in range(300 if LONG else 40):
        session = keep.create(folder=f"{folder}-{number}")
        keep.run(session, "for i in range(20): open(f'base{i}', 'w').write('base')")
        if state == "asleep":
            sleep(keep, session)
        pauses = [rng.random() * 0.03 for _ in range(3)]
        ready = threading.Barrier(3)

        def execute(name, pause, session=session, ready=ready):
            mine = Keep(keep.server)
            ready.wait()
            # Not a wait for anything: the order of the calls is what is random here.
            threading.Event().wait(pause)
            return run_raw(mine, session, f"open('{name}', 'w').write('{name}' * 1000)")

        def delete(pause, session=session, ready=ready):
            mine = Keep(keep.server)
            ready.wait()
            threading.Event().wait(pause)
            answer = mine.http.delete(f"{keep.server.url}/api/v1/sessions/{session['id']}", timeout=60)
            after = run_raw(mine, session, "open('too-late', 'w').write('x')")
            return answer.status_code, after

        one, two, (deleted, after) = together(lambda: execute("one", pauses[0]), lambda: execute("two", pauses[1]), lambda: delete(pauses[2]))
        assert deleted in (204, 409), deleted
        if deleted == 204:
            assert after[0] in (404, 410), after
            assert keep.get(session)["status"] == "deleted"
        assert_answers_are_kept(keep, session, ["one", "two"], [one, two])
        kept = entries(keep, session["folder"])
        assert {f"base{i}" for i in range(20)} <= set(kept), sorted(kept)
        if deleted == 204:
            assert "too-late" not in kept
            assert not copy_of(keep.server, session).exists()
        else:
            keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 204)


def test_an_eviction_that_races_with_executions_and_deletions_loses_nothing(make_user_server):
    rng = make_random()
    server = make_user_server("--session-copy-keep-s", "1")
    rounds, count = (20, 12) if LONG else (3, 8)
    failures = []

    def live(number, mine):
        keep = Keep(server)
        session = keep.create(folder=f"evicted{number}")
        try:
            for turn in range(rounds):
                keep.run(session, f"for i in range(20): open(f't{turn}-{{i}}', 'w').write('{turn}' * 1000)")
                sleep(keep, session)
                # Copies go a second after their last use, in rounds of a second; this wakes at about that moment.
                threading.Event().wait(0.6 + mine.random() * 1.6)
                done = keep.run(session, f"import os; print(len(os.listdir('.'))); open('now', 'w').write('{turn}')")
                assert text_of(done).split() == [str(20 * (turn + 1) + (turn > 0))], text_of(done)
                assert done["deleted"] == [] and [item["path"] for item in done["kept"]] == [f"evicted{number}/now"], done
            sleep(keep, session)
            threading.Event().wait(0.6 + mine.random() * 1.6)
            keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 204)
            assert len(entries(keep, session["folder"])) == 20 * rounds + 1 and in_trash(keep, session["folder"]) == []
        except BaseException as failure:  # pylint: disable=broad-except
            failures.append((number, repr(failure)))

    threads = [threading.Thread(target=live, args=(number, random.Random(rng.random()))) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []




def test_numbers_of_executions_are_given_once(make_user_server):
    keep = Keep(make_user_server())
    session = keep.create()
    path = f"/api/v1/sessions/{session['id']}"
    for turn in range(12):
        keep.call("POST", f"{path}/sleep")
        threads = [threading.Thread(target=lambda: Keep(keep.server).run(session, "1")) for _ in range(2)]
        for thread in threads:
            thread.start()
        keep.call("POST", f"{path}/sleep")
        for thread in threads:
            thread.join()
        done = keep.run(session, f"open('{turn}', 'w').write('{turn}')")
        assert done["not_kept"] == [] and len(done["kept"]) == 1, done
    numbers = [item["number"] for item in keep.call("GET", f"{path}/executions?limit=100").json()["items"]]
    assert len(numbers) == 36 and len(set(numbers)) == len(numbers), numbers
