"""What one tenant's files take on the disk, which a quota does not see: contents that are equal, and files without a name."""

import os
import pathlib

import pytest
from neighbour import tenant
from sandkeep_server import Server
from sessions_client import text_of
from small_disk import SmallDisk

MIB = 1 << 20


def disk_bytes(folder):
    """Allocated, of all files below a folder."""
    found = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                found += os.lstat(pathlib.Path(path) / name).st_blocks * 512
            except FileNotFoundError:
                pass  # removed meanwhile
    return found


def test_copies_of_one_file_do_not_fill_the_disk_when_a_session_wakes(make_user_server):
    """Forty copies of one file count once against the quota, and were written forty times, over the session's limit and into the disk's reserve."""
    server = make_user_server("--session-disk-max-bytes", str(24 * MIB))
    keep = tenant(server, "copier")
    keep.put("f/0", os.urandom(4 * MIB), workspace=keep.workspace)
    changes = [{"op": "copy", "from": "f/0", "to": f"f/{number}"} for number in range(1, 40)]
    keep.call("POST", f"/api/v1/workspaces/{keep.workspace}/batch", json={"changes": changes})
    session = keep.create(workspace=keep.workspace, folder="f")
    done = keep.run(session, "import os\nprint(len([name for name in os.listdir('.') if os.path.getsize(name) == 4 << 20]))")
    assert done["end"] == "ok" and 1 <= int(text_of(done)) <= 6, done
    assert "could not be brought" in str(done["outputs"]), done
    assert disk_bytes(server.data / "sessions") < 32 * MIB
    # What was not brought was not deleted by code.
    keep.run(session, "print(1)")
    assert len(keep.files("f", workspace=keep.workspace)) == 40


def test_deleted_files_that_are_still_open_count(make_user_server):
    """They have no name, so that a look at the folder does not see them."""
    server = make_user_server("--session-disk-max-bytes", str(32 * MIB))
    keep = tenant(server, "hider")
    session = keep.create(workspace=keep.workspace, folder="f")
    code = """
import os, time
files = [open(f'hidden{number}', 'wb', buffering=0) for number in range(16)]
for number, file in enumerate(files):
    os.remove(f'hidden{number}')
while True:
    for file in files:
        if file.tell() < 8 << 20:
            file.write(os.urandom(1 << 20))
    time.sleep(0.05)
"""
    done = keep.run(session, code, timeout_s=120)
    assert done["end"] == "disk", done


def test_a_deleted_file_that_is_only_mapped_counts(make_user_server):
    server = make_user_server("--session-disk-max-bytes", str(32 * MIB))
    keep = tenant(server, "hider")
    session = keep.create(workspace=keep.workspace, folder="f")
    code = """
import mmap, os, time
with open('hidden', 'w+b') as file:
    file.truncate(64 << 20)
    mapped = mmap.mmap(file.fileno(), 64 << 20)
os.remove('hidden')
for at in range(0, 64 << 20, 1 << 20):
    mapped[at:at + (1 << 20)] = os.urandom(1 << 20)
    time.sleep(0.02)
while True:
    time.sleep(1)
"""
    done = keep.run(session, code, timeout_s=120)
    assert done["end"] == "disk", done


def test_a_part_is_in_a_file_once(make_server):
    """A part that was named 170 times made a file of 3 GiB under a quota of 18 MiB."""
    server = make_server("--sandbox", "off")
    keep = tenant(server, "uploader")
    upload = keep.call("POST", "/v1/uploads", json={"bytes": 200, "filename": "f", "mime_type": "text/plain", "purpose": "assistants"}).json()["id"]
    part = keep.call("POST", f"/v1/uploads/{upload}/parts", files={"data": b"x" * 100}).json()["id"]
    refused = keep.call("POST", f"/v1/uploads/{upload}/complete", 400, json={"part_ids": [part, part]}).json()["error"]
    assert "twice" in refused["message"] and refused["param"] == "part_ids"


def test_a_session_that_fills_the_disk_leaves_room_for_the_uploads_of_others():
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system to fill")
    disk = SmallDisk(512)
    server = Server("--disk-reserve-bytes", str(8 * MIB), environment={"SANDKEEP_SANDBOX": "required"})
    server.data = disk.path / "data"
    try:
        server.start()
        greedy, other = tenant(server, "greedy"), tenant(server, "other")
        session = greedy.create(workspace=greedy.workspace, folder="f")
        code = """
import os, time
with open('large', 'wb', buffering=0) as file:
    while True:
        file.write(os.urandom(1 << 20))
        time.sleep(0.01)
"""
        done = greedy.run(session, code, timeout_s=120)
        assert done["end"] == "disk", done
        for number in range(4):
            other.put(f"{number}.bin", os.urandom(2 * MIB), workspace=other.workspace)
        assert other.run(other.create(workspace=other.workspace, folder="g"), "1+1")["end"] == "ok"
        assert server.stop() == 0
    finally:
        server.remove()
        disk.remove()
