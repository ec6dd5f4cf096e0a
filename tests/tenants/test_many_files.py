"""Sessions with very many files, or very long paths: the server's memory stays under a budget, and others get between the changes."""

import pathlib
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

from neighbour import Neighbour, tenant

MIB = 1 << 20
NAMES = 16 * MIB  # --copy-memory-bytes
# Beside the names: the catalog's page caches, the answers and what the allocator holds back.
BESIDE = 160 * MIB

# Makes files at the end of a path of 2,500 bytes.
DEEP = """
import os
def go_deep():
    for i in range(10):
        os.makedirs(f'{i:03}' + 'd' * 247, exist_ok=True)
        os.chdir(f'{i:03}' + 'd' * 247)
go_deep()
for i in range(COUNT):
    os.close(os.open(f'{i}', os.O_CREAT | os.O_WRONLY))
os.chdir('/mnt/data')
"""


def resident(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def test_files_with_long_paths_take_no_more_memory_than_the_budget(make_user_server):
    """Each path was held three times: 20,000 files took 200 MiB of the server, and 500,000 were allowed."""
    server = make_user_server("--copy-memory-bytes", "16MiB", "--execution-timeout-max-s", "600")
    neighbour = Neighbour(server)
    keep = tenant(server, "names")
    session = keep.create(workspace=keep.workspace, folder="deep", timeout_s=300)
    keep.run(session, "1")
    before = resident(server)
    with neighbour:
        done = keep.run(session, DEEP.replace("COUNT", "20_000"))
        again = keep.run(session, "open('small.txt', 'w').write('x')")
    grown = resident(server) - before
    print(f"grown by {grown / MIB:.0f} MiB from {before / MIB:.0f}; {done['end']}: {done['message']}")
    assert grown < NAMES + BESIDE
    for one in (done, again):
        assert "copy_memory_bytes" in str(one["message"]) + str(one["not_kept"]), one["message"]
    neighbour.check(has_shares=False)
    # Its user can help themselves.
    keep.run(session, "import shutil; shutil.rmtree('/mnt/data/' + '000' + 'd' * 247)")
    done = keep.run(session, "open('other.txt', 'w').write('y')")
    assert done["end"] == "ok" and not done["not_kept"], done
    assert keep.call("GET", f"/api/v1/workspaces/{keep.workspace}/files/deep/small.txt").text == "x"
    assert keep.call("GET", f"/api/v1/workspaces/{keep.workspace}/files/deep/other.txt").text == "y"


def test_a_folder_that_needs_more_than_the_budget_is_refused_with_the_figure(make_user_server):
    server = make_user_server("--copy-memory-bytes", "16MiB")
    keep = tenant(server, "names")
    long = "/".join("d" * 250 for _ in range(20))
    for start in range(0, 2000, 500):
        changes = [{"op": "put", "path": f"big/{long}/{number}", "content": "x"} for number in range(start, start + 500)]
        keep.call("POST", f"/api/v1/workspaces/{keep.workspace}/batch", json={"changes": changes})
    session = keep.create(workspace=keep.workspace, folder="big")
    done = keep.run(session, "1+1")
    assert done["end"] != "ok" and "copy_memory_bytes" in done["message"], done
    other = keep.create(workspace=keep.workspace, folder="small")
    assert keep.run(other, "1+1")["end"] == "ok"


def test_a_capture_of_a_large_deletion_lets_the_writes_of_others_between(make_user_server):
    """A folder that code removed or renamed was one transaction, however large it was."""
    server = make_user_server("--changed-entries-max", "400")
    keep, other = tenant(server, "many"), tenant(server, "other")
    session = keep.create(workspace=keep.workspace, folder="many", timeout_s=120)
    keep.run(session, "import os, shutil\nos.mkdir('flat')\nfor i in range(6000): open(f'flat/{i}', 'w').write(str(i))")
    for code in ("os.rename('flat', 'other')", "shutil.rmtree('other')"):
        with ThreadPoolExecutor(1) as pool:
            began = time.monotonic()
            cell = pool.submit(keep.run, session, code)
            puts = []
            while not cell.done():
                start = time.monotonic()
                other.put(f"busy{time.monotonic_ns()}", b"x", workspace=other.workspace)
                puts.append(time.monotonic() - start)
            took = time.monotonic() - began
        done = cell.result()
        print(f"{code}: {took:.2f} s; of {len(puts)} puts meanwhile the median took {statistics.median(puts):.4f} s, the slowest {max(puts):.3f}")
        assert done["end"] == "ok" and not done["not_kept"], done
        assert len(puts) >= 5 and max(puts) < took / 2
    assert keep.call("GET", f"/api/v1/workspaces/{keep.workspace}/list?folder=many&recursive=true").json()["items"] == []
