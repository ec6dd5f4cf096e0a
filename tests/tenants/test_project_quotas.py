"""The kernel enforces the disk limits of sessions where the data folder has project quotas."""

import json
import os
import subprocess

import pytest
from neighbour import tenant
from sandkeep_server import Server, binary
from sessions_client import text_of
from small_disk import QuotaDisk

MIB = 1 << 20
LIMITS = ("--session-disk-max-bytes", str(32 * MIB), "--session-files-max", "200")


@pytest.fixture(scope="module")
def disk():
    try:
        one = QuotaDisk(1024)
    except OSError as error:
        pytest.skip(f"no filesystem with project quotas here: {error}")
    yield one
    one.remove()


@pytest.fixture
def server(disk):
    one = Server(*LIMITS, "--disk-reserve-bytes", str(8 * MIB), environment={"SANDKEEP_SANDBOX": "required"})
    one.data = disk.path / "data"
    one.start()
    yield one
    assert one.stop() == 0
    one.remove()


def test_a_write_over_the_limit_fails_and_the_session_lives_on(server):
    keep = tenant(server, "filler")
    session = keep.create(workspace=keep.workspace, folder="f")
    code = """
x = 42
try:
    with open('large', 'wb', buffering=0) as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
except OSError as error:
    print(error.errno)
"""
    done = keep.run(session, code)
    assert done["end"] == "ok" and text_of(done) == "122\n", done
    assert [file["path"] for file in done["kept"]] == ["f/large"] and 16 * MIB < done["kept"][0]["size"] <= 32 * MIB, done
    done = keep.run(session, "import os; os.remove('large'); open('small', 'w').write('s'); print(x)")
    assert done["end"] == "ok" and text_of(done) == "42\n", done


def test_deleted_files_that_are_still_open_count_and_no_session_is_ended(server):
    hider, other = tenant(server, "hider"), tenant(server, "other")
    session, calm = hider.create(workspace=hider.workspace, folder="f"), other.create(workspace=other.workspace, folder="g")
    other.run(calm, "y = 1")
    code = """
import os
file = open('hidden', 'wb', buffering=0)
os.remove('hidden')
try:
    for _ in range(64):
        file.write(bytes(1 << 20))
except OSError as error:
    print(error.errno, file.tell() < 40 << 20)
"""
    done = hider.run(session, code)
    assert done["end"] == "ok" and text_of(done) == "122 True\n", done
    assert text_of(other.run(calm, "print(y)")) == "1\n", "its session still has its variables"


def test_files_and_folders_are_limited_too(server):
    keep = tenant(server, "maker")
    session = keep.create(workspace=keep.workspace, folder="f")
    code = """
made = 0
try:
    while made < 1000:
        open(f'{made}', 'w').close()
        made += 1
except OSError as error:
    print(error.errno, 150 < made <= 200)
"""
    done = keep.run(session, code)
    assert done["end"] == "ok" and text_of(done) == "122 True\n", done


def test_what_others_write_is_brought_into_the_session_and_counts(server):
    keep = tenant(server, "reader")
    session = keep.create(workspace=keep.workspace, folder="f")
    keep.run(session, "import os; os.makedirs('d'); open('d/a', 'w').write('code')")
    keep.put("f/d/a", b"client", 200, workspace=keep.workspace)
    keep.put("f/d/new", os.urandom(20 * MIB), workspace=keep.workspace)
    done = keep.run(session, "print(open('d/a').read(), len(open('d/new', 'rb').read()) >> 20); os.rename('d/new', 'moved')")
    assert text_of(done) == "client 20\n", done
    assert "moved" in str(done["renamed"]), done
    done = keep.run(session, "open('more', 'wb').write(bytes(20 << 20))")
    assert done["end"] == "error" and "Disk quota exceeded" in str(done["outputs"]), done


def test_a_session_that_slept_has_its_files_and_its_limit(server):
    keep = tenant(server, "sleeper")
    session = keep.create(workspace=keep.workspace, folder="f")
    keep.run(session, "open('a', 'wb').write(bytes(20 << 20))")
    keep.call("POST", f"/api/v1/sessions/{session['id']}/sleep")
    done = keep.run(session, "import os; print(os.path.getsize('a') >> 20)\nopen('b', 'wb').write(bytes(20 << 20))")
    assert text_of(done) == "20\n" and "Disk quota exceeded" in str(done["outputs"]), done


def test_code_cannot_leave_its_project(server):
    keep = tenant(server, "leaver")
    session = keep.create(workspace=keep.workspace, folder="f")
    code = """
import array, fcntl
attributes = array.array('I', [0] * 7)
with open('a', 'w') as file:
    for request in (0x801c581f, 0x401c5820):
        try:
            fcntl.ioctl(file, request, attributes)
            print('done')
        except OSError as error:
            print('refused')
"""
    assert text_of(keep.run(session, code)) == "refused\nrefused\n"


def test_doctor_says_that_there_are_quotas(disk):
    told = subprocess.run([binary(), "doctor", "--json", "--data", disk.path], capture_output=True, text=True, check=False)
    layer = next(one for one in json.loads(told.stdout)["layers"] if one["name"] == "disk limits by project quotas")
    assert layer["present"], layer
