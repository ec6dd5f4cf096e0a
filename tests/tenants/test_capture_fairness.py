"""What one tenant's files cost the server: another tenant's cells stay quick, and the tenant's own answers come."""

from concurrent.futures import ThreadPoolExecutor

from neighbour import Neighbour, tenant
from sessions_client import text_of

GIB = 1 << 30
DEPTH_MAX = 256


def sessions_of(keep, count):
    """Awake, each with a folder of its own."""
    made = [keep.create(workspace=keep.workspace, folder=f"s{number}", timeout_s=300) for number in range(count)]
    for session in made:
        keep.run(session, "import os")
    return made


def all_at_once(keep, sessions, code):
    """Runs the code in all sessions at the same time; the executions when they are done."""
    started = [keep.start(session, code) for session in sessions]
    with ThreadPoolExecutor(len(started)) as waiting:
        return list(waiting.map(keep.wait, started))


def test_captures_of_holes_do_not_delay_another_tenant(make_user_server):
    """Keeping the files of all sessions occupied every thread, and each took as long as reading its zeros."""
    server = make_user_server()
    attacker, neighbour = tenant(server, "attacker"), Neighbour(server)
    sessions = sessions_of(attacker, 12)
    with neighbour:
        done = all_at_once(attacker, sessions, f"open('sparse', 'wb').truncate({GIB})")
    assert all(one["end"] == "ok" and [file["size"] for file in one["kept"]] == [GIB] for one in done), done
    neighbour.check()


CHAIN = """
import os
home = os.getcwd()
for level in range(3_000):
    os.mkdir('d'); os.chdir('d')
open('bottom', 'w').write('deep')
os.chdir(home)
"""


def test_a_chain_of_folders_is_answered_slept_woken_and_deleted(make_user_server):
    server = make_user_server()
    attacker, neighbour = tenant(server, "attacker"), Neighbour(server)
    session = sessions_of(attacker, 1)[0]
    path = f"/api/v1/sessions/{session['id']}"
    too_deep = [("s0" + "/d" * (DEPTH_MAX + 2), "too_deep")]
    with neighbour:
        done = attacker.run(session, CHAIN)
        assert done["end"] == "ok" and [(item["path"], item["reason"]) for item in done["not_kept"]] == too_deep
        attacker.call("POST", path + "/sleep")
        # A folder that is too deep exists only there, so it is there when the session wakes, and a deletion asks about it.
        done = attacker.run(session, "import os; print(len(os.listdir('d' + '/d' * 400)))")
        assert done["woke"] and text_of(done) == "1\n"
        attacker.call("DELETE", path, 409)
        attacker.call("DELETE", path + "?force=true", 204)
    neighbour.check()
    assert not any((server.data / "copies").glob(session["id"].removeprefix("s_") + "*"))


RENAMES = """
import os, time
for a in range(30):
    for b in range(30): os.makedirs(f'tree/{a}/{b}')
until = time.monotonic() + 5
count = 0
while time.monotonic() < until:
    os.rename('tree', 'other'); os.rename('other', 'tree'); count += 2
open('tree/0/0/last', 'w').write('here')
print(count)
"""


def test_renames_of_a_tree_do_not_delay_another_tenant(make_user_server):
    """Each rename made the one thread that reads events of all sessions walk the tree, under the lock that every cell needs."""
    server = make_user_server()
    attacker, neighbour = tenant(server, "attacker"), Neighbour(server)
    session = sessions_of(attacker, 1)[0]
    with neighbour:
        done = attacker.run(session, RENAMES)
    assert done["end"] == "ok" and int(text_of(done)) > 0
    assert "s0/tree/0/0/last" in [item["path"] for item in done["kept"]], done["kept"]
    neighbour.check()


NAMES = """
import os, time
until = time.monotonic() + 5
number = 0
while time.monotonic() < until:
    os.mkdir(f'a folder with a rather long name {number}'); os.rmdir(f'a folder with a rather long name {number}'); number += 1
open('last', 'w').write('here')
"""


def test_names_that_come_and_go_do_not_delay_another_tenant(make_user_server):
    server = make_user_server()
    attacker, neighbour = tenant(server, "attacker"), Neighbour(server)
    session = sessions_of(attacker, 1)[0]
    with neighbour:
        done = attacker.run(session, NAMES)
    assert done["end"] == "ok" and [item["path"] for item in done["kept"]] == ["s0/last"], done["kept"]
    neighbour.check()
