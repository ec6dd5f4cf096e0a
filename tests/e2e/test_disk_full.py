"""A disk that is full: an error that says so, nothing half-done, nothing lost, and work goes on once there is room again.

The data folder lies on a file system of its own in memory, small enough to be filled.
"""

import os

import pytest

from durability import Ledger, Wire, at, form, verify
from sandkeep_server import Server
from small_disk import SmallDisk

MIB = 1 << 20
WORKSPACE = "/api/v1/workspaces/default"
FLAGS = ("--sandbox", "off", "--log-level", "error", "--gc-interval-s", "0", "--scrub-interval-s", "0")


@pytest.fixture
def disk():
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system to fill")
    one = SmallDisk(40)
    yield one
    one.remove()


@pytest.fixture
def start(disk):
    """A server whose data folder is on the small disk; start("--flag", …)."""
    made = []

    def make(*flags):
        server = Server(*FLAGS, *flags)
        server.data = disk.path / "data"
        made.append(server)
        return server.start()

    yield make
    for server in made:
        server.remove()


def put(wire, ledger, path, content):
    ledger.sending(content)
    answer = wire.call("PUT", at(path), content)
    if answer.status in (200, 201):
        ledger.acknowledged([answer.json()])
    return answer


def assert_full(answer):
    assert answer.status == 507, (answer.status, answer.body[:500])
    error = answer.json()["error"]
    assert error["code"] == "disk_full" and error["message"] and error["hint"] and error["request_id"], error


def put_small(wire, ledger, path, content):
    """Small contents lie in the catalog, whose log has room again after a checkpoint, also on a full disk: kept or refused, but whole."""
    answer = put(wire, ledger, path, content)
    if answer.status not in (200, 201):
        assert_full(answer)


def fill(wire, ledger, sizes, stem):
    """Puts files of these sizes, the next smaller one when one does not fit any more; the number that fitted."""
    number = 0
    for size in sizes:
        while True:
            answer = put(wire, ledger, f"{stem}/{number}", os.urandom(size))
            if answer.status != 201:
                assert_full(answer)
                break
            number += 1
            assert number < 10_000, "the disk never became full"
    assert number > 0
    return number


def fill_up(file):
    """Takes every page that is left."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND)
    try:
        while os.write(descriptor, bytes(4096)):
            pass
    except OSError:
        os.close(descriptor)


def check(wire, ledger):
    ledger.check_listing(wire)
    ledger.check_versions(wire)
    verify(wire)


@pytest.mark.parametrize("sizes", [(3 * MIB, 300_000, 30_000), (300_000, 10_000), (60_000, 2000)], ids=["large first", "middle first", "small only"])
def test_a_full_disk_is_an_error_and_loses_nothing(disk, start, sizes):
    """To the last byte: no reserve is kept for the catalog, so its own writes fail, too."""
    server, ledger = start("--disk-reserve-bytes", "0"), Ledger()
    with Wire(server) as wire:
        number = fill(wire, ledger, sizes, "full")
        # Every kind of write on a full disk is whole or an error.
        body, headers = form({"a.bin": os.urandom(200_000), "b.bin": os.urandom(5 * MIB)})
        assert_full(wire.call("POST", at("form"), body, headers))
        # Each too large for the catalog, whose log may have room; see put_small.
        changes = [{"op": "put", "path": f"batch/{n}", "content": os.urandom(50_000).hex()} for n in range(40)]
        assert_full(wire.call("POST", f"{WORKSPACE}/batch", {"changes": changes}))
        assert_full(put(wire, ledger, "full/0", os.urandom(4 * MIB)))
        listed = ledger.check_listing(wire)
        assert len(listed) == number and not [path for path in listed if path.startswith(("form", "batch"))]
        ledger.check_versions(wire)
        assert not list((server.data / "blobs" / "new").iterdir()), "what was not kept still takes room"
    # A crash of the full server, a larger disk, and on it goes.
    server.kill()
    disk.resize(80)
    server.start()
    with Wire(server) as wire:
        check(wire, ledger)
        assert put(wire, ledger, "full/0", os.urandom(2 * MIB)).status == 200
        assert put(wire, ledger, "more/0", os.urandom(2 * MIB)).status == 201
        check(wire, ledger)
    assert server.stop() == 0


def test_a_server_that_goes_on_while_the_disk_grows_needs_no_restart(disk, start):
    server, ledger = start("--disk-reserve-bytes", "0"), Ledger()
    with Wire(server) as wire:
        fill(wire, ledger, (2 * MIB, 40_000, 1000), "full")
        disk.resize(60)
        assert put(wire, ledger, "more/0", os.urandom(2 * MIB)).status == 201
        check(wire, ledger)
    assert server.stop() == 0


def test_a_full_disk_can_be_read_and_restarted(disk, start):
    """Full to the last page, also by others: what is kept is served, and a start is a start or an error that names the reason."""
    filler = disk.path / "filler"
    filler.touch()
    server, ledger = start("--disk-reserve-bytes", "0"), Ledger()
    with Wire(server) as wire:
        fill(wire, ledger, (3 * MIB, 50_000), "full")
        fill_up(filler)
        ledger.check_versions(wire)
        put_small(wire, ledger, "small", b"x" * 10_000)
        assert_full(put(wire, ledger, "none", os.urandom(MIB)))
    server.kill()
    try:
        server.start()
    except RuntimeError as refused:
        assert "No space left" in str(refused) or "full" in str(refused), refused
    else:
        with Wire(server) as wire:
            ledger.check_versions(wire)
            put_small(wire, ledger, "small", b"y" * 10_000)
            assert_full(put(wire, ledger, "none", os.urandom(MIB)))
        server.kill()
    filler.unlink()
    disk.resize(60)
    server.start()
    with Wire(server) as wire:
        check(wire, ledger)
        assert put(wire, ledger, "more", os.urandom(MIB)).status == 201
    assert server.stop() == 0
