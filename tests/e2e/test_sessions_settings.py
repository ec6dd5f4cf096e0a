"""What a session can be given: files of any workspace, variables, labels; and its history as a notebook or a program."""

import subprocess
import sys

import nbformat
import pytest

from sandkeep_cli import Cli
from sandkeep_server import ROOT_KEY, Server
from sessions_client import Keep, text_of


@pytest.fixture(scope="module")
def server():
    one = Server(environment={"SANDKEEP_SANDBOX": "required"}).start()
    yield one
    assert one.stop() == 0
    one.remove()


@pytest.fixture
def keep(server):
    return Keep(server)


def test_files_of_other_workspaces_are_there_and_two_of_one_name_both(keep):
    keep.call("POST", "/api/v1/workspaces", 201, json={"name": "library"})
    first = keep.put("data.csv", b"a", workspace="library")
    keep.put("data.csv", b"b", status=200, workspace="library")
    keep.put("own/data.csv", b"c")
    keep.put("own/deep/er.txt", b"d")
    session = keep.create(name="mounts", files=[
        {"workspace": "library", "path": "data.csv"},
        {"workspace": "library", "version": first["version_id"]},
        {"path": "own", "as": "inputs"},
    ])
    folder = session["folder"]
    asked = [item["asked"] for item in session["added"]]
    paths = [item["path"] for item in session["added"]]
    assert asked == ["data.csv", first["version_id"], "own"]
    assert paths[0] == f"{folder}/data.csv" and paths[2] == f"{folder}/inputs" and len(set(paths)) == 3
    second = paths[1].removeprefix(folder + "/")
    done = keep.run(session, f"for n in ['data.csv', {second!r}, 'inputs/data.csv', 'inputs/deep/er.txt']: print(open(n).read())")
    assert text_of(done) == "b\na\nc\nd\n" and done["kept"] == []


def test_a_version_is_brought_also_when_its_file_is_in_the_trash(keep):
    made = keep.call("PUT", "/api/v1/workspaces/default/files/old/report.csv", 201, data=b"as it was").json()["version"]["id"]
    keep.call("DELETE", "/api/v1/workspaces/default/files/old/report.csv", 200)
    keep.call("PUT", "/api/v1/workspaces/default/files/old/report.csv", 201, data=b"another file")
    session = keep.create(files=[{"version": made}])
    assert text_of(keep.run(session, "print(open('report.csv').read())")) == "as it was\n"
    keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 204)


def test_files_come_with_an_execution_too(keep):
    session = keep.create(name="later")
    keep.run(session, "open('data.csv', 'w').write('mine')")
    keep.put("later/data.csv", b"theirs")
    done = keep.run(session, "import os; print(sorted(os.listdir('.')))", files=[{"path": "later/data.csv"}, {"path": "later/data.csv", "as": "sub/x.csv"}])
    there = [item["path"].removeprefix(session["folder"] + "/") for item in done["added"]]
    assert there[0] != "data.csv" and there[1] == "sub/x.csv" and there[0] in text_of(done)
    assert text_of(keep.run(session, f"print(open('data.csv').read(), open({there[0]!r}).read())")) == "mine theirs\n"


def test_files_that_are_not_there_leave_nothing_half_done(keep):
    before = len(keep.call("GET", "/api/v1/sessions").json()["items"])
    keep.put("there.txt", b"x")
    refused = keep.call("POST", "/api/v1/sessions", 404, json={"folder": "half", "files": [{"path": "there.txt"}, {"path": "nowhere.txt"}]})
    assert "nowhere.txt" in refused.json()["error"]["message"]
    keep.call("GET", "/api/v1/workspaces/default/entries/half", 404)
    assert len(keep.call("GET", "/api/v1/sessions").json()["items"]) == before
    session = keep.create()
    keep.run(session, "1", status=404, files=[{"path": "nowhere.txt"}])
    for bad in ([{"path": "a", "version": "v_" + "0" * 32}], [{}], [{"path": "a", "was": "b"}], ["a"], "a"):
        keep.run(session, "1", status=400, files=bad)
    assert keep.run(session, "1")["number"] == 1


def test_files_of_other_principals_cannot_be_added(keep, server):
    principal = keep.call("POST", "/api/v1/principals", 201, json={"name": "stranger", "kind": "agent"}).json()
    key = keep.call("POST", "/api/v1/keys", 201, json={"name": "k", "principal_id": principal["id"]}).json()["secret"]
    mine = keep.put("secret.txt", b"s")
    stranger = Keep(server, key)
    own = keep.call("GET", "/api/v1/workspaces/default").json()["id"]
    for file in ({"workspace": own, "path": "secret.txt"}, {"workspace": own, "version": mine["version_id"]}, {"version": mine["version_id"]}):
        stranger.call("POST", "/api/v1/sessions", 404, json={"files": [file]})


def test_environment_labels_and_runtime(keep):
    session = keep.create(environment={"REGION": "nord", "EMPTY": "", "TEXT": "ä \n 'x'"}, labels={"ticket": "17"}, runtime="default")
    assert session["labels"] == {"ticket": "17"} and session["runtime"] == "default"
    done = keep.run(session, "import os; print(repr([os.environ[n] for n in ('REGION', 'EMPTY', 'TEXT')]))\n!echo $REGION")
    assert text_of(done) == repr(["nord", "", "ä \n 'x'"]) + "\nnord\n"
    assert text_of(keep.run(session, "echo $REGION", language="bash")) == "nord\n"
    assert keep.get(session)["environment"]["REGION"] == "nord"
    for bad in ({"environment": {"A": 1}}, {"environment": {"A=B": "x"}}, {"environment": {"A": "x\0"}}, {"environment": {"": "x"}}, {"environment": []},
                {"labels": {"a": 1}}, {"labels": {"a": "x" * 5000}}, {"runtime": "nowhere"}):
        refused = keep.call("POST", "/api/v1/sessions", 400, json=bad).json()["error"]
        assert refused["field"].split(".")[0] == next(iter(bad))


def test_bad_code_and_other_peoples_sessions_are_refused(keep, server):
    session = keep.create()
    path = f"/api/v1/sessions/{session['id']}"
    assert keep.run(session, "#" * 10_000_000, status=413)["error"]["code"] == "too_large"
    keep.call("POST", f"{path}/executions", 400, data=b'{"code": "\xff\xfe"}', headers={"Content-Type": "application/json"})
    principal = keep.call("POST", "/api/v1/principals", 201, json={"name": "other", "kind": "agent"}).json()
    other = Keep(server, keep.call("POST", "/api/v1/keys", 201, json={"name": "k", "principal_id": principal["id"]}).json()["secret"])
    for method, below in (("GET", ""), ("DELETE", ""), ("GET", "/executions"), ("GET", "/export"), ("POST", "/sleep")):
        other.call(method, path + below, 404)
    other.call("POST", f"{path}/executions", 404, json={"code": "1"})
    assert keep.run(session, "1")["number"] == 1


@pytest.fixture(scope="module")
def history(server):
    keep = Keep(server)
    session = keep.create(name="storý")
    keep.run(session, "x = 6\nprint('first')\nx * 7")
    keep.run(session, "import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    keep.run(session, "echo shell", language="bash")
    keep.run(session, "1/0")
    keep.run(session, "this is no python")
    keep.run(session, "!echo magic")
    keep.run(session, "import os; os._exit(4)")
    return session


def test_history_as_a_notebook(keep, history):
    answer = keep.call("GET", f"/api/v1/sessions/{history['id']}/export")
    notebook = nbformat.reads(answer.text, as_version=4)
    nbformat.validate(notebook)
    assert len(notebook.cells) == 7 and [cell.execution_count for cell in notebook.cells] == list(range(1, 8))
    first = notebook.cells[0]
    assert first.source == "x = 6\nprint('first')\nx * 7"
    assert first.outputs[0].text == "first\n" and first.outputs[1].data["text/plain"] == "42"
    image = next(output for output in notebook.cells[1].outputs if "data" in output)
    assert image.data["image/png"].startswith("iVBOR") and "\n" not in image.data["image/png"]
    assert notebook.cells[2].source == "%%bash\necho shell"
    assert notebook.cells[3].outputs[0].ename == "ZeroDivisionError"
    assert "filename" in answer.headers["Content-Disposition"]


def test_history_as_a_program_that_python_takes(keep, history, tmp_path):
    text = keep.call("GET", f"/api/v1/sessions/{history['id']}/export?format=py").text
    compile(text, "story.py", "exec")
    assert "x = 6\nprint('first')\n" in text and "# this is no python" in text and '"!echo magic"' in text
    keep.call("GET", f"/api/v1/sessions/{history['id']}/export?format=pdf", 400)
    keep.call("GET", "/api/v1/sessions/s_" + "0" * 31 + "1/export", 404)


def test_the_command_line_exports_and_what_it_exports_runs(server, keep, tmp_path):
    session = keep.create(name="runs")
    keep.run(session, "y = 20\nprint(y + 1)")
    cli = Cli(tmp_path, server=server.url, key=ROOT_KEY)
    cli("sessions", "export", session["id"], str(tmp_path / "a.ipynb"))
    nbformat.validate(nbformat.read(tmp_path / "a.ipynb", as_version=4))
    cli("sessions", "export", session["id"], str(tmp_path / "a.py"))
    assert subprocess.run([sys.executable, tmp_path / "a.py"], capture_output=True, text=True, check=True).stdout == "21\n"
    assert "y = 20" in cli("sessions", "export", session["id"], "--format", "py").out
