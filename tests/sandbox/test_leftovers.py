"""A server that has started and ended many sessions is as it was before: no process, zombie, mount, control group or descriptor more."""

import os
import time
from collections import Counter
from pathlib import Path

from conftest import LONG
from driver import Driver
from moving_trees import session_groups
from own_mounts import mounts_beside, mounts_of

# Fewer than the forks after which another zygote is started: for a while there are two then.
ROUNDS = 900 if LONG else 100


def processes():
    """pid → (name, state, parent) of everything on this machine."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            text = Path(f"/proc/{entry}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        name = text[text.index("(") + 1 : text.rindex(")")]
        state, parent = text[text.rindex(")") + 2 :].split()[:2]
        found[int(entry)] = (name, state, int(parent))
    return found


def descendants(pid):
    everything = processes()
    children = {}
    for child, (_, _, parent) in everything.items():
        children.setdefault(parent, []).append(child)
    out, queue = {}, [pid]
    while queue:
        for child in children.get(queue.pop(), []):
            out[child] = everything[child]
            queue.append(child)
    return out


def resident_kib(pid):
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


class Seen:
    """What the sessions of this test were made of. Other servers on this machine have sessions as well."""

    def __init__(self):
        self.pids, self.folders = {}, set()

    def add(self, driver, session):
        self.pids.update({pid: name for pid, (name, _, _) in descendants(driver.process.pid).items()})
        self.folders.add(session.folder)


def look(driver, seen):
    pid = driver.process.pid
    family = descendants(pid)
    launcher = next(child for child, (name, _, _) in family.items() if name == "sk-launcher")
    return {
        "processes": Counter(name for name, _, _ in family.values()),
        "zombies": [entry for entry in family.items() if entry[1][1] == "Z"],
        "groups": len(session_groups(pid)),
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
        "descriptors of the launcher": len(os.listdir(f"/proc/{launcher}/fd")),
        "mounts of the launcher": mounts_beside(launcher),
        "mounts": mounts_of(seen.folders),
        "orphans": sorted(seen.pids[pid] for pid, (name, _, parent) in processes().items() if parent == 1 and seen.pids.get(pid) == name),
    }


def settle(driver, seen, wanted):
    """The end of a session is cleared away in the background; the kernel takes a moment too."""
    for _ in range(300):
        if look(driver, seen) == wanted:
            return
        time.sleep(0.1)
    assert look(driver, seen) == wanted


def one_life(driver, seen, number):
    session = driver.start()
    seen.add(driver, session)
    if number % 5 == 0:
        session.start_cell("import subprocess\nfor i in range(3): subprocess.Popen(['sleep', '1000'])\nwhile True: pass", timeout_s=60)
        session.ask("kill", reason="test")
    else:
        assert session.run("import pandas as pd; pd.DataFrame({'a': [1]}).sum()")["status"] == "ok"
    session.stop()


def test_many_sessions_leave_nothing(driver):
    seen = Seen()
    for number in range(10):
        one_life(driver, seen, number)
    time.sleep(1)
    wanted, memory = look(driver, seen), resident_kib(driver.process.pid)
    assert wanted["orphans"] == []
    for number in range(ROUNDS):
        one_life(driver, seen, number)
    settle(driver, seen, wanted)
    assert resident_kib(driver.process.pid) < memory + 8 * 1024


def test_end_of_the_server_leaves_nothing(driver):
    other = Driver(driver.uid)
    for _ in range(3):
        other.start().run("import subprocess; subprocess.Popen(['sleep', '1000'])")
    family = descendants(other.process.pid)
    pid = other.process.pid
    other.close()
    wait_gone(family)
    assert session_groups(pid) == []


def test_a_killed_server_leaves_no_process(driver):
    other = Driver(driver.uid)
    sessions = [other.start() for _ in range(3)]
    for session in sessions:
        session.run("import subprocess; subprocess.Popen(['sleep', '1000'])")
        session.start_cell("while True: pass")
    family = descendants(other.process.pid)
    assert len(family) > 6
    pid = other.process.pid
    other.process.kill()
    other.process.wait()
    wait_gone(family)
    Driver(driver.uid).close()
    assert session_groups(pid) == [], "the next server clears away what the last one could not"


def test_death_of_the_zygote_ends_no_session(driver):
    other = Driver(driver.uid)
    session = other.start()
    session.run("x = 'alive'")
    family = descendants(other.process.pid)
    launcher = next(pid for pid, (name, _, _) in family.items() if name == "sk-launcher")
    zygote = next(pid for pid, (name, _, parent) in family.items() if parent == launcher and name != "sk-init")
    os.kill(zygote, 9)
    wait_gone([zygote])
    assert session.run("x")["results"][0]["text/plain"] == "'alive'"
    assert other.start().run("1 + 1")["results"][0]["text/plain"] == "2", "another zygote takes over"
    session.run("import os; os._exit(0)")
    other.close()


def test_death_of_the_launcher_ends_no_session(driver):
    other = Driver(driver.uid)
    session = other.start()
    session.run("x = 'alive'")
    launcher = next(pid for pid, (name, _, _) in descendants(other.process.pid).items() if name == "sk-launcher")
    os.kill(launcher, 9)
    assert session.run("x")["results"][0]["text/plain"] == "'alive'"
    assert start_soon(other).run("1 + 1")["results"][0]["text/plain"] == "2", "another launcher takes over"
    family = descendants(other.process.pid)
    other.close()
    wait_gone(family)


def start_soon(driver):
    """Whoever comes at the very moment of a death gets an error, and may try again."""
    for _ in range(100):
        try:
            return driver.start()
        except AssertionError:
            time.sleep(0.1)
    return driver.start()


def wait_gone(pids):
    for _ in range(300):
        left = [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError(f"still there: {[(pid, processes().get(pid)) for pid in left]}")
