"""What sessions write is not lost when the server dies, the session is deleted, or code forbids its own folders."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from sandkeep_server import ROOT_KEY, binary
from sessions_client import USERS, Keep, UserServer, text_of, wait_for


@pytest.fixture(params=USERS, ids=lambda uid: "root" if uid == 0 else "user")
def server(request):
    made = UserServer(request.param).start()
    yield made
    code, log = made.stop(), made.log()
    made.remove()
    assert code == 0 and "fatal" not in log, log


@pytest.fixture
def keep(server):
    return Keep(server)


def kill_and_start(server):
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    server.start()
    return Keep(server)


def refuse_to_delete(keep, session):
    return keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 409).json()["error"]


def test_what_was_put_while_a_cell_ran_is_still_there_after_the_server_was_killed(server, keep):
    session = keep.create(folder="w")
    keep.run(session, "open('first', 'w').close()")
    keep.start(session, "open('r.txt', 'w').write('from the session'); import time; time.sleep(60)")
    wait_for(lambda: "r.txt" in keep.files("w"))
    keep.put("w/r.txt", b"OUTSIDE", 200)
    keep = kill_and_start(server)
    assert keep.read("w/r.txt") == b"OUTSIDE"
    assert text_of(keep.run(session, "print(open('r.txt').read())")) == "OUTSIDE\n"


def test_what_a_cell_removed_or_renamed_does_not_come_back_after_the_server_was_killed(server, keep):
    session = keep.create(folder="w")
    keep.run(session, "open('a', 'w').write('a'); open('b', 'w').write('b')")
    keep.start(session, "import os; os.remove('a'); os.rename('b', 'c'); import time; time.sleep(60)")
    copy = Path(server.data) / "copies" / session["id"].removeprefix("s_")
    wait_for(lambda: (copy / "c").exists())
    keep = kill_and_start(server)
    assert keep.files("w") == ["c"]


def test_a_session_with_files_that_could_not_be_kept_is_deleted_only_by_force(server, keep):
    keep.call("POST", "/api/v1/workspaces", 201, json={"name": "small", "quota_bytes": 1_000_000})
    session = keep.create(workspace="small", folder="w")
    done = keep.run(session, "import os; open('big', 'wb').write(os.urandom(3_000_000))")
    assert [(item["path"], item["reason"]) for item in done["not_kept"]] == [("w/big", "quota")]
    error = refuse_to_delete(keep, session)
    assert error["not_kept"] == "w/big" and "force=true" in error["hint"], error
    assert text_of(keep.run(session, "import os; print(os.path.getsize('big'))")) == "3000000\n"
    command = [str(binary()), "sessions", "rm", session["id"]]
    environment = {**os.environ, "SANDKEEP_SERVER": server.url, "SANDKEEP_KEY": ROOT_KEY}
    refused = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode != 0 and "w/big (quota)" in refused.stderr and "--force" in refused.stderr
    subprocess.run([*command, "--force"], env=environment, check=True)
    assert keep.get(session)["status"] == "deleted"


def test_files_in_a_folder_that_code_forbade_are_kept(server, keep):
    session = keep.create(folder="w")
    done = keep.run(session, "import os; os.mkdir('d'); open('d/f', 'w').write('precious'); os.chmod('d', 0o600)")
    assert [file["path"] for file in done["kept"]] == ["w/d/f"], done
    keep.run(session, "os.makedirs('e/g'); open('e/g/f', 'w').write('kept')")
    keep.run(session, "os.chmod('e', 0)")
    keep.call("POST", f"/api/v1/sessions/{session['id']}/sleep")
    assert keep.files("w") == ["d/f", "e/g/f"]
    assert text_of(keep.run(session, "import os; print(oct(os.stat('d').st_mode)[-3:], oct(os.stat('e').st_mode)[-3:])")) == "600 000\n"
    keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 204)
    assert keep.files("w") == ["d/f", "e/g/f"]
    assert not (Path(server.data) / "copies" / session["id"].removeprefix("s_")).exists()


def child_of(pid, name):
    children = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(pid)], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[0]) for line in children.splitlines() if name in line)


def test_a_server_whose_launcher_was_killed_goes_on_running_code(server, keep):
    keep.run(keep.create(), "1")
    helper = child_of(server.process.pid, "sk-helper")
    os.kill(child_of(helper, "sk-launcher"), signal.SIGKILL)

    def runs():
        return keep.run(keep.create(), "print(1 + 1)")["end"] == "ok"

    wait_for(runs, 30)
    time.sleep(1)
    assert all([runs() for _ in range(5)]), "not only what was prepared before"


def test_other_dialects_do_not_delete_the_only_copy_either(keep):
    keep.call("PATCH", "/api/v1/workspaces/default", json={"quota_bytes": 1_000_000})
    container = keep.call("POST", "/v1/containers", json={"name": "c"}).json()["id"]
    code = "import os; open('big', 'wb').write(os.urandom(3_000_000))"
    assert keep.call("POST", f"/v1/containers/{container}/exec", json={"code": code}).json()["not_kept"]
    error = keep.call("DELETE", f"/v1/containers/{container}", 409).json()["error"]
    assert "big (quota)" in error["message"] and "type" in error, error
    keep.call("PATCH", "/api/v1/workspaces/default", json={"quota_bytes": 100_000_000})
    assert keep.call("DELETE", f"/v1/containers/{container}").json()["deleted"], "there is room now, so it was kept first"
