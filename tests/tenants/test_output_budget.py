"""Whatever code sends out of a session, the server's memory stays under a budget, and the answer says what it leaves out."""

import pathlib

import pytest

from sessions_client import USERS, Keep, UserServer, text_of

MIB = 1 << 20
OUTPUTS = 32 * MIB  # --output-memory-bytes
# Beside the outputs in memory: the images of one cell until they are kept (32 MiB), one frame and its parsed
# form, the catalog's page caches and what the allocator holds back.
BESIDE = 192 * MIB


def resident(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


@pytest.fixture(scope="module")
def server():
    one = UserServer(USERS[-1], "--output-memory-bytes", "32MiB", "--execution-timeout-max-s", "600").start()
    yield one
    code, log = one.stop(), one.log()
    one.remove()
    assert code == 0 and "fatal" not in log, log


@pytest.fixture
def keep(server):
    """Its server has grown by no more than the budget when the test is over."""
    one = Keep(server)
    one.session = one.create(timeout_s=300)
    one.run(one.session, "import os\nfrom IPython.display import display, Image, clear_output")
    before = resident(server)
    yield one
    one.call("DELETE", f"/api/v1/sessions/{one.session['id']}", 204)
    grown = resident(server) - before
    print(f"grown by {grown / MIB:.0f} MiB from {before / MIB:.0f}")
    assert grown < OUTPUTS + BESIDE


def notes(done):
    return " ".join(one["text"] for one in done["outputs"] if one["type"] == "note")


@pytest.mark.parametrize("shown", ["{}", "{'text/plain': 'x'}", "{'text/plain': 'x' * 4000}", "{f'{j:03}' + 'm' * 190: 'x' for j in range(90)}"],
                         ids=["empty", "tiny", "long", "long-types"])
def test_many_displays_are_cut_and_counted(keep, shown):
    count = 15_000 if "range" not in shown else 1_000
    done = keep.run(keep.session, f"for i in range({count}): display({shown}, raw=True)")
    assert done["end"] == "ok", done["message"]
    assert len(done["outputs"]) <= 10_020
    assert "displays" in notes(done), notes(done)
    assert sum(len(str(one)) for one in done["outputs"]) < 8 * MIB


def test_many_updates_of_a_display_with_a_long_id_are_bounded(keep):
    done = keep.run(keep.session, "shown = display('x', display_id='i' * 100_000)\nfor i in range(2_000): shown.update(i)")
    assert done["end"] == "ok", done["message"]
    assert sum(len(str(one)) for one in done["outputs"]) < 4 * MIB


def test_an_error_of_many_bytes_is_cut(keep):
    done = keep.run(keep.session, "raise type('E' * 3_000_000, (Exception,), {})('v' * 3_000_000)")
    assert done["end"] == "error"
    error = [one for one in done["outputs"] if one["type"] == "error"][0]
    assert error["name"].startswith("EEE") and error["value"].startswith("vvv")
    assert sum(len(str(one)) for one in done["outputs"]) < MIB


def test_single_letters_of_two_streams_are_whole_in_a_file(keep):
    done = keep.run(keep.session, "for i in range(30_000):\n    os.write(1, b'a'); os.write(2, b'b')")
    assert done["end"] == "ok", done["message"]
    if "was cut" in notes(done):  # the streams alternated often enough
        path = [file["path"] for file in done["kept"] if file["path"].endswith("-output.txt")][0]
        kept = keep.read(path)
        assert len(kept) == 60_000 and set(kept) == set(b"ab")
    else:
        assert len(text_of(done)) == 60_000


def test_cleared_output_does_not_stay(keep):
    done = keep.run(keep.session, "for i in range(20_000):\n    print('x' * 30)\n    clear_output()\nprint('last')")
    assert done["end"] == "ok", done["message"]
    assert text_of(done).endswith("last\n")


def test_images_are_files_and_not_memory(keep):
    code = "for i in range(200): display(Image(data=b'\\x89PNG\\r\\n\\x1a\\n' + os.urandom(1 << 20), format='png'))"
    done = keep.run(keep.session, code)
    assert done["end"] == "ok", done["message"]
    images = [file for file in done["kept"] if file["path"].endswith(".png")]
    assert len(images) == 200 and all(file["size"] == MIB + 8 for file in images)
    assert sum("cut" in one for one in done["outputs"]) >= 199


def test_recent_executions_and_pages_of_them_are_limited_in_bytes(keep):
    for number in range(60):
        done = keep.run(keep.session, f"print({number}); print('x' * 1_000_000)")
        assert done["end"] == "ok"
    path, query, ids, pages = f"/api/v1/sessions/{keep.session['id']}/executions", {}, {}, 0
    while True:
        answer = keep.call("GET", path, params=query)
        assert len(answer.content) < 8 * MIB
        page = answer.json()
        pages += 1
        ids |= {one["number"]: one["id"] for one in page["items"]}
        if not page["has_more"]:
            break
        query = {"cursor": page["next_cursor"]}
    assert list(ids) == list(range(61, 0, -1)) and pages > 5
    # An older one is read from its record.
    oldest = keep.call("GET", f"{path}/{ids[2]}").json()
    assert text_of(oldest).startswith("0\nxxx")


LONG_NAMES = """
os.makedirs('deep', exist_ok=True)
os.chdir('deep')
for _ in range(25):
    os.mkdir('d' * 240)
    os.chdir('d' * 240)
for number in range(2000):
    {what}
os.chdir('/mnt/data')
"""


@pytest.mark.parametrize("what", ["os.symlink('/x', f'{number}' + 'n' * 200)", "os.mkdir(f'{number}' + 'n' * 200)"], ids=["not-kept", "folders"])
def test_long_names_without_end_are_cut_and_counted(keep, what):
    """Each of 2,000 names has more than 6,000 bytes."""
    answer = keep.call("POST", f"/api/v1/sessions/{keep.session['id']}/executions", json={"code": LONG_NAMES.format(what=what)})
    done = answer.json()
    assert done["end"] == "ok", answer.text[:1000]
    assert len(answer.content) < 4 * MIB
    assert 1900 < done["left_out"] <= 2030 and len(done["not_kept"]) + len(done["folders"]) > 0
    read_back = keep.call("GET", f"/api/v1/sessions/{keep.session['id']}/executions/{done['id']}").json()
    assert read_back["left_out"] == done["left_out"]
    keep.run(keep.session, "import shutil; shutil.rmtree('deep')")


def test_kept_files_with_long_names_are_cut_in_the_answer(keep):
    code = LONG_NAMES.format(what="open(f'{number}' + 'n' * 200, 'w').close()")
    answer = keep.call("POST", f"/api/v1/sessions/{keep.session['id']}/executions", json={"code": code})
    assert answer.json()["kept_more"] and len(answer.content) < 4 * MIB
    keep.run(keep.session, "import shutil; shutil.rmtree('deep')")
