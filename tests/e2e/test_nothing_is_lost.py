"""Programs that once lost files: whole folders renamed or deleted, inodes used again, truncation by path, overflows of the event queue.

The rule of every test here: the workspace has what code or a client wrote last, what an answer named is there, and the trash has only what
somebody deleted.
"""

import os
import random
from pathlib import Path

import pytest

from kept_folders import assert_same_on_both_sides, copy_of, entries, in_trash, kept_paths, sleep, versions
from sessions_client import USERS, Keep, UserServer, text_of, wait_for


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


@pytest.fixture
def folder(request):
    """A folder of the workspace that no other test uses."""
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)


# A comparison of everything: after the end of the kernel, and before sleep.

ENDINGS = {
    "exits": ("import os; os._exit(3)", {}),
    "is killed": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", {}),
    "runs out of memory": ("hold = []\nwhile True: hold.append(bytearray(8 << 20))", {}),
    "ignores its time-out": ("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", {"timeout_s": 1}),
    "sleeps": (None, {}),
}
CHANGES = {
    "renamed": ("import os\nfor name in os.listdir('.'): os.rename(name, 'new-' + name)", ["new-a", "new-b", "new-d/c"], []),
    "deleted": ("import os, shutil\nfor name in os.listdir('.'): shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)", [], ["a", "b", "d"]),
    "replaced": ("import os, shutil\nfor name in os.listdir('.'): shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)\n"
                 "open('other', 'w').write('other')", ["other"], ["a", "b", "d"]),
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_folder_whose_whole_content_is_renamed_or_deleted_by_the_last_cell_stays(keep, folder, ending, change):
    code, left, trashed = CHANGES[change]
    last, more = ENDINGS[ending]
    session = keep.create(folder=folder, memory="256m")
    keep.run(session, "import os\nos.mkdir('d'); open('d/c', 'w').write('c'); open('a', 'w').write('a'); open('b', 'w').write('b')")
    keep.run(session, code if last is None else f"{code}\n{last}", **more)
    if last is None:
        sleep(keep, session)
    assert in_trash(keep, folder) == trashed
    assert keep.call("GET", f"/api/v1/workspaces/default/entries/{folder}").json()["kind"] == "folder"
    assert keep.files(folder) == left
    done = keep.run(session, "open('after', 'w').write('after')")
    assert [item["path"] for item in done["kept"]] == [f"{folder}/after"] and done["deleted"] == [], done
    assert sorted(assert_same_on_both_sides(keep, session)) == sorted([*left, "after"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_session_on_the_root_of_a_workspace_keeps_its_first_files(keep, folder, ending):
    last, more = ENDINGS[ending]
    workspace = folder[:60] + f"-{random.randrange(1 << 30)}"
    keep.call("POST", "/api/v1/workspaces", 201, json={"name": workspace})
    session = keep.create(workspace=workspace, folder="", memory="256m")
    write = "import os\nos.mkdir('d'); open('d/c', 'w').write('c'); open('a', 'w').write('a')"
    done = keep.run(session, write if last is None else f"{write}\n{last}", **more)
    if last is None:
        sleep(keep, session)
    assert done["not_kept"] == [], done
    assert sorted(entries(keep, "", workspace)) == ["a", "d/c"]
    assert sorted(assert_same_on_both_sides(keep, session, workspace)) == ["a", "d/c"]
    done = keep.run(session, "import os\nos.rename('a', 'b'); os.rename('d', 'e')\n" + (last or ""), **more)
    if last is None:
        sleep(keep, session)
    assert sorted(entries(keep, "", workspace)) == ["b", "e/c"] and in_trash(keep, "", workspace) == []


# Inode numbers that are used again.


def until_an_inode_is_reused(keep, session, make, replace, rounds=60, wanted=3):
    """Runs `make` and `replace` as two cells again and again; yields the answers of rounds in which the new inode has the number of the old one."""
    found = 0
    for number in range(rounds):
        made = keep.run(session, make.format(n=number))
        done = keep.run(session, replace.format(n=number))
        assert done["end"] in ("ok", "error"), done
        if "REUSED" in text_of(done):
            found += 1
            yield number, made, done
        if found == wanted:
            return
    if found == 0:
        pytest.skip("this file system gives new files other inode numbers")


def test_a_new_file_with_the_inode_of_a_deleted_one_is_no_rename(keep, folder):
    session = keep.create(folder=folder)
    make = "open('secret{n}.txt', 'w').write('secret')"
    replace = ("import os\nbefore = os.stat('secret{n}.txt').st_ino; os.remove('secret{n}.txt'); open('report{n}.txt', 'w').write('report')\n"
               "if os.stat('report{n}.txt').st_ino == before: print('REUSED')")
    for number, made, done in until_an_inode_is_reused(keep, session, make, replace):
        assert done["renamed"] == [] and done["deleted"] == [f"{folder}/secret{number}.txt"], done
        report = versions(keep, f"{folder}/report{number}.txt")
        assert [keep.http.get(version["link"]).text for version in report] == ["report"]
        assert report[0]["file_id"] != made["kept"][0]["file_id"]
        assert f"secret{number}.txt" in in_trash(keep, folder)


def test_a_new_folder_with_the_inode_of_a_deleted_one_has_none_of_its_files(keep, folder):
    session = keep.create(folder=folder)
    make = "import os\nos.makedirs('old{n}/deep'); open('old{n}/a', 'w').write('a'); open('old{n}/deep/b', 'w').write('b')"
    replace = ("import os, shutil\nbefore = os.stat('old{n}').st_ino; shutil.rmtree('old{n}'); os.makedirs('new{n}'); open('new{n}/c', 'w').write('c')\n"
               "if os.stat('new{n}').st_ino == before: print('REUSED')")
    for number, _, done in until_an_inode_is_reused(keep, session, make, replace):
        assert done["renamed"] == [] and f"{folder}/old{number}" in done["deleted"], done
        assert [path for path in keep.files(folder) if path.startswith(f"new{number}")] == [f"new{number}/c"]
    assert_same_on_both_sides(keep, session)


def test_a_reused_inode_is_no_rename_after_the_end_of_the_kernel_either(keep, folder):
    session = keep.create(folder=folder)
    make = "open('secret{n}.txt', 'w').write('secret')"
    replace = ("import os\nbefore = os.stat('secret{n}.txt').st_ino; os.remove('secret{n}.txt'); open('report{n}.txt', 'w').write('report')\n"
               "if os.stat('report{n}.txt').st_ino == before: print('REUSED', flush=True)\nos._exit(1)")
    for number, made, done in until_an_inode_is_reused(keep, session, make, replace, wanted=1):
        assert done["renamed"] == [], done
        report = versions(keep, f"{folder}/report{number}.txt")
        assert [keep.http.get(version["link"]).text for version in report] == ["report"] and report[0]["file_id"] != made["kept"][0]["file_id"]


def test_a_file_that_was_really_renamed_keeps_its_id_also_beside_others(keep, folder):
    session = keep.create(folder=folder)
    made = keep.run(session, "for i in range(20): open(f'f{i}', 'w').write(str(i))")
    ids = {item["path"]: item["file_id"] for item in made["kept"]}
    done = keep.run(session, "import os\nfor i in range(20):\n    os.rename(f'f{i}', f'g{i}'); open(f'h{i}', 'w').write('new')")
    assert sorted(pair["to"] for pair in done["renamed"]) == sorted(f"{folder}/g{i}" for i in range(20)) and done["deleted"] == []
    for i in range(20):
        entry = keep.call("GET", f"/api/v1/workspaces/default/entries/{folder}/g{i}").json()
        assert entry["id"] == ids[f"{folder}/f{i}"]


# Batches that are larger than a transaction may be.


@pytest.mark.parametrize("limit", [1, 7, 100])
def test_more_files_than_one_batch_may_have_are_all_kept(make_user_server, limit):
    keep = Keep(make_user_server("--batch-operations-max", str(limit)))
    count = 3 * limit + 20
    session = keep.create(folder="many")
    done = keep.run(session, f"import os\nfor i in range({count}):\n    os.makedirs(f'd{{i % 9}}', exist_ok=True); open(f'd{{i % 9}}/f{{i}}', 'w').write(str(i))")
    assert done["not_kept"] == [], done["not_kept"]
    assert kept_paths(keep, session, done) == keep.files("many") == sorted(f"d{i % 9}/f{i}" for i in range(count))
    done = keep.run(session, f"for i in range({count}): os.rename(f'd{{i % 9}}/f{{i}}', f'd{{i % 9}}/g{{i}}')")
    assert len(done["renamed"]) == count and done["not_kept"] == [] and in_trash(keep, "many") == []
    done = keep.run(session, f"for i in range(10, {count}): os.remove(f'd{{i % 9}}/g{{i}}')\nos._exit(1)")
    assert done["not_kept"] == [] and len(done["deleted"]) == count - 10
    assert keep.files("many") == sorted(f"d{i % 9}/g{i}" for i in range(10))
    assert_same_on_both_sides(keep, session)


# Truncation by path.


def test_truncation_by_path_is_noticed(keep, folder):
    session = keep.create(folder=folder)
    keep.run(session, "for i in range(300): open(f'f{i:03}', 'w').write('x' * 100)")
    done = keep.run(session, "import os; os.truncate('f000', 10)")
    assert [(item["path"], item["size"]) for item in done["kept"]] == [(f"{folder}/f000", 10)], done
    done = keep.run(session, "for i in range(300): os.truncate(f'f{i:03}', i % 90)")
    assert len(done["kept"]) == 300, len(done["kept"])
    done = keep.run(session, "os.truncate('f007', 100_000)", )
    assert [(item["path"], item["size"]) for item in done["kept"]] == [(f"{folder}/f007", 100_000)], done
    done = keep.run(session, "import subprocess; subprocess.run(['truncate', '-s', '5', 'f008'], check=True)")
    assert [(item["path"], item["size"]) for item in done["kept"]] == [(f"{folder}/f008", 5)], done
    assert_same_on_both_sides(keep, session)


CROSSING = {
    "a file takes a folder's name": ("os.rename('y', 'z'); os.rename('x', 'y')", {"x": "y", "y": "z", "y/sub": "z/sub", "y/sub/f": "z/sub/f"}),
    "a folder takes a file's name": ("os.rename('x', 'z'); os.rename('y', 'x')", {"x": "z", "y": "x", "y/sub": "x/sub", "y/sub/f": "x/sub/f"}),
}


@pytest.mark.parametrize("how", CROSSING)
def test_renames_that_change_the_kind_of_a_path_keep_the_ids(keep, folder, how):
    code, places = CROSSING[how]
    session = keep.create(folder=folder)
    keep.run(session, "import os; open('x', 'w').write('a file'); os.makedirs('y/sub'); open('y/sub/f', 'w').write('below')")
    before = ids_of(keep, folder)
    done = keep.run(session, code)
    assert done["not_kept"] == [] and done["deleted"] == [] and done["kept"] == [], done
    assert ids_of(keep, folder) == {places[path]: file for path, file in before.items()}
    assert in_trash(keep, folder) == []
    assert_same_on_both_sides(keep, session)


@pytest.mark.parametrize("make", ["open('{}', 'w').write('{}')", "os.mkdir('{}')"])
def test_a_rotation_by_renames_keeps_the_ids(keep, folder, make):
    session = keep.create(folder=folder)
    keep.run(session, "import os; " + "; ".join(make.format(name, name) for name in ("log", "log.1")))
    before = ids_of(keep, folder)
    done = keep.run(session, "os.rename('log.1', 'log.2'); os.rename('log', 'log.1')")
    assert done["deleted"] == [] and done["kept"] == [] and done["not_kept"] == [], done
    assert ids_of(keep, folder) == {"log.2": before["log.1"], "log.1": before["log"]}
    assert in_trash(keep, folder) == []
    assert_same_on_both_sides(keep, session)


def test_a_file_that_is_saved_anew_beside_its_backup_keeps_its_history(keep, folder):
    session = keep.create(folder=folder)
    keep.run(session, "import os; open('report', 'w').write('one')")
    before = ids_of(keep, folder)["report"]
    keep.run(session, "os.rename('report', 'report~'); open('report', 'w').write('two')")
    assert ids_of(keep, folder)["report"] == before and len(versions(keep, f"{folder}/report")) == 2


def test_names_that_are_swapped_between_a_file_and_a_folder_lose_no_byte(keep, folder):
    session = keep.create(folder=folder)
    keep.run(session, "import os; open('x', 'w').write('a file'); os.makedirs('y/sub'); open('y/sub/f', 'w').write('below')")
    done = keep.run(session, "os.rename('x', 't'); os.rename('y', 'x'); os.rename('t', 'y')")
    assert done["not_kept"] == [], done
    assert keep.read(f"{folder}/y") == b"a file" and keep.read(f"{folder}/x/sub/f") == b"below"
    assert_same_on_both_sides(keep, session)


def test_a_long_output_is_kept_also_where_outputs_is_a_file(keep, folder):
    session = keep.create(folder=folder)
    keep.run(session, "open('outputs', 'w').write('mine')")
    done = keep.run(session, "print('x' * 1_500_000)")
    assert done["not_kept"] == [], done["not_kept"]
    kept = [file["path"] for file in done["kept"]]
    assert kept == [f"{folder}/outputs-2/2-output.txt"] and "outputs-2/2-output.txt" in str(done["outputs"])[-2000:], kept
    assert len(keep.read(kept[0])) == 1_500_001


# Processes that go on between cells.


def test_files_and_output_of_a_background_process_appear_without_another_cell(keep, folder):
    session = keep.create(folder=folder)
    keep.run(session, "open('before', 'w').close()")
    done = keep.run(session, "import subprocess\np = subprocess.Popen(['bash', '-c', 'sleep 0.7; mkdir new; echo written > new/file; echo spoken; exec sleep 1000'])")
    assert done["end"] == "ok"
    wait_for(lambda: "new/file" in keep.files(folder), 20)
    assert keep.read(f"{folder}/new/file") == b"written\n"
    created = keep.events("file.create")
    assert f"{folder}/new/file" in [event["personal"]["path"] for event in created]
    source = versions(keep, f"{folder}/new/file")[0]["source"]
    assert source["session_id"] == session["id"]
    done = keep.run(session, "p.kill(); _ = p.wait()")
    assert "spoken" in text_of(done), done["outputs"]
    assert f"{folder}/new/file" in [item["path"] for item in done["kept"]], "the next answer names it"
    assert in_trash(keep, folder) == []


def test_a_background_process_that_rewrites_a_file_with_as_many_bytes_is_followed(keep, folder):
    session = keep.create(folder=folder)
    write = ("i=10; while [ ! -e stop ]; do i=$((i+1)); echo $i > same; touch -d 2020-01-01 same; sleep 0.2; done; echo 10 > same; touch -d 2020-01-01 same; echo end > ended")
    keep.run(session, f"open('same', 'w').write('09\\n'); import subprocess\np = subprocess.Popen(['bash', '-c', {write!r}])")
    seen = {keep.read(f"{folder}/same")}
    wait_for(lambda: seen.add(keep.read(f"{folder}/same")) or len(seen) >= 3, 30)
    keep.run(session, "open('stop', 'w').close()")
    wait_for(lambda: "ended" in keep.files(folder), 20)
    keep.run(session, "_ = p.wait()")
    assert keep.read(f"{folder}/same") == b"10\n"
    assert_same_on_both_sides(keep, session)


def test_the_last_files_of_a_background_process_are_kept_without_another_cell(keep, folder):
    """A file that is written often is looked at less and less often; its last bytes have no event after them."""
    session = keep.create(folder=folder)
    write = "for i in $(seq 1 20); do echo $i > often; sleep 0.2; done"
    keep.run(session, f"open('often', 'w').close(); import subprocess\np = subprocess.Popen(['bash', '-c', {write!r}])")
    wait_for(lambda: keep.read(f"{folder}/often") == b"20\n")


# A process that writes through a shared mapping causes no event. It obeys cells: it writes the number in /tmp/go, then repeats it in /tmp/done.

MAPPED = """
import ctypes, mmap, os, threading, time
fd = os.open('mapped', os.O_RDWR | os.O_CREAT, 0o644); os.ftruncate(fd, 4096)
memory = mmap.mmap(fd, 4096); os.closerange(3, 100)
memory[:6] = b'000000'

def obey():
    try: number = open('/tmp/go').read()
    except FileNotFoundError: return
    if len(number) == 6 and number != memory[:6].decode():
        memory[:6] = number.encode()
        with open('/tmp/done.new', 'w') as file: file.write(number)
        os.rename('/tmp/done.new', '/tmp/done')
"""
WRITERS = {
    "its main thread has exited": """
def obey_forever():
    while True: obey(); time.sleep(0.02)
threading.Thread(target=obey_forever).start()
ctypes.CDLL(None).syscall(60, 0)
""",
    "each of its processes forks and exits": """
while True:
    if os.fork(): os._exit(0)
    obey()
""",
}


@pytest.mark.parametrize("writer", WRITERS)
def test_writes_to_a_mapping_are_kept_when(keep, folder, writer):
    session = keep.create(folder=folder)
    keep.run(session, f"open('/tmp/writer.py', 'w').write({MAPPED + WRITERS[writer]!r})\n"
                      "import os, subprocess, sys, time\np = subprocess.Popen([sys.executable, '/tmp/writer.py'])")
    for number in [f"{i:06}" for i in range(1, 21)]:
        done = keep.run(session, f"open('/tmp/go', 'w').write('{number}')\n"
                                 f"while not os.path.exists('/tmp/done') or open('/tmp/done').read() != '{number}': time.sleep(0.01)")
        assert done["end"] == "ok" and keep.read(f"{folder}/mapped")[:6] == number.encode(), done
    sleep(keep, session)
    assert keep.read(f"{folder}/mapped")[:6] == number.encode()
    assert_same_on_both_sides(keep, session)


# Maps a file without Python's mmap, which keeps a descriptor open.
MAP = """
import ctypes, os
from mmap import PROT_READ, PROT_WRITE, MAP_SHARED
libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p; libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
def map_file(name, flags):
    fd = os.open(name, flags); address = libc.mmap(None, 4096, PROT_READ, MAP_SHARED, fd, 0); os.close(fd)
    return address
open('read', 'w').write('x' * 4096); open('written', 'w').write('x' * 4096)
read, written = map_file('read', os.O_RDONLY), map_file('written', os.O_RDWR)
"""


def test_writes_to_a_mapping_that_is_read_only_most_of_the_time_are_kept(keep, folder):
    session = keep.create(folder=folder)
    keep.run(session, MAP)
    for number in range(1, 6):
        keep.run(session, "assert libc.mprotect(written, 4096, PROT_READ | PROT_WRITE) == 0\n"
                          f"ctypes.memmove(written, b'{number}', 1); assert libc.mprotect(written, 4096, PROT_READ) == 0")
        assert keep.read(f"{folder}/written")[:1] == b"%d" % number
    sleep(keep, session)
    assert keep.read(f"{folder}/written")[:1] == b"5"


def test_a_mapping_of_a_file_that_was_opened_for_reading_leaves_it_complete(keep, folder):
    session = keep.create(folder=folder)
    done = keep.run(session, MAP)
    assert {item["path"].removeprefix(folder + "/"): item["complete"] for item in done["kept"]} == {"read": True, "written": False}


# Changes from outside, while a session is awake.

MEANWHILE = {
    "trashed": lambda keep, at: trash(keep, at),
    "purged": lambda keep, at: purge(keep, at),
    "restored elsewhere": lambda keep, at: restore(keep, at, f"{at}-elsewhere"),
    "restored out of the folder": lambda keep, at: restore(keep, at, f"out-of/{at}"),
    "moved": lambda keep, at: move(keep, at, f"{at}-moved"),
    "moved away": lambda keep, at: move(keep, at, f"out-of/{at}"),
}


def replace_above(keep, folder):
    other = f"{folder}-other"
    keep.put(f"{other}/in/kept", b"theirs")
    keep.put(f"{other}/in/added", b"theirs")
    keep.call("POST", "/api/v1/workspaces/default/move", json={"from": other, "to": folder, "on_existing": "replace"})


ABOVE = {
    "trashed": (lambda keep, folder: trash(keep, folder), {}),
    "moved": (lambda keep, folder: move(keep, folder, f"{folder}-moved"), {}),
    "replaced": (replace_above, {"kept": "theirs", "added": "theirs"}),
    "put back": (lambda keep, folder: restore(keep, folder, folder), {"kept": "mine", "second": "mine"}),
}


@pytest.mark.parametrize("when", ["awake", "asleep"])
@pytest.mark.parametrize("how", ABOVE)
def test_what_happens_to_a_folder_above_the_sessions_reaches_it(keep, folder, how, when):
    session = keep.create(folder=f"{folder}/in")
    keep.run(session, "open('kept', 'w').write('mine')")
    keep.run(session, "open('second', 'w').write('mine')")
    if when == "asleep":
        keep.call("POST", f"/api/v1/sessions/{session['id']}/sleep")
    change, expected = ABOVE[how]
    change(keep, folder)
    done = keep.run(session, "import os; print({name: open(name).read() for name in sorted(os.listdir('.'))})")
    assert text_of(done).strip() == repr(dict(sorted(expected.items()))), done
    keep.run(session, "open('last', 'w').write('mine')")
    assert_same_on_both_sides(keep, session)
    assert keep.read(f"{folder}/in/last") == b"mine"


def ids_of(keep, folder):
    items = keep.call("GET", "/api/v1/workspaces/default/list", params={"folder": folder, "recursive": "true"}).json()["items"]
    return {item["path"].removeprefix(folder + "/"): item["id"] for item in items}


def trash(keep, path):
    return keep.call("DELETE", f"/api/v1/workspaces/default/files/{path}").json()["id"]


def purge(keep, path):
    keep.call("DELETE", f"/api/v1/workspaces/default/trash/{trash(keep, path)}")


def restore(keep, path, to):
    keep.call("POST", f"/api/v1/workspaces/default/trash/{trash(keep, path)}/restore", json={"to": to})


def move(keep, path, to):
    keep.call("POST", "/api/v1/workspaces/default/move", json={"from": path, "to": to})


ENDS = {
    "sleep": lambda keep, session: sleep(keep, session),
    "delete": lambda keep, session: keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 204),
    "exit": lambda keep, session: keep.run(session, "import os; os._exit(0)"),
    "stop": lambda keep, session: (keep.server.stop(), keep.server.start()),
    "kill": lambda keep, session: (keep.server.kill(), keep.server.start()),
}


@pytest.mark.parametrize("end", ENDS)
def test_what_was_deleted_or_moved_from_outside_does_not_come_back(keep, folder, end):
    session = keep.create(folder=folder)
    names = {name: name.replace(" ", "-") for name in MEANWHILE}
    for name in names.values():
        keep.run(session, f"import os\nos.makedirs('d-{name}/deep'); open('{name}', 'w').write('{name}'); open('d-{name}/deep/f', 'w').write('{name}')")
    keep.run(session, "open('stays', 'w').write('stays'); open('changed', 'w').write('before')")
    for what, name in names.items():
        MEANWHILE[what](keep, f"{folder}/{name}")
        MEANWHILE[what](keep, f"{folder}/d-{name}")
    keep.put(f"{folder}/changed", b"outside", 200)
    expected = ["changed", "moved-moved", "restored-elsewhere-elsewhere", "stays", "d-moved-moved/deep/f", "d-restored-elsewhere-elsewhere/deep/f"]
    trashed = in_trash(keep, folder)
    assert keep.files(folder) == sorted(expected)
    ENDS[end](keep, session)
    assert keep.files(folder) == sorted(expected)
    assert in_trash(keep, folder) == trashed == ["d-trashed", "trashed"]
    assert keep.read(f"{folder}/changed") == b"outside" and len(versions(keep, f"{folder}/changed")) == 2
    if end != "delete":
        assert sorted(assert_same_on_both_sides(keep, session)) == sorted(expected)


def test_a_file_that_somebody_else_writes_while_code_renames_it_stays_under_both_names(keep, server, folder):
    session = keep.create(folder=folder)
    keep.run(session, "open('a', 'w').write('mine'); import os; os.mkdir('d'); open('d/a', 'w').write('mine')")
    execution = keep.start(session, "import time\nprint('ready', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)\nos.rename('a', 'b'); os.rename('d/a', 'd/b')")
    keep.printed_until(execution, "ready")
    keep.put(f"{folder}/a", b"outside", 200)
    keep.put(f"{folder}/d/a", b"outside", 200)
    (copy_of(server, session) / "go").touch()
    done = keep.wait(execution)
    assert done["end"] == "ok" and done["deleted"] == [], done
    for place in (folder, f"{folder}/d"):
        contents = {name: keep.read(f"{place}/{name}") for name in ("a", "b") if name in [Path(path).name for path in keep.files(place)]}
        # Both bytes are heads; the name that code gave has what code wrote, unless the rename took the newer bytes along.
        assert b"outside" in contents.values() and "b" in contents, contents
        everything = {keep.http.get(version["link"]).content for name in contents for version in versions(keep, f"{place}/{name}")}
        assert everything >= {b"mine", b"outside"}
    assert in_trash(keep, folder) == []
    assert_same_on_both_sides(keep, session)


def test_what_could_not_be_brought_into_the_copy_comes_after_sleep(keep, folder):
    """The workspace has a folder where the session has a file of its own: the folder's files come once the session's file is out of the way."""
    session = keep.create(folder=folder)
    keep.run(session, "import subprocess\nopen('first', 'w').write('1')")
    execution = keep.start(session, "open('x', 'w').write('mine'); import os, time\nprint('ready', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)")
    keep.printed_until(execution, "ready")
    wait_for(lambda: "x" in keep.files(folder))
    trash(keep, f"{folder}/x")
    keep.put(f"{folder}/x/deep/file", b"outside")
    (copy_of(keep.server, session) / "go").touch()
    keep.wait(execution)
    keep.run(session, "1")
    assert keep.read(f"{folder}/x/deep/file") == b"outside"
    sleep(keep, session)
    assert keep.read(f"{folder}/x/deep/file") == b"outside"
    keep.run(session, "import os, shutil\nif os.path.isfile('x'): os.rename('x', 'mine')")
    done = keep.run(session, "print(open('x/deep/file').read())")
    assert text_of(done) == "outside\n", done
    assert_same_on_both_sides(keep, session)


def test_a_lock_that_was_given_at_the_deadline_of_its_waiter_is_held(make_server):
    keep = Keep(make_server("--lock-ttl-min-s", "1"))
    locks = "/api/v1/workspaces/default/locks"
    given = 0
    for number in range(4):
        wanted = {"path": f"file{number}", "ttl_s": 1}
        keep.call("POST", locks, 201, json=wanted)
        # The first lock expires at the moment at which this wait ends.
        waiter = keep.http.post(keep.server.url + locks, json={**wanted, "ttl_s": 60, "wait_s": 1}, timeout=60)
        third = keep.http.post(keep.server.url + locks, json={**wanted, "ttl_s": 60}, timeout=60)
        if waiter.status_code == 201:
            given += 1
            assert third.status_code == 423, f"a lock that was given is free: {third.text}"
            keep.call("POST", f"{locks}/renew", json={"token": waiter.json()["token"], "ttl_s": 60})
    print(f"{given} of 4 locks were given")


KNOWN = 'os.makedirs("F/p/q"); open("F/p/q/deep", "w").write("known")'


@pytest.mark.parametrize("before, cell, files", [
    (KNOWN, 'shutil.rmtree("F/p"); open("F/p", "w").write("new"); os.rename("F", "G")', {"G/p": "new"}),
    (KNOWN, 'os.rename("F", "G"); os.rename("G/p", "H"); open("G/p", "w").write("new")', {"G/p": "new", "H/q/deep": "known"}),
    (KNOWN, 'shutil.rmtree("F/p"); os.symlink("x", "F/p"); os.rename("F", "G")', {}),
    (KNOWN, 'os.remove("F/p/q/deep"); os.rename("F", "G")', {}),
    ('os.makedirs("A/s"); os.mkdir("B"); open("A/s/1", "w").write("a"); open("B/2", "w").write("b")',
     'ctypes.CDLL(None).renameat2(-100, b"A/s", -100, b"B/2", 2)', {"A/s": "b", "B/2/1": "a"}),
    ('open("a", "w").write("1"); open("b", "w").write("2")', 'os.rename("a", "t"); os.mkdir("a"); os.rename("t", "a/b"); os.rename("b", "a/a")',
     {"a/a": "2", "a/b": "1"}),
    ('os.makedirs("A/s/t"); open("A/s/t/1", "w").write("1"); open("B", "w").write("b")',
     'ctypes.CDLL(None).renameat2(-100, b"A/s/t", -100, b"B", 2); os.rename("A", "C")', {"B/1": "1", "C/s/t": "b"}),
    (KNOWN, 'os.rename("F/p/q/deep", "F/deep"); shutil.rmtree("F/p"); os.rename("F", "G")', {"G/deep": "known"}),
], ids=["replaced", "moved on", "a link", "deleted", "exchanged", "below itself", "exchanged and moved", "moved up"])
def test_changes_inside_a_folder_that_is_renamed_in_the_same_cell_are_kept(server, before, cell, files):
    keep = Keep(server)
    session = keep.create(folder=f"renamed-{os.urandom(4).hex()}")
    keep.run(session, "import os, shutil, ctypes\n" + before)
    done = keep.run(session, cell)
    assert [item for item in done["not_kept"] if item["reason"] != "link"] == []
    assert {path: keep.read(f"{session['folder']}/{path}").decode() for path in keep.files(session["folder"])} == files


def test_a_large_file_with_two_names_is_readable_under_both(server):
    keep = Keep(server)
    session = keep.create(folder=f"linked-{os.urandom(4).hex()}")
    done = keep.run(session, "import os\nopen('a', 'wb').write(os.urandom(3_000_000)); os.link('a', 'b')")
    assert {item["path"].split("/")[-1] for item in done["kept"]} == {"a", "b"}
    assert keep.read(session["folder"] + "/a") == keep.read(session["folder"] + "/b")
