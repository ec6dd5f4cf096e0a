"""What the server gives up before it answers, as root and as an ordinary user; SECURITY.md has the table."""

import os
import pathlib
import re
import signal

import pytest

from sandkeep_server import PROJECT
from sessions_client import USERS, Keep, UserServer, text_of, wait_for

# From linux/capability.h.
CAPABILITIES = {"CAP_CHOWN": 0, "CAP_DAC_OVERRIDE": 1, "CAP_DAC_READ_SEARCH": 2, "CAP_FOWNER": 3, "CAP_KILL": 5, "CAP_NET_BIND_SERVICE": 10, "CAP_SYS_PTRACE": 19}


def status_of(pid):
    return dict(re.findall(r"^(\w+):[ \t]*(.*)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M))


def processes():
    """Pid, name and parent of each process."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                name, rest = re.search(r"\((.*)\) \S (\d+)", (folder / "stat").read_text(), re.S).groups()
            except (OSError, AttributeError):
                continue
            found.append((int(folder.name), name, int(rest)))
    return found


def children(pid, name):
    return [each for each, its_name, parent in processes() if parent == pid and its_name == name]


def documented(process):
    """The capabilities that SECURITY.md names for a process, without those that it has only in some cases."""
    row = next(line for line in (PROJECT / "SECURITY.md").read_text().splitlines() if line.startswith(f"| {process} |"))
    return set(re.findall(r"`(CAP_\w+)`(?! \()", row.split("|")[2]))


def mask(names):
    return sum(1 << CAPABILITIES[name] for name in names)


@pytest.fixture(params=USERS, ids=lambda uid: "root" if uid == 0 else "user")
def server(request):
    one = UserServer(request.param).start()
    yield one
    assert one.process is None or one.stop() == 0, one.log()
    one.remove()


def test_the_server_keeps_only_what_is_documented(server):
    keep = Keep(server)
    assert text_of(keep.run(keep.create(), "print(6 * 7)")) == "42\n"
    status = status_of(server.process.pid)
    expected = mask(documented("the server")) if server.uid == 0 else 0
    assert int(status["CapPrm"], 16) == int(status["CapEff"], 16) == expected
    assert int(status["CapInh"], 16) == int(status["CapAmb"], 16) == 0
    if server.uid == 0:
        assert int(status["CapBnd"], 16) == expected
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2" and status["Groups"].split() == []
    # Threads have rights of their own.
    for task in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir():
        own = status_of(f"{server.process.pid}/task/{task.name}")
        assert [own[name] for name in ("CapEff", "NoNewPrivs", "Seccomp")] == [status[name] for name in ("CapEff", "NoNewPrivs", "Seccomp")]


def test_who_looks_into_sessions_keeps_only_what_is_documented(server):
    keep = Keep(server)
    keep.run(keep.create(), "f = open('/mnt/data/open.txt', 'w')")
    helper = children(server.process.pid, "sk-helper")
    assert len(helper) == 1
    readers = children(helper[0], "sk-helper")
    assert readers
    for reader in readers:
        status = status_of(reader)
        assert int(status["CapEff"], 16) == (mask(documented("its readers")) if server.uid == 0 else 0)


def test_who_reads_types_of_content_can_do_nothing_else(server):
    keep = Keep(server)
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0"
    assert keep.put("image", png)["mime"] == "image/png"
    parent, = children(server.process.pid, "sk-types")
    readers = children(parent, "sk-type-reader")
    assert len(readers) == 2
    for pid in [parent, *readers]:
        status = status_of(pid)
        assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0 and status["NoNewPrivs"] == "1"
    for pid in readers:
        assert status_of(pid)["Seccomp"] == "2"
        if os.geteuid() == 0:
            kinds = {fd.name: os.readlink(fd).split(":")[0] for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir()}
            assert sorted(kinds.values()).count("socket") == 1 and len(kinds) == 4, kinds
        os.kill(pid, signal.SIGKILL)
    # One upload may still meet the end of a reader.
    wait_for(lambda: len(set(children(parent, "sk-type-reader")) - set(readers)) == 2)
    names = (f"image{number}" for number in range(100))
    wait_for(lambda: keep.put(next(names), png)["mime"] == "image/png")


def test_refused_calls_are_counted_by_session(server):
    keep = Keep(server)
    quiet, noisy = keep.create(name="quiet"), keep.create(name="noisy")
    keep.run(quiet, "1")
    keep.run(noisy, "import ctypes\nfor _ in range(5): ctypes.CDLL(None).unshare(0x10000000)")

    def counted():
        """A snapshot is up to a second old."""
        sessions = {each["name"]: each["calls_refused"] for each in keep.call("GET", "/api/v1/top").json()["sessions"]}
        return sessions.get("noisy") and sessions

    assert wait_for(counted) == {"quiet": 0, "noisy": 5}
    metrics = keep.call("GET", "/metrics").text
    assert re.search(r"^sandkeep_sandbox_calls_refused 5$", metrics, re.M), metrics
    assert re.search(r"^sandkeep_principal_sandbox_calls_refused{.*} 5$", metrics, re.M), metrics


def test_another_launcher_comes_when_one_dies(server):
    keep = Keep(server)
    keep.run(keep.create(), "1")
    helper, = children(server.process.pid, "sk-helper")
    launcher, = children(helper, "sk-launcher")
    os.kill(launcher, signal.SIGKILL)
    wait_for(lambda: [pid for pid in children(helper, "sk-launcher") if pid != launcher])
    # Sessions that the dead one had prepared may be given out first.
    wait_for(lambda: text_of(keep.run(keep.create(), "print('again')")) == "again\n")


def test_a_server_without_its_helper_stops_so_that_it_is_started_again(server):
    keep = Keep(server)
    session = keep.create()
    keep.run(session, "1")
    helper, = children(server.process.pid, "sk-helper")
    os.kill(helper, signal.SIGKILL)
    assert server.process.wait(60) > 0, "an orderly end with an error, not a signal"
    assert "a helper process has ended" in server.log()
    server.kill()
    server.start()
    assert Keep(server).run(session, "1")["woke"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
def test_nothing_runs_on_when_the_server_dies(server, how):
    keep = Keep(server)
    session = keep.create()
    keep.run(session, "open('/mnt/data/kept.txt', 'w').write('kept')")
    helper, = children(server.process.pid, "sk-helper")
    family = {helper, *(pid for pid, _, parent in processes() if parent == helper)}
    server.process.send_signal(how)
    server.process.wait()
    wait_for(lambda: not family & {pid for pid, _, _ in processes()})
    server.kill()
    server.start()
    again = Keep(server)
    assert text_of(again.run(session, "print(open('/mnt/data/kept.txt').read())")) == "kept\n"


def test_ctrl_c_ends_the_server_and_its_helper_in_order(server):
    keep = Keep(server)
    keep.run(keep.create(), "open('/mnt/data/a.txt', 'w').write('a')")
    helper, = children(server.process.pid, "sk-helper")
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(60) == 0, server.log()
    assert helper not in {pid for pid, _, _ in processes()}
    server.kill()
