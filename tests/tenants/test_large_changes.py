"""Changes of many entries at once: whoever asks for them, and however often, the writes of others get between."""

import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from neighbour import tenant

FILES = 3000
MOVERS = 16


def fill(keep, folder, count):
    for start in range(0, count, 1000):
        changes = [{"op": "put", "path": f"{folder}/{number // 100}/{number}", "content": str(number)} for number in range(start, min(start + 1000, count))]
        keep.call("POST", f"/api/v1/workspaces/{keep.workspace}/batch", json={"changes": changes})


def timed(action):
    began = time.monotonic()
    action()
    return time.monotonic() - began


def test_moves_of_large_folders_let_the_writes_of_others_between(make_server):
    """Moves waited in one line with everybody's writes: the line's length times the duration of a move."""
    server = make_server("--sandbox", "off")
    mover, other = tenant(server, "mover"), tenant(server, "other")
    for number in range(MOVERS):
        fill(mover, f"here{number}", FILES)

    def move(connection, source, target):
        connection.call("POST", f"/api/v1/workspaces/{mover.workspace}/move", json={"from": source, "to": target})

    def there_and_back(connection, number):
        move(connection, f"here{number}", f"there{number}")
        move(connection, f"there{number}", f"here{number}")

    there_and_back(mover, 0)
    one_move = statistics.median(timed(lambda: there_and_back(mover, 0)) for _ in range(5)) / 2
    idle = statistics.median(timed(lambda number=number: other.put(f"idle{number}", b"x", workspace=other.workspace)) for number in range(20))
    ended, rounds, puts = threading.Event(), [0] * MOVERS, []

    def go_on_moving(number):
        connection = type(mover)(server)  # of its own, with the same key
        connection.http.headers.update(mover.http.headers)
        while not ended.is_set():
            there_and_back(connection, number)
            rounds[number] += 1

    with ThreadPoolExecutor(MOVERS) as pool:
        running = [pool.submit(go_on_moving, number) for number in range(MOVERS)]
        try:
            while min(rounds) < 1:  # all of them are in the line
                assert not any(one.done() for one in running)
                time.sleep(0.01)
            for number in range(20):
                puts.append(timed(lambda number=number: other.put(f"busy{number}", b"x", workspace=other.workspace)))
        finally:
            ended.set()
        for one in running:
            one.result()
    print(f"one move {one_move:.3f} s; put: idle {idle:.4f} s, median {statistics.median(puts):.3f}, slowest {max(puts):.3f} s; {2 * sum(rounds)} moves")
    # The moves of a group that is under way, and its commit; the whole line would be 16 moves.
    assert statistics.median(puts) < 10 * one_move + 5 * idle


def test_too_many_entries_are_refused_with_the_figure(make_server):
    server = make_server("--sandbox", "off", "--changed-entries-max", "100")
    keep = tenant(server, "mover")
    fill(keep, "folder", 150)
    answer = keep.call("POST", f"/api/v1/workspaces/{keep.workspace}/move", 413, json={"from": "folder", "to": "other"}).json()["error"]
    assert answer["code"] == "too_large" and answer["entries_max"] == 100 and answer["advice"] == "change_in_parts"
    keep.call("DELETE", f"/api/v1/workspaces/{keep.workspace}/files/folder", 413)
    # Folder by folder, as the advice says.
    keep.call("DELETE", f"/api/v1/workspaces/{keep.workspace}/files/folder/0")
    keep.call("DELETE", f"/api/v1/workspaces/{keep.workspace}/files/folder")


def test_a_large_trash_is_emptied_between_the_writes_of_others(make_server):
    """An emptied trash was one transaction."""
    server = make_server("--sandbox", "off")
    owner, other = tenant(server, "owner"), tenant(server, "other")
    fill(owner, "folder", FILES)
    owner.call("DELETE", f"/api/v1/workspaces/{owner.workspace}/files/folder")
    with ThreadPoolExecutor(1) as pool:
        began = time.monotonic()
        emptied = pool.submit(owner.call, "DELETE", f"/api/v1/workspaces/{owner.workspace}/trash")
        puts = []
        while not emptied.done():
            puts.append(timed(lambda: other.put("busy", b"%d" % len(puts), status=200 if puts else 201, workspace=other.workspace)))
        took = time.monotonic() - began
    assert emptied.result().json()["files"] == FILES + FILES // 100 + 1
    print(f"emptied in {took:.2f} s; slowest of {len(puts)} puts meanwhile {max(puts):.3f} s")
    assert len(puts) >= 5 and max(puts) < took / 2
