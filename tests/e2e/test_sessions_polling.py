"""Asking for an execution while it runs: what it has printed so far, and since when."""

from sandkeep_server import Server
from sessions_client import Keep


def test_a_running_execution_shows_what_it_has_printed_and_a_waiting_one_says_so():
    server = Server(environment={"SANDKEEP_SANDBOX": "required"}).start()
    try:
        keep = Keep(server)
        session = keep.create(folder="w")
        first = keep.start(session, "print('one', flush=True); import time; time.sleep(.1); print('two', flush=True); time.sleep(60)")
        second = keep.start(session, "print('later')")
        keep.printed_until(first, "two")
        now = keep.call("GET", first).json()
        assert now["status"] == "running" and now["started_at"] and now["outputs"] == [{"type": "stdout", "text": "one\ntwo\n"}]
        waiting = keep.call("GET", second).json()
        assert waiting["status"] == "queued" and waiting["started_at"] is None and waiting["outputs"] == []
        keep.call("POST", first + "/cancel")
        assert keep.wait(second)["outputs"] == [{"type": "stdout", "text": "later\n"}]
        answer = keep.call("GET", first, 204, headers={"Accept": "text/event-stream", "Last-Event-ID": "done"})
        assert answer.content == b"", "whoever has seen the end needs nothing more"
    finally:
        server.stop()
        server.remove()
