"""What ends a session or an execution from outside: idleness, the disk, too many processes, too many sessions."""

import time

import pytest

from sessions_client import USERS, Keep, UserServer, text_of, wait_for


@pytest.fixture(scope="module", params=USERS, ids=lambda uid: "root" if uid == 0 else "user")
def server(request):
    one = UserServer(request.param, "--session-idle-s", "3", "--session-disk-max-bytes", "100 MiB", "--session-files-max", "5000",
                     "--sessions-per-principal-max", "4").start()
    yield one
    code, log = one.stop(), one.log()
    one.remove()
    assert code == 0 and "fatal" not in log, log


@pytest.fixture
def keep(server):
    return Keep(server)


def test_an_event_warns_before_a_session_expires_and_the_next_cell_wakes_it(keep):
    """allisonmorrell/gptbuilder #13: work was lost because the session timed out unannounced."""
    session = keep.create(name="sleepy", folder="sleepy")
    keep.run(session, "x = 1\nopen('kept', 'w').write('here')")
    assert keep.get(session)["status"] == "running"

    def told(kind):
        return [e for e in keep.events(kind) if e["facts"]["session_id"] == session["id"]]

    warning = wait_for(lambda: told("session.expiring"))[0]
    assert warning["facts"]["expires_at"] > warning["time"]
    slept = wait_for(lambda: told("session.sleep"))[0]
    assert slept["seq"] > warning["seq"]
    wait_for(lambda: keep.get(session)["status"] == "asleep")
    done = keep.run(session, "print('x' in globals(), open('kept').read())")
    assert done["woke"] and text_of(done) == "False here\n" and done["kept"] == []
    assert not keep.run(session, "1")["woke"]


def test_last_activity_counts_and_a_running_cell_is_activity(keep):
    session = keep.create(name="busy", timeout_s=60)
    keep.run(session, "x = 5")
    done = keep.run(session, "import time; time.sleep(4.5); print(x)")
    assert not done["woke"] and text_of(done) == "5\n"
    keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 204)


def test_more_disk_than_allowed_ends_as_disk_and_keeps_what_was_closed(keep):
    session = keep.create(folder="full")
    # Its size is over the limit before its first block is there: stopped at the limit's size to the byte it would be kept.
    code = ("open('before', 'w').write('x')\nimport os\nf = open('large', 'wb')\nf.truncate(101 << 20)\n"
            "for i in range(4000): f.write(os.urandom(1 << 20)); f.flush()")
    done = keep.run(session, code)
    assert done["end"] == "disk" and "100 MiB" in done["message"], done["message"]
    assert "full/before" in [f["path"] for f in done["kept"]]
    assert [(n["path"], n["reason"]) for n in done["not_kept"]] == [("full/large", "too_large")], done
    # Its next cell can make room.
    done = keep.run(session, "import os; os.remove('large'); print(sorted(os.listdir('.')))")
    assert done["end"] == "ok" and done["woke"] and text_of(done) == "['before']\n"


def test_preallocating_does_not_pass_the_disk_limit_by(keep):
    session = keep.create(folder="prealloc")
    done = keep.run(session, "import os\nf = open('f', 'wb')\ntry: os.posix_fallocate(f.fileno(), 0, 1 << 40); print('passed')\nexcept OSError as e: print('refused')\nf.close()")
    assert text_of(done) == "refused\n"


def test_a_bomb_of_small_files_ends_as_disk_and_others_stay_responsive(keep):
    other = keep.create(folder="neighbour")
    keep.run(other, "1")
    session = keep.create(folder="bomb")
    execution = keep.start(session, "for i in range(1_000_000): open(f'f{i}', 'w').close()", timeout_s=110)
    slowest = 0
    while keep.call("GET", execution).json()["status"] != "done":
        began = time.monotonic()
        assert keep.run(other, "1 + 1")["end"] == "ok"
        slowest = max(slowest, time.monotonic() - began)
    done = keep.wait(execution)
    assert done["end"] == "disk" and "5000" in done["message"], done["message"]
    assert slowest < 30
    assert done["kept_more"] and len(done["kept"]) == 1000 and done["not_kept"] == []
    keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 204)


@pytest.mark.parametrize("language, code", [
    ("python", "import os, time\nwhile True:\n    try: os.fork()\n    except OSError: pass"),
    ("bash", ":(){ :|:& };:; sleep 30"),
    ("python", "import subprocess\nps = [subprocess.Popen(['sleep', '20']) for i in range(400)]"),
], ids=["forks", "shell", "sleepers"])
def test_too_many_processes_end_as_pids(keep, language, code):
    session = keep.create(folder="pids")
    keep.run(session, "open('before', 'w').write('x')")
    done = keep.run(session, code, language=language, timeout_s=60)
    limit = "256" if keep.server.uid == 0 else "128"  # less where no control group counts memory
    assert done["end"] == "pids" and limit in done["message"], (done["end"], done["message"])
    keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 204)
    assert keep.read("pids/before") == b"x"


def test_over_the_limit_of_sessions_the_answer_is_429_and_says_what_to_do(keep):
    sessions = [keep.create(name=f"n{i}") for i in range(6)]
    for session in keep.call("GET", "/api/v1/sessions").json()["items"]:
        keep.call("POST", f"/api/v1/sessions/{session['id']}/sleep")
    running = [keep.start(session, "import time; time.sleep(600)") for session in sessions[:4]]
    for path in running:
        wait_for(lambda path=path: keep.call("GET", path).json()["status"] == "running")
    for session in sessions[4:]:
        answer = keep.call("POST", f"/api/v1/sessions/{session['id']}/executions", 429, json={"code": "1"})
        refused = answer.json()["error"]
    assert "DELETE" in refused["hint"] and "4 sessions" in refused["message"]
    keep.call("DELETE", f"/api/v1/sessions/{sessions[0]['id']}", 204)
    assert keep.run(sessions[4], "1")["end"] == "ok"
    for session in sessions[1:]:
        keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 204)
