"""Long paths: what a transaction costs goes with their bytes, so its limit does, too."""

import threading
import time

from neighbour import tenant

LONG = "/".join("n" * 250 for _ in range(30))


def measured(other, action):
    """The result of the action, and the slowest put of another tenant meanwhile."""
    ended, puts = threading.Event(), [0.0]

    def put_on():
        while not ended.is_set():
            began = time.monotonic()
            other.put(f"busy{time.monotonic_ns()}", b"x", workspace=other.workspace)
            puts.append(time.monotonic() - began)

    thread = threading.Thread(target=put_on)
    thread.start()
    try:
        result = action()
    finally:
        ended.set()
        thread.join()
    return result, max(puts)


def test_folders_that_are_made_on_the_way_count(make_server):
    """Ninety changes made 90,000 folders in one transaction, which took ten seconds."""
    server = make_server("--sandbox", "off")
    keep, other = tenant(server, "deep"), tenant(server, "other")
    deep = "/a" * 1000
    changes = [{"op": "mkdir", "path": f"b{number}{deep}"} for number in range(90)]
    answer, slowest = measured(other, lambda: keep.call("POST", f"/api/v1/workspaces/{keep.workspace}/batch", 413, json={"changes": changes}).json())
    print(f"slowest put of another {slowest:.3f} s")
    assert answer["error"]["code"] == "too_large" and answer["error"]["advice"] == "change_in_parts"
    body = "".join(f'--B\r\nContent-Disposition: form-data; name="f"; filename="m{number}{deep}/f"\r\n\r\nx\r\n' for number in range(90)) + "--B--\r\n"
    keep.call("POST", f"/api/v1/workspaces/{keep.workspace}/files/parts", 413, data=body, headers={"Content-Type": "multipart/form-data; boundary=B"})
    keep.call("POST", f"/api/v1/workspaces/{keep.workspace}/batch", json={"changes": changes[:1]})


def test_entries_below_a_long_path_count_for_several(make_server):
    """Moves of 50,000 entries to a path of 7,500 bytes took up to 19 seconds, within the limit of 100,000 entries."""
    server = make_server("--sandbox", "off")
    keep, other = tenant(server, "long"), tenant(server, "other")
    url = f"/api/v1/workspaces/{keep.workspace}"
    keep.call("POST", f"{url}/batch", json={"changes": [{"op": "mkdir", "path": f"T/{number}"} for number in range(6000)]})
    keep.call("POST", f"{url}/mkdir", 201, json={"path": LONG})
    answer, slowest = measured(other, lambda: keep.call("POST", f"{url}/move", 413, json={"from": "T", "to": LONG + "/T"}).json())
    print(f"refused move: slowest put of another {slowest:.3f} s")
    assert answer["error"]["code"] == "too_large"
    # The same entries at a short path are few.
    keep.call("POST", f"{url}/move", json={"from": "T", "to": "U"})
    for number in range(3):
        keep.call("POST", f"{url}/batch", json={"changes": [{"op": "mkdir", "path": f"part{number}/{one}"} for one in range(2000)]})
        keep.call("POST", f"{url}/move", json={"from": f"part{number}", "to": f"{LONG}/part{number}"})
    keep.call("DELETE", f"{url}/files/" + "n" * 250, 413)


def test_captures_of_long_paths_let_others_between(make_user_server):
    """A capture's batch of 2,000 files with paths of 3,700 bytes blocked all writers for seconds."""
    server = make_user_server()
    keep, other = tenant(server, "long"), tenant(server, "other")
    session = keep.create(workspace=keep.workspace, folder="s", timeout_s=120)
    code = """
import os
p = '/'.join(['n' * 250] * 12)
for i in range(10):
    os.makedirs(p + f'/{i}', exist_ok=True)
    for j in range(100): open(p + f'/{i}/' + 'x' * 230 + str(j), 'w').write(f'{i} {j}')
"""
    began = time.monotonic()
    done, slowest = measured(other, lambda: keep.run(session, code))
    took = time.monotonic() - began
    print(f"captured in {took:.2f} s; slowest put of another {slowest:.3f} s")
    assert done["end"] == "ok" and not done["not_kept"], done["message"]
    assert slowest < max(took / 3, 0.3)
