"""What a session could not keep as the head of its file is listed, can be read, and is kept once the reason is gone."""

import threading
import uuid

import pytest
import requests
from sandkeep_cli import Cli
from sandkeep_server import ROOT_KEY
from sessions_client import USERS, Keep, UserServer, text_of

# In this folder, a path with such a name is longer than the 8,192 bytes that the workspace takes.
DEEP = "/".join(["f" * 250] * 32)
BAD_NAME = "x" * 200
BIG = "import os; open('big', 'wb').write(os.urandom(3_000_000))"


@pytest.fixture
def server():
    made = UserServer(USERS[-1])
    made.boot_id = made.folder / "boot_id"
    made.flags += ["--boot-id-file", str(made.boot_id)]
    made.boot_id.write_text(f"{uuid.uuid4()}\n")
    made.start()
    yield made
    code, log = made.stop(), made.log()
    made.remove()
    assert code == 0 and "fatal" not in log, log


class Unkept(Keep):
    """A client that asks for what was not kept."""

    def address(self, session):
        return f"/api/v1/sessions/{session['id']}"

    def unkept(self, session):
        return self.call("GET", self.address(session) + "/unkept").json()["items"]

    def names(self, session):
        return [(item["path"], item["what"], item["reason"]) for item in self.unkept(session)]

    def retry(self, session, **query):
        """How many were settled, how many remain."""
        answer = self.call("POST", self.address(session) + "/retry", params=query).json()
        if not answer["has_more"]:
            assert answer["items"] == self.unkept(session)
        return answer["settled"], answer["remaining"]

    def sleep(self, session):
        self.call("POST", self.address(session) + "/sleep")

    def quota(self, size):
        self.call("PATCH", "/api/v1/workspaces/default", json={"quota_bytes": size})

    def lock(self, path):
        return self.call("POST", "/api/v1/workspaces/default/locks", 201, json={"path": path}).json()["token"]

    def release(self, token):
        self.call("POST", "/api/v1/workspaces/default/locks/release", 204, json={"token": token})

    def executions(self, session):
        return self.call("GET", self.address(session) + "/executions").json()["items"]


@pytest.fixture
def keep(server):
    return Unkept(server)


def restart(server, boot="same"):
    server.kill()
    if boot == "another":
        server.boot_id.write_text(f"{uuid.uuid4()}\n")
    server.start()
    return Unkept(server)


def test_a_file_over_the_quota_is_listed_until_it_is_kept(server, keep):
    session = keep.create(folder="w")
    keep.quota(1_000_000)
    keep.run(session, BIG)
    expected = [("w/big", "refused", "quota")]
    item = keep.unkept(session)[0]
    assert keep.names(session) == expected
    assert item["only_copy"] and item["version_id"] is None and item["link"] is None and item["message"]
    assert keep.retry(session) == (0, 1)
    keep.call("DELETE", keep.address(session) + "/unkept", 409, params={"path": "w/big"})
    keep.sleep(session)
    assert keep.names(session) == expected
    keep = restart(server)
    assert keep.names(session) == expected
    assert keep.retry(session) == (0, 1)
    keep.quota(100_000_000)
    assert keep.retry(session) == (1, 0)
    assert keep.names(session) == [] and len(keep.read("w/big")) == 3_000_000
    assert keep.retry(session) == (0, 0)


def test_an_awake_session_is_retried_without_a_cell(keep):
    session = keep.create(folder="w")
    keep.quota(1_000_000)
    keep.run(session, BIG + "; x = 5")
    keep.quota(100_000_000)
    assert keep.retry(session) == (1, 0)
    assert len(keep.read("w/big")) == 3_000_000
    assert len(keep.executions(session)) == 1
    assert text_of(keep.run(session, "print(x)")) == "5\n"


def test_a_retry_while_a_cell_runs_is_named_by_its_answer(keep):
    session = keep.create(folder="w")
    keep.quota(1_000_000)
    keep.run(session, BIG)
    running = keep.start(session, "import time; print('begun', flush=True); time.sleep(60)")
    keep.printed_until(running, "begun")
    keep.quota(100_000_000)
    assert keep.retry(session) == (1, 0)
    keep.call("POST", running + "/cancel")
    done = keep.wait(running)
    assert "w/big" in [file["path"] for file in done["kept"]], done


def test_the_next_cell_settles_what_was_refused_without_a_retry(keep):
    session = keep.create(folder="w")
    keep.quota(1_000_000)
    keep.run(session, BIG)
    keep.quota(100_000_000)
    done = keep.run(session, "1")
    assert [file["path"] for file in done["kept"]] == ["w/big"] and keep.unkept(session) == []


def test_a_session_whose_interpreter_ended_is_retried(keep):
    session = keep.create(folder="w")
    keep.quota(1_000_000)
    keep.run(session, BIG + "; os._exit(0)")
    assert keep.names(session) == [("w/big", "refused", "quota")]
    keep.quota(100_000_000)
    assert keep.retry(session) == (1, 0)
    assert len(keep.read("w/big")) == 3_000_000


@pytest.mark.parametrize("asleep", [False, True])
def test_a_file_that_was_locked_becomes_the_head_by_a_retry(keep, asleep):
    keep.put("w/r.txt", b"before")
    session = keep.create(folder="w")
    token = keep.lock("w/r.txt")
    keep.run(session, "open('r.txt', 'w').write('from the session')")
    if asleep:
        keep.sleep(session)
    item = keep.unkept(session)[0]
    assert (item["path"], item["what"], item["reason"], item["only_copy"]) == ("w/r.txt", "aside", "locked", False)
    assert keep.http.get(item["link"], timeout=60).content == b"from the session"
    assert keep.read("w/r.txt") == b"before"
    assert keep.retry(session) == (0, 1)
    keep.release(token)
    assert keep.retry(session) == (1, 0)
    assert keep.read("w/r.txt") == b"from the session" and keep.unkept(session) == []
    assert text_of(keep.run(session, "print(open('r.txt').read())")) == "from the session\n"


@pytest.mark.parametrize("asleep", [False, True])
def test_a_new_file_of_a_locked_folder_gets_its_place_by_a_retry(keep, asleep):
    session = keep.create(folder="w")
    keep.run(session, "open('first', 'w').close()")
    token = keep.lock("w")
    keep.run(session, "open('new.txt', 'w').write('new')")
    if asleep:
        keep.sleep(session)
    assert [(item["path"], item["what"]) for item in keep.unkept(session)] == [("w/new.txt", "aside")]
    keep.release(token)
    assert keep.retry(session) == (1, 0)
    assert keep.read("w/new.txt") == b"new" and keep.unkept(session) == []


@pytest.mark.parametrize("then, left", [("os.rename('n', 'n2')", ["n2"]), ("os.remove('n')", [])])
def test_a_new_file_that_was_renamed_or_removed_under_the_lock_does_not_come_back(keep, then, left):
    session = keep.create(folder="w")
    keep.run(session, "import os; open('there', 'w').close()")
    token = keep.lock("w")
    keep.run(session, "open('n', 'w').write('new')")
    keep.run(session, then)
    keep.release(token)
    keep.retry(session)
    assert keep.files("w") == sorted([*left, "there"])
    assert keep.unkept(session) == []


def test_a_retry_does_not_replace_what_somebody_wrote_since(keep):
    keep.put("w/r.txt", b"before")
    session = keep.create(folder="w")
    token = keep.lock("w/r.txt")
    keep.run(session, "open('r.txt', 'w').write('from the session')")
    keep.put("w/r.txt", b"newer", 200, **{"X-Sandkeep-Lock": token})
    keep.release(token)
    assert keep.retry(session) == (0, 1)
    item = keep.unkept(session)[0]
    assert (item["what"], item["reason"]) == ("aside", "conflict") and keep.read("w/r.txt") == b"newer"
    # Whoever wants it as the head restores it; then nothing is left to do.
    keep.call("POST", "/api/v1/workspaces/default/restore-version", json={"version_id": item["version_id"]})
    assert keep.read("w/r.txt") == b"from the session" and keep.unkept(session) == []


@pytest.mark.parametrize("text", ["from the session", "other"])
def test_writing_a_file_again_after_the_lock_makes_it_the_head(keep, text):
    keep.put("w/r.txt", b"before")
    session = keep.create(folder="w")
    token = keep.lock("w/r.txt")
    keep.run(session, "open('r.txt', 'w').write('from the session')")
    keep.release(token)
    keep.run(session, f"open('r.txt', 'w').write('{text}')")
    assert keep.read("w/r.txt") == text.encode() and keep.unkept(session) == []


def test_a_name_that_cannot_be_is_the_only_copy_until_it_is_renamed(keep):
    session = keep.create(folder=DEEP)
    keep.run(session, f"open('{BAD_NAME}', 'w').write('precious')")
    listed = keep.unkept(session)
    assert [(item["what"], item["reason"], item["only_copy"]) for item in listed] == [("refused", "name", True)]
    assert keep.retry(session) == (0, 1)
    error = keep.call("DELETE", keep.address(session), 409).json()["error"]
    assert "/unkept" in error["hint"] and "/retry" in error["hint"] and error["advice"] == "keep_files_first"
    done = keep.run(session, f"import os; os.rename('{BAD_NAME}', 'good')")
    assert [(file["path"], file["size"]) for file in done["kept"]] == [(DEEP + "/good", 8)] and keep.unkept(session) == []
    keep.call("DELETE", keep.address(session), 204)


@pytest.mark.parametrize("end", ["", "; os._exit(0)"], ids=["touched", "everything"])
def test_a_bad_name_whose_folder_was_renamed_is_not_listed_any_more(keep, end):
    session = keep.create(folder=DEEP)
    keep.run(session, f"import os; os.mkdir('d'); open('d/{BAD_NAME}', 'w').write('x')")
    assert [item["reason"] for item in keep.unkept(session)] == ["name"]
    done = keep.run(session, f"import os; os.rename('d', 'e'); os.rename('e/{BAD_NAME}', 'e/good')" + end)
    assert [file["path"] for file in done["kept"]] == [DEEP + "/e/good"] and keep.unkept(session) == []


def test_recovered_files_are_listed_until_they_are_dismissed(server, keep):
    keep.put("w/r.txt", b"before")
    session = keep.create(folder="w")
    keep.run(session, "1")
    copy = server.data / "copies" / session["id"].removeprefix("s_")
    # As a power cut may leave it: bytes in the copy that no answer named.
    server.kill()
    (copy / "r.txt").write_bytes(b"torn")
    (copy / "unknown.txt").write_bytes(b"found")
    keep = restart(server, boot="another")
    listed = keep.unkept(session)
    assert [(item["path"], item["what"], item["only_copy"]) for item in listed] == [("w/r.txt", "recovered", False), ("w/unknown.txt", "recovered", False)]
    assert [keep.http.get(item["link"], timeout=60).content for item in listed] == [b"torn", b"found"]
    assert keep.retry(session) == (0, 0) and len(keep.unkept(session)) == 2
    assert keep.read("w/r.txt") == b"before"
    dismissed = keep.call("DELETE", keep.address(session) + "/unkept", params={"path": "w/r.txt"}).json()
    assert dismissed == {"dismissed": 1} and [item["path"] for item in keep.unkept(session)] == ["w/unknown.txt"]
    keep.call("DELETE", keep.address(session) + "/unkept", 404, params={"path": "w/r.txt"})
    keep.call("DELETE", keep.address(session) + "/unkept")
    assert keep.unkept(session) == []
    assert keep.http.get(listed[0]["link"], timeout=60).content == b"torn"


def test_what_could_not_be_recovered_is_recovered_by_a_retry_of_an_awake_session(server, keep):
    session = keep.create(folder="w")
    keep.run(session, "1")
    copy = server.data / "copies" / session["id"].removeprefix("s_")
    keep.quota(1_000_000)
    server.kill()
    (copy / "large").write_bytes(bytes(3_000_000))
    keep = restart(server, boot="another")
    assert keep.names(session) == [("w/large", "refused", "quota")]
    keep.run(session, "1")
    assert keep.names(session) == [("w/large", "refused", "quota")]
    keep.quota(100_000_000)
    assert keep.retry(session) == (1, 0)
    assert keep.names(session) == [("w/large", "recovered", "power_cut")] and len(keep.read("w/large")) == 3_000_000


def test_many_items_come_in_pages(keep):
    session = keep.create(folder="w")
    keep.quota(1)
    keep.run(session, "import os\nfor i in range(25): open(f'{i:02}', 'wb').write(os.urandom(200_000))")
    paths, cursor = [], None
    while True:
        query = {"limit": 10, **({"cursor": cursor} if cursor else {})}
        page = keep.call("GET", keep.address(session) + "/unkept", params=query).json()
        paths += [item["path"] for item in page["items"]]
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert paths == [f"w/{i:02}" for i in range(25)]
    keep.call("GET", keep.address(session) + "/unkept", 400, params={"cursor": "nonsense"})
    assert keep.retry(session, limit=10) == (0, 25)
    keep.quota(100_000_000)
    assert keep.retry(session) == (25, 0)


def test_a_session_of_somebody_else_is_not_there(server, keep):
    session = keep.create(folder="w")
    made = keep.call("POST", "/api/v1/principals", 201, json={"name": "other"}).json()
    key = keep.call("POST", "/api/v1/keys", 201, json={"name": "k", "principal_id": made["id"]}).json()["secret"]
    other = Unkept(server, key)
    other.call("GET", other.address(session) + "/unkept", 404)
    other.call("POST", other.address(session) + "/retry", 404)
    other.call("DELETE", other.address(session) + "/unkept", 404)


def test_a_deleted_session_is_not_retried(keep):
    session = keep.create(folder="w")
    keep.call("DELETE", keep.address(session), 204)
    keep.call("POST", keep.address(session) + "/retry", 410)


def test_a_deletion_that_is_refused_leaves_the_interpreter_alone(keep):
    session = keep.create(folder="w")
    keep.run(session, "x = 5")
    keep.quota(1_000_000)
    assert keep.run(session, BIG)["not_kept"]
    running = keep.start(session, "import os, time\nopen('begun', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.01)")
    keep.call("DELETE", keep.address(session), 409)
    keep.call("POST", f"{running}/cancel")
    assert keep.wait(running)["end"] == "interrupted"
    done = keep.run(session, "print(x)")
    assert text_of(done) == "5\n" and not done["woke"], done
    # With room for it, the same call keeps the file and deletes the session.
    keep.quota(1 << 40)
    keep.call("DELETE", keep.address(session), 204)
    assert "big" in keep.files("w")


def test_retries_executions_and_sleep_at_once_end_well(keep):
    session = keep.create(folder="w")
    keep.quota(1_000_000)
    keep.run(session, BIG)
    answers = []

    def ask(method, path, **options):
        answers.append(requests.request(method, keep.server.url + keep.address(session) + path, timeout=180,
                                        headers={"Authorization": f"Bearer {ROOT_KEY}"}, **options).status_code)

    asked = [("POST", "/retry", {}), ("POST", "/sleep", {}), ("POST", "/executions", {"json": {"code": "1"}})] * 5
    threads = [threading.Thread(target=ask, args=(method, path), kwargs=options) for method, path, options in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * len(asked)
    assert keep.names(session) == [("w/big", "refused", "quota")]
    keep.quota(100_000_000)
    assert keep.retry(session) == (1, 0)


def test_the_command_line_lists_retries_and_dismisses(server, keep, tmp_path):
    cli = Cli(tmp_path, server)
    session = keep.create(folder="w")
    keep.put("w/r.txt", b"before")
    token = keep.lock("w/r.txt")
    keep.quota(1_000_000)
    keep.run(session, BIG + "; open('r.txt', 'w').write('from the session')")
    assert [line.split()[:2] + line.split()[-1:] for line in cli("sessions", "unkept", session["id"]).lines] == [
        ["refused", "quota", "w/big"], ["aside", "locked", "w/r.txt"]]
    assert cli("sessions", "unkept", session["id"], "--json").json_lines == keep.unkept(session)
    assert "sessions retry" in cli("sessions", "rm", session["id"], code=5).err
    assert "w/big" in cli("sessions", "retry", session["id"], code=1).out
    keep.quota(100_000_000)
    left = cli("sessions", "retry", session["id"], "--json", code=1).json
    assert (left["settled"], left["remaining"]) == (1, 1)
    cli("sessions", "unkept", session["id"], "--path", "w/r.txt", code=2)
    cli("sessions", "unkept", session["id"], "--dismiss", "--path", "nothing", code=3)
    cli("sessions", "unkept", session["id"], "--dismiss", "--path", "w/r.txt")
    assert cli("sessions", "unkept", session["id"]).out == ""
    cli("sessions", "retry", session["id"])
    keep.release(token)
    cli("sessions", "unkept", "s_" + "1" * 32, code=3)


def test_a_server_that_runs_no_code_lists_and_dismisses_all_the_same(server, keep):
    keep.put("w/r.txt", b"before")
    session = keep.create(folder="w")
    keep.lock("w/r.txt")
    keep.run(session, "open('r.txt', 'w').write('from the session')")
    server.stop()
    server.environment["SANDKEEP_SANDBOX"] = "off"
    server.start()
    keep = Unkept(server)
    assert keep.names(session) == [("w/r.txt", "aside", "locked")]
    keep.call("POST", keep.address(session) + "/retry", 503)
    assert keep.call("DELETE", keep.address(session) + "/unkept").json() == {"dismissed": 1}
    assert keep.unkept(session) == []
