"""The kernel's queue of file events is limited, and so is the number of folders that can be watched: going over either loses no file."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kept_folders import assert_same_on_both_sides, copy_of
from sessions_client import Keep, wait_for

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to run a server as a user whose limits nobody else shares")


def overflows(keep):
    """How often the kernel's queue of file events overflowed, where the server counts it."""
    lines = keep.http.get(keep.server.url + "/metrics", timeout=60).text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if "overflow" in line and not line.startswith("#"))


def test_truncation_is_noticed_beside_writes_that_would_flood_the_queue(make_user_server):
    keep, folder = Keep(make_user_server()), "w"
    session = keep.create(folder=folder)
    keep.run(session, "open('t', 'w').write('x' * 100); open('one', 'w'); open('two', 'w')")
    before = overflows(keep)
    code = ("import os\none, two = os.open('one', os.O_WRONLY), os.open('two', os.O_WRONLY)\n"
            "for i in range(60_000): os.write(one, b'1'); os.write(two, b'2')\n"
            "os.truncate('t', 3); os.close(one); os.close(two)")
    done = keep.run(session, code)
    assert {item["path"].removeprefix(folder + "/"): item["size"] for item in done["kept"]} == {"t": 3, "one": 60_000, "two": 60_000}
    assert overflows(keep) == before
    assert_same_on_both_sides(keep, session)


FLOOD = """
import os, time
print('ready', flush=True)
while not os.path.exists('go'): time.sleep(0.01)
for i in range(30_000): open(f'twin{i % 2}', 'w').close()  # events that nobody takes from the queue, which holds 16,384
for d in range(40):
    os.makedirs(f'd{d}/deep')
    for f in range(250): open(f'd{d}/deep/f{f}', 'w').write(f'{d} {f}')
open('flooded', 'w').close()
"""


def test_folders_made_while_the_event_queue_overflows_are_seen_afterwards(make_user_server):
    server = make_user_server()
    keep = Keep(server)
    if int(Path("/proc/sys/fs/inotify/max_queued_events").read_text()) > 50_000:
        pytest.skip("the queue of file events is too long to overflow")
    session = keep.create(folder="flood", timeout_s=300)
    execution = keep.start(session, FLOOD)
    keep.printed_until(execution, "ready")
    copy = copy_of(server, session)
    server.process.send_signal(signal.SIGSTOP)
    try:
        (copy / "go").touch()
        wait_for((copy / "flooded").exists, 120)
    finally:
        server.process.send_signal(signal.SIGCONT)
    done = keep.wait(execution)
    assert done["end"] == "ok" and done["not_kept"] == [], done["message"]
    assert len(keep.files("flood")) == 40 * 250 + 4
    # What happens in those folders, in new ones and deeper in them, from now on.
    done = keep.run(session, "for d in range(40): open(f'd{d}/deep/late', 'w').write('late'); open(f'd{d}/f0', 'w').write('changed')")
    assert len(done["kept"]) == 80, len(done["kept"])
    keep.run(session, "for d in range(40): os.makedirs(f'd{d}/deep/later')")
    done = keep.run(session, "for d in range(40): open(f'd{d}/deep/later/f', 'w').write('later')")
    assert len(done["kept"]) == 40, len(done["kept"])
    done = keep.run(session, "for d in range(40): os.remove(f'd{d}/deep/late')")
    assert len(done["deleted"]) == 40, done["deleted"]
    assert_same_on_both_sides(keep, session)


HOG = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
folder, spare = os.fsencode(sys.argv[1]), int(sys.argv[2])
names = [os.path.join(folder, name) for name in os.listdir(folder)]
taken = []
for _ in range(110):
    instance = libc.inotify_init1(0)
    if instance < 0: break
    for name in names:
        watch = libc.inotify_add_watch(instance, name, 0x8)
        if watch < 0: break
        taken.append((instance, watch))
    if watch < 0: break
else:
    sys.exit('the limit of watches is too high to reach')
for instance, watch in taken[-spare:]: libc.inotify_rm_watch(instance, watch)
print('ready', flush=True)
sys.stdin.read()
"""
LONELY = 61_234  # a user id that nothing else on the machine has


class Hog:
    """A process that uses up the watches of a user, but for some."""

    def __init__(self, uid, spare):
        limit = int(Path("/proc/sys/fs/inotify/max_user_watches").read_text())
        if limit > 3_000_000:
            pytest.skip("the limit of watches is too high to reach")
        self.folder = Path(tempfile.mkdtemp(prefix="sandkeep-hog-"))
        self.folder.chmod(0o755)
        for number in range(limit // 100 + 1):
            (self.folder / str(number)).mkdir()
        self.process = subprocess.Popen(["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", sys.executable, "-c", HOG, self.folder, str(spare)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"ready\n"

    def release(self):
        self.process.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)


@ROOT_ONLY
def test_nothing_is_missed_while_there_are_no_watches_left_and_after_there_are_again(make_user_server):
    server = make_user_server(uid=LONELY)
    keep = Keep(server)
    keep.run(keep.create(folder="warm"), "1")
    hog = Hog(LONELY, 40)
    try:
        greedy, modest = keep.create(folder="greedy"), keep.create(folder="modest")
        done = keep.run(greedy, "import os\nfor i in range(200): os.makedirs(f'd{i}/e'); open(f'd{i}/e/f', 'w').write('1')")
        assert len(done["kept"]) == 200
        # The other session gets what it needs, however many folders the first one has.
        keep.run(modest, "import os\nfor i in range(5): os.makedirs(f'm{i}/n')")
        done = keep.run(modest, "for i in range(5): open(f'm{i}/n/f', 'w').write('1')")
        assert len(done["kept"]) == 5, done["kept"]
        for change in ("2", "3"):
            done = keep.run(greedy, f"for i in range(200): open(f'd{{i}}/e/f', 'w').write('{change}')")
            assert len(done["kept"]) == 200, len(done["kept"])
            done = keep.run(modest, f"for i in range(5): open(f'm{{i}}/n/f', 'w').write('{change}')")
            assert len(done["kept"]) == 5, done["kept"]
    finally:
        hog.release()
    for change in ("4", "5"):
        keep.run(greedy, f"for i in range(200): os.makedirs(f'd{{i}}/late{change}')")
        done = keep.run(greedy, f"for i in range(200): open(f'd{{i}}/late{change}/f', 'w').write('1'); open(f'd{{i}}/e/f', 'w').write('{change}')")
        assert len(done["kept"]) == 400, len(done["kept"])
    assert_same_on_both_sides(keep, greedy)
    assert_same_on_both_sides(keep, modest)


def watches_of(server):
    """How many folders the server watches."""
    return sum(path.read_text().count("inotify wd:") for path in Path(f"/proc/{server.process.pid}/fdinfo").iterdir())


def test_a_session_with_more_folders_than_it_may_watch_loses_nothing_and_leaves_watches_to_others(make_user_server):
    server = make_user_server("--session-watched-folders-max", "20")
    keep = Keep(server)
    one, two = keep.create(folder="one"), keep.create(folder="two")
    before = watches_of(server)
    keep.run(one, "import os\nfor i in range(100): os.makedirs(f'd{i}/e')")
    for change in ("1", "2"):
        done = keep.run(one, f"for i in range(100): open(f'd{{i}}/e/f', 'w').write('{change}')")
        assert len(done["kept"]) == 100, len(done["kept"])
    assert watches_of(server) - before <= 20
    keep.run(two, "import os\nfor i in range(10): os.makedirs(f'd{i}')")
    assert watches_of(server) - before > 10
    done = keep.run(two, "for i in range(10): open(f'd{i}/f', 'w').write('1')")
    assert len(done["kept"]) == 10
    keep.run(one, "import shutil\nfor i in range(95): shutil.rmtree(f'd{i}')")
    done = keep.run(one, "os.makedirs('late/e')\nfor i in range(95, 100): os.remove(f'd{i}/e/f')")
    assert len(done["deleted"]) == 5, done["deleted"]
    done = keep.run(one, "open('late/e/f', 'w').write('late')")
    assert [item["path"] for item in done["kept"]] == ["one/late/e/f"]
    assert_same_on_both_sides(keep, one)
    assert_same_on_both_sides(keep, two)
