"""Copies of files that sleeping sessions have on the local disk are a cache; and whose session makes room for another's."""

import os

import pytest

from sessions_client import USERS, Keep, UserServer, text_of, wait_for


@pytest.fixture(params=USERS, ids=lambda uid: "root" if uid == 0 else "user")
def make_server(request):
    made = []

    def make(*flags):
        made.append(UserServer(request.param, *flags).start())
        return made[-1]

    yield make
    for one in made:
        code, log = one.stop(), one.log()
        one.remove()
        assert code == 0 and "fatal" not in log, log


def copy_of(server, session):
    return os.path.join(server.data, "copies", session["id"].removeprefix("s_"))


def sleep(keep, session):
    keep.call("POST", f"/api/v1/sessions/{session['id']}/sleep")


def test_a_copy_that_nobody_used_goes_and_waking_brings_its_files_back(make_server):
    server = make_server("--session-copy-keep-s", "1")
    keep = Keep(server)
    session = keep.create(name="evicted", folder="evicted")
    keep.run(session, "import os\nos.makedirs('a/empty')\nopen('a/kept', 'w').write('here')\nos.chmod('a/kept', 0o640)")
    assert os.path.isdir(copy_of(server, session))
    sleep(keep, session)
    wait_for(lambda: not os.path.exists(copy_of(server, session)))
    keep.put("evicted/new", b"from outside")
    done = keep.run(session, "import os\nprint(open('a/kept').read(), oct(os.stat('a/kept').st_mode)[-3:], sorted(os.listdir('a')), open('new').read())")
    assert done["woke"] and text_of(done) == "here 640 ['empty', 'kept'] from outside\n"
    assert done["kept"] == [] and done["deleted"] == []
    assert keep.files("evicted") == ["a/kept", "new"]


def test_a_copy_with_something_that_could_not_be_kept_stays(make_server):
    server = make_server("--session-copy-keep-s", "1")
    keep = Keep(server)
    holding, plain = keep.create(name="holding"), keep.create(name="plain")
    assert [item["path"] for item in keep.run(holding, "import os; os.mkfifo('pipe')")["not_kept"]] != []
    keep.run(plain, "open('x', 'w').close()")
    sleep(keep, holding)
    sleep(keep, plain)
    wait_for(lambda: not os.path.exists(copy_of(server, plain)))  # the other one, unused for longer, was looked at before
    assert os.path.exists(copy_of(server, holding))
    assert text_of(keep.run(holding, "import os; print(os.listdir())")) == "['pipe']\n"


def test_sessions_of_the_principal_with_most_are_evicted_first(make_server):
    server = make_server("--sessions-max", "4")
    root = Keep(server)

    def somebody(name):
        made = root.call("POST", "/api/v1/principals", 201, json={"name": name}).json()
        key = root.call("POST", "/api/v1/keys", 201, json={"name": name, "principal_id": made["id"]}).json()["secret"]
        keep = Keep(server, key)
        keep.call("POST", "/api/v1/workspaces", 201, json={"name": name})
        return keep, lambda: keep.create(workspace=name)

    one, one_session = somebody("one")
    many, many_session = somebody("many")
    third, third_session = somebody("third")
    alone = one_session()
    one.run(alone, "x = 'still here'")
    theirs = [many_session() for _ in range(3)]
    for session in theirs:
        many.run(session, "1")
    late = third_session()
    path = f"{server.url}/api/v1/sessions/{late['id']}/executions"
    wait_for(lambda: third.http.post(path, json={"code": "1"}, timeout=60).status_code == 200)  # 429 while all were used just now

    def states():
        return [many.get(session)["status"] for session in theirs]

    wait_for(lambda: "asleep" in states())  # a moment later
    assert one.get(alone)["status"] == "running"  # though nobody has used it for longer
    assert states() == ["asleep", "running", "running"]
