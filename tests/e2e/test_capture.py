"""What code writes is kept, however it writes it: as root and as an ordinary user, with nothing missing."""

import hashlib
import json
import os
import signal
import subprocess
import time

import pytest

from sessions_client import USERS, Keep, UserServer, text_of

# Prints every regular file below the folder with its hash, as the code itself sees it.
INVENTORY = """
import os, hashlib, json
def _inventory():
    found = {}
    for folder, _, names in os.walk(b'.'):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path) and os.path.isfile(path):
                found[path[2:].decode(errors='surrogateescape')] = hashlib.sha256(open(path, 'rb').read()).hexdigest()
    print('INVENTORY' + json.dumps(found))
_inventory()
"""


@pytest.fixture(scope="module", params=USERS, ids=lambda uid: "root" if uid == 0 else "user")
def server(request):
    one = UserServer(request.param).start()
    yield one
    code, log = one.stop(), one.log()
    one.remove()
    assert code == 0 and "fatal" not in log, log


@pytest.fixture
def keep(server):
    return Keep(server)


def assert_nothing_is_missing(keep, session):
    """The workspace has what the session's folder has, byte for byte."""
    inventory = json.loads(text_of(keep.run(session, INVENTORY)).split("INVENTORY")[1])
    kept = {}
    for item in entries(keep, session["folder"]):
        kept[item["path"].removeprefix(session["folder"] + "/")] = item["sha256"]
    assert sorted(inventory.values()) == sorted(kept.values())
    for path, digest in inventory.items():
        if path.isprintable() and "%" not in path:  # other names are escaped in the workspace
            assert kept[path] == digest, path
    return inventory


def entries(keep, folder):
    cursor, found = "", []
    while True:
        query = {"folder": folder, "recursive": "true", **({"cursor": cursor} if cursor else {})}
        page = keep.call("GET", "/api/v1/workspaces/default/list", params=query).json()
        found += [item for item in page["items"] if item["kind"] == "file"]
        cursor = page.get("next_cursor") or ""
        if not cursor:
            return found


def paths(done, folder):
    return sorted(f["path"].removeprefix(folder + "/") for f in done["kept"])


TORTURE = {
    "three hundred files": "for i in range(300): open(f'f{i}', 'w').write(str(i))",
    "folders that others leave out": "import os\nfor d in ('build', 'dist', 'target', 'env', '.hidden', 'node_modules', '__pycache__', '.git'):\n    os.makedirs(d); open(d + '/x', 'w').write(d)",
    "twenty levels": "import os\np = '/'.join(f'l{i}' for i in range(20)); os.makedirs(p); open(p + '/deep', 'w').write('d')",
    "names": "for n in ('今週.txt', 'تقرير.csv', '🎈', 'with space', 'new\\nline', '-rf', 'a\"b\\'c', '%41', 'ü'): open(n, 'w').write(n)\nopen(b'bad\\xff\\xfe', 'w').write('b')",
    "empty files and folders": "import os\nopen('empty', 'w').close(); os.makedirs('void/inner')",
    "atomic save": "import os\nfor i in range(5):\n    open('t.tmp', 'w').write(str(i)); os.replace('t.tmp', 'saved')",
    "mmap": "import mmap\nf = open('m', 'w+b'); f.truncate(8192); m = mmap.mmap(f.fileno(), 8192); m[:4] = b'mmap'; m.close(); f.close()",
    "mmap that stays": "import mmap\ng = open('m2', 'w+b'); g.truncate(8192); m2 = mmap.mmap(g.fileno(), 8192); m2[5:9] = b'stay'",
    "hard links": "import os\nopen('one', 'w').write('linked'); os.link('one', 'two')",
    "same size and time": "import os\nopen('s', 'w').write('aaa'); t = os.stat('s').st_mtime_ns; open('s', 'w').write('bbb'); os.utime('s', ns=(t, t))",
    "appends in a loop": "for i in range(200):\n    with open('log', 'a') as f: f.write(f'{i}\\n')",
    "a child writes": "import subprocess\nsubprocess.run('for i in 1 2 3; do echo $i > c$i; done', shell=True)",
    "rename over": "import os\nopen('a', 'w').write('1'); open('b', 'w').write('2'); os.rename('a', 'b')",
    "folder renamed": "import os\nos.makedirs('d1/e'); open('d1/e/f', 'w').write('x'); os.rename('d1', 'd2')",
    "never closed": "h = open('open-still', 'w'); h.write('flushed'); h.flush()",
}


@pytest.mark.parametrize("name", TORTURE)
def test_everything_is_kept(keep, name):
    session = keep.create(name="torture")
    done = keep.run(session, TORTURE[name])
    assert done["end"] == "ok" and done["not_kept"] == [], done
    assert assert_nothing_is_missing(keep, session)
    keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 204)


def test_a_file_that_code_made_unreadable_for_itself_is_kept(keep):
    session = keep.create(folder="locked")
    done = keep.run(session, "import os\nopen('f', 'w').write('mode 000'); os.chmod('f', 0)")
    assert done["end"] == "ok" and done["not_kept"] == [] and paths(done, "locked") == ["f"]
    assert keep.call("GET", "/api/v1/workspaces/default/files/locked/f").content == b"mode 000"
    assert keep.call("GET", "/api/v1/workspaces/default/entries/locked/f").json()["mode"] == "0000"


def test_a_large_file_and_a_sparse_one_are_kept_and_a_terabyte_is_named(keep):
    session = keep.create(folder="large", memory="2g")
    done = keep.run(session, "import os\nwith open('big', 'wb') as f:\n    for i in range(200): f.write(os.urandom(1 << 20))")
    assert [(f["path"], f["size"]) for f in done["kept"]] == [("large/big", 200 << 20)]
    done = keep.run(session, "with open('sparse', 'wb') as f: f.truncate(1 << 30); f.seek(1 << 29); f.write(b'in the middle')")
    assert [(f["path"], f["size"]) for f in done["kept"]] == [("large/sparse", 1 << 30)]
    middle = keep.call("GET", "/api/v1/workspaces/default/files/large/sparse", 206, headers={"Range": f"bytes={1 << 29}-{(1 << 29) + 12}"})
    assert middle.content == b"in the middle"
    done = keep.run(session, "with open('tera', 'wb') as f: f.truncate(1 << 40)\nopen('after', 'w').write('x')")
    assert done["end"] == "ok" and paths(done, "large") == ["after"]
    assert [(n["path"], n["reason"]) for n in done["not_kept"]] == [("large/tera", "too_large")]
    keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 409)  # it is nowhere else
    keep.call("DELETE", f"/api/v1/sessions/{session['id']}?force=true", 204)


def test_links_fifos_and_sockets_are_recorded_and_never_followed(keep):
    session = keep.create(folder="odd")
    code = ("import os, socket\nos.symlink('/etc/passwd', 'passwd'); os.symlink('.', 'loop'); os.mkfifo('pipe')\n"
            "s = socket.socket(socket.AF_UNIX); s.bind('sock'); os.makedirs('d'); os.symlink('/', 'd/root')\nopen('plain', 'w').write('x')")
    done = keep.run(session, code)
    assert paths(done, "odd") == ["plain"]
    assert sorted((n["path"], n["reason"]) for n in done["not_kept"]) == [
        ("odd/d/root", "link"), ("odd/loop", "link"), ("odd/passwd", "link"), ("odd/pipe", "fifo"), ("odd/sock", "socket")]
    assert keep.files("odd") == ["plain"]


def test_hard_links_are_kept_under_both_names_and_renames_keep_the_file(keep):
    session = keep.create(folder="ids")
    first = keep.run(session, "import os\nopen('one', 'w').write('x'); os.link('one', 'two'); open('old', 'w').write('moved')")
    assert paths(first, "ids") == ["old", "one", "two"]
    done = keep.run(session, "os.rename('old', 'new')")
    assert done["renamed"] == [{"from": "ids/old", "to": "ids/new"}] and done["kept"] == []
    entry = keep.call("GET", "/api/v1/workspaces/default/entries/ids/new").json()
    assert entry["id"] == next(f["file_id"] for f in first["kept"] if f["path"] == "ids/old")
    done = keep.run(session, "os.remove('new')")
    assert done["deleted"] == ["ids/new"]
    assert "ids/new" in [item["path"] for item in keep.call("GET", "/api/v1/workspaces/default/trash").json()["items"]]


def test_appends_become_a_few_versions_and_a_file_still_open_is_incomplete(keep):
    session = keep.create(folder="appends")
    done = keep.run(session, "for i in range(2000):\n    with open('log', 'a') as f: f.write(f'{i}\\n')")
    assert len(keep.call("GET", "/api/v1/workspaces/default/versions/appends/log").json()["items"]) <= 3
    done = keep.run(session, "h = open('half', 'w'); h.write('ha'); h.flush()")
    assert [(f["path"], f["complete"]) for f in done["kept"]] == [("appends/half", False)]
    done = keep.run(session, "h.write('lf'); h.close()")
    assert [(f["path"], f["complete"]) for f in done["kept"]] == [("appends/half", True)]
    assert keep.read("appends/half") == b"half"


ENDINGS = {
    "os._exit": ("import os\nopen('last', 'w').write('x')\nos._exit(3)", "error", {}),
    "segmentation fault": ("open('last', 'w').write('x')\nimport ctypes\nctypes.string_at(0)", "crash", {}),
    "time-out": ("open('last', 'w').write('x')\nwhile True: pass", "timeout", {"timeout_s": 1}),
    "time-out that is ignored": ("open('last', 'w').write('x')\nimport signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", "timeout", {"timeout_s": 1}),
    "memory": ("open('last', 'w').write('x')\nb = []\nwhile True: b.append(bytearray(8 << 20))", "oom", {}),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_what_was_closed_before_the_end_is_kept(keep, name):
    code, end, more = ENDINGS[name]
    session = keep.create(folder="end-" + name.replace(" ", "-"), memory="256m")
    keep.run(session, "open('first', 'w').write('1')")
    done = keep.run(session, code, **more)
    # Without control groups memory is watched, and Python may see the limit first.
    assert done["end"] == end or (end == "oom" and done["end"] == "error" and "MemoryError" in str(done["outputs"])), done
    assert paths(done, session["folder"]) == ["last"] and done["not_kept"] == []
    assert keep.files(session["folder"]) == ["first", "last"]


def session_processes(server):
    """Processes below the server's zygotes."""
    lines = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    children = {}
    for line in lines:
        pid, ppid, _ = line.split(None, 2)
        children.setdefault(int(ppid), []).append(int(pid))
    found, todo = [], [server.process.pid]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def test_a_sandbox_that_is_killed_from_outside_loses_nothing_that_was_closed(keep, server):
    session = keep.create(folder="killed")
    execution = keep.start(session, "import os\nopen('closed', 'w').write('x')\nprint('host', 'written', flush=True)\nimport time; time.sleep(100)")
    keep.printed_until(execution, "written")
    for pid in session_processes(server):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            name = file.read()
        status = open(f"/proc/{pid}/status").read()
        namespaces = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()
        if len(namespaces) > 2 and namespaces[-1] == "2" and os.path.exists(f"/proc/{pid}/root/mnt/data/closed"):
            os.kill(pid, signal.SIGKILL)
            break
    else:
        raise AssertionError(f"the session's process was not found; last {name}")
    done = keep.wait(execution)
    assert done["end"] == "crash" and paths(done, "killed") == ["closed"]


def test_a_half_materialised_copy_deletes_nothing(keep, server):
    """The server dies while it fills a copy: what is not in it yet must not count as deleted."""
    for i in range(30):
        keep.put(f"half/f{i:02}", os.urandom(2_000_000))
    session = keep.create(folder="half")
    execution = keep.start(session, "1")
    copies = server.data / "copies"
    deadline = time.monotonic() + 30
    while not any(copy.is_dir() and any(copy.iterdir()) for copy in copies.iterdir()) and time.monotonic() < deadline:
        pass
    server.kill()
    server.start()
    again = Keep(server)
    assert execution and len(again.files("half")) == 30
    done = again.run(session, "import os; print(len(os.listdir('.')))")
    assert text_of(done) == "30\n" and done["deleted"] == [] and len(again.files("half")) == 30
    # A copy that somebody removed is made anew, not taken for an empty one.
    again.call("POST", f"/api/v1/sessions/{session['id']}/sleep")
    subprocess.run(["rm", "-rf", copies / session["id"].removeprefix("s_")], check=True)
    done = again.run(session, "import os; print(len(os.listdir('.')))")
    assert text_of(done) == "30\n" and len(again.files("half")) == 30


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_what_a_running_cell_had_closed_survives_the_server(keep, server, how):
    session = keep.create(folder=f"server-{how}")
    keep.run(session, "open('answered', 'w').write('1')")
    execution = keep.start(session, "open('closed', 'w').write('2')\nh = open('open', 'w'); h.write('3'); h.flush()\nprint('written', flush=True)\nimport time; time.sleep(100)")
    keep.printed_until(execution, "written")
    time.sleep(0.3)  # so that the execution is on record
    getattr(server, how)()
    server.start()
    again = Keep(server)
    assert set(again.files(session["folder"])) >= {"answered", "closed"} and again.read(f"{session['folder']}/closed") == b"2"
    record = again.call("GET", execution).json()
    assert record["end"] == ("crash" if how == "kill" else "interrupted"), record
    done = again.run(session, "print(open('answered').read(), open('closed').read())")
    assert done["woke"] and text_of(done) == "1 2\n" and again.call("POST", "/api/v1/verify").json()["ok"]


def test_an_upload_to_a_running_session_is_seen_by_its_next_cell(keep):
    session = keep.create(folder="shared")
    keep.run(session, "x = 1")
    keep.put("shared/new.csv", b"a,b")
    keep.put("shared/deep/er/too.csv", b"c")
    done = keep.run(session, "print(open('new.csv').read(), open('deep/er/too.csv').read())")
    assert text_of(done) == "a,b c\n" and done["kept"] == []
    keep.put("shared/new.csv", b"changed", status=200)
    keep.call("DELETE", "/api/v1/workspaces/default/files/shared/deep")
    keep.call("POST", "/api/v1/workspaces/default/move", json={"from": "shared/new.csv", "to": "shared/moved.csv"})
    done = keep.run(session, "import os; print(sorted(os.listdir('.')), open('moved.csv').read())")
    assert text_of(done) == "['moved.csv'] changed\n" and done["kept"] == [] and done["deleted"] == []


def test_two_sessions_on_one_folder_see_each_others_files_and_diverge_in_the_open(keep):
    one, two = keep.create(folder="both"), keep.create(folder="both")
    keep.run(one, "open('a', 'w').write('one')")
    assert text_of(keep.run(two, "print(open('a').read())")) == "one\n"
    # Both write while neither has seen the other's.
    first = keep.start(one, "print('go', flush=True)\nimport time; time.sleep(1.2)\nopen('a', 'w').write('one again')")
    keep.printed_until(first, "go")
    keep.run(two, "open('a', 'w').write('two')")
    done = keep.wait(first)
    assert [(f["path"], f["diverged"]) for f in done["kept"]] == [("both/a", True)]
    versions = keep.call("GET", "/api/v1/workspaces/default/versions/both/a").json()["items"]
    contents = {keep.http.get(v["link"]).text for v in versions}
    assert contents == {"one", "two", "one again"} and keep.read("both/a") == b"one again"


def test_a_renamed_folder_whose_files_the_workspace_could_not_name_loses_none_that_was_kept(keep):
    folder = "/".join(["f" * 240] * 20)
    session = keep.create(folder=folder)
    below = "/".join(["n" * 240] * 13)
    keep.run(session, f"import os; os.makedirs('d/{below}'); open('d/{below}/file', 'w').write('deep'); open('d/near', 'w').write('near')")
    long = "x" * 250
    done = keep.run(session, f"os.rename('d', '{long}')")
    assert {item["reason"] for item in done["not_kept"]} == {"name"}
    assert f"{folder}/{long}/{below}/file" in [item["path"] for item in done["not_kept"]]
    assert keep.read(f"{folder}/{long}/near") == b"near" and keep.read(f"{folder}/d/{below}/file") == b"deep"
    assert keep.call("POST", "/api/v1/verify").json()["problems"] == []


def test_a_path_that_somebody_else_locked_is_kept_beside_it(keep):
    session = keep.create(folder="locks")
    keep.run(session, "open('mine', 'w').write('0'); open('gone', 'w').write('0')")
    lock = keep.call("POST", "/api/v1/workspaces/default/locks", 201, json={"path": "locks", "deep": True}).json()
    done = keep.run(session, "import os\nopen('mine', 'w').write('1'); os.remove('gone')")
    assert [(f["path"], f["locked"]) for f in done["kept"]] == [("locks/mine", True)]
    assert keep.read("locks/mine") == b"0" and keep.read("locks/gone") == b"0" and done["deleted"] == []
    assert keep.http.get(done["kept"][0]["link"]).text == "1"
    keep.call("POST", "/api/v1/workspaces/default/locks/release", 204, json={"token": lock["token"]})
    assert hashlib.sha256(keep.read("locks/gone")).hexdigest() == hashlib.sha256(b"0").hexdigest()


def test_what_is_new_on_a_locked_path_is_kept_in_the_trash_until_it_may_be_there(keep):
    session = keep.create(folder="held")
    keep.run(session, "open('before', 'w').write('0')")
    lock = keep.call("POST", "/api/v1/workspaces/default/locks", 201, json={"path": "held"}).json()
    done = keep.run(session, "import os\nopen('new', 'w').write('1'); os.mkdir('sub'); open('sub/new', 'w').write('2')")
    assert sorted((f["path"], f["locked"]) for f in done["kept"]) == [("held/new", True), ("held/sub/new", True)]
    assert sorted(keep.http.get(f["link"]).text for f in done["kept"]) == ["1", "2"]
    listed = lambda: {e["path"] for e in keep.call("GET", "/api/v1/workspaces/default/list?recursive=true&folder=held").json()["items"]}
    assert listed() == {"held/before"}
    # The session goes on with what it wrote.
    assert text_of(keep.run(session, "print(open('new').read(), open('sub/new').read())")) == "1 2\n"
    keep.call("POST", "/api/v1/workspaces/default/locks/release", 204, json={"token": lock["token"]})
    done = keep.run(session, "open('new', 'a').write('+'); open('sub/new', 'a').write('+')")
    assert not any(f["locked"] for f in done["kept"])
    assert listed() == {"held/before", "held/new", "held/sub", "held/sub/new"} and keep.read("held/sub/new") == b"2+"


def test_files_that_a_session_asks_for_need_the_token_of_a_lock_on_their_place(keep):
    keep.put("given.txt", b"x")
    lock = keep.call("POST", "/api/v1/workspaces/default/locks", 201, json={"path": "into"}).json()
    asked = {"folder": "into", "files": [{"path": "given.txt"}]}
    keep.call("POST", "/api/v1/sessions", 423, json=asked)
    made = keep.call("POST", "/api/v1/sessions", 201, json=asked, headers={"X-Sandkeep-Lock": lock["token"]}).json()
    run = f"/api/v1/sessions/{made['id']}/executions"
    asked = {"code": "1", "files": [{"path": "given.txt", "as": "again.txt"}]}
    keep.call("POST", run, 423, json=asked)
    keep.call("POST", run, 200, json=asked, headers={"X-Sandkeep-Lock": lock["token"]})
    assert keep.read("into/again.txt") == b"x"


def test_inside_keep_link_fetch_and_versions_work(keep):
    keep.put("elsewhere/far.txt", b"far")
    session = keep.create(folder="inside")
    code = ("import sandkeep, os\nopen('a', 'w').write('1'); v = sandkeep.keep('a'); open('a', 'w').write('2')\n"
            "print(v['link'], sandkeep.link('a'), len(sandkeep.versions('a')))\n"
            "print(sandkeep.fetch('elsewhere/far.txt'), open('far.txt').read(), open(sandkeep.fetch('elsewhere/far.txt', 'd/near')).read())\n"
            "open(b'odd\\xff', 'w').write('o'); print(sandkeep.keep(b'odd\\xff')['size'])\n"
            "for bad in ('../x', 'nowhere', '.'):\n    try: sandkeep.keep(bad); print('kept', bad)\n    except sandkeep.Error: pass")
    done = keep.run(session, code)
    first, rest, odd = text_of(done).splitlines()
    one, two, count = first.split()
    assert [keep.http.get(link).text for link in (one, two)] == ["1", "2"] and count == "2"
    assert rest == "/mnt/data/far.txt far far" and odd == "1"
    assert {"inside/a", "inside/far.txt", "inside/d/near"} <= {f["path"] for f in done["kept"]}
