"""Locks and events through the command line."""

import json
import select
import signal
import sys

import pytest
from sandkeep_cli import Cli


@pytest.fixture
def cli(server, ws, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a")
    return Cli(tmp_path, server, workspace=ws.id)


def test_a_lock_keeps_others_out_until_it_is_released(cli):
    acquired = cli("lock", "acquire", "data", "--ttl", "10m", "--purpose", "nightly import")
    token = acquired.out.strip()
    assert token and "\n" not in token
    assert "locked data until" in acquired.err
    assert token not in cli("lock", "ls").out
    assert "nightly import" in cli("lock", "ls", "data").out
    assert cli("put", "a.txt", "data/", "--json", code=5).error["code"] == "locked"
    cli("put", "--lock", token, "a.txt", "data/")
    cli("put", "a.txt", "data/again.txt", SANDKEEP_LOCK=token)
    cli("rm", "data/a.txt", code=5)
    assert cli("lock", "renew", token, "--ttl", "20m", "--json").json["path"] == "data"
    cli("lock", "release", token)
    cli("put", "a.txt", "data/free.txt")
    cli("lock", "renew", token, code=3)
    assert "Acquire" not in cli("lock", "release", token, code=3).err
    assert cli("lock", "ls").out == ""


def test_what_comes_back_needs_the_token_of_a_lock_too(cli, ws):
    cli("put", "a.txt", "data/a.txt")
    cli("rm", "data/a.txt")
    token = cli("lock", "acquire", "data").out.strip()
    assert cli("trash", "restore", "data/a.txt", "--json", code=5).error["code"] == "locked"
    cli("trash", "restore", "data/a.txt", SANDKEEP_LOCK=token)
    assert cli("restore", "--as-of", "0s", "data", "--json", code=5).error["code"] == "locked"
    cli("restore", "--as-of", "0s", "--dry-run", "data")
    cli("restore", "--as-of", "0s", "data", "--lock", token)
    assert cli("restore", "--as-of", "0s", "data", "--lock", token, "--if-match", "*", "--json", code=2).error["code"] == "bad_request"
    assert cli("workspace", "rm", ws.name, "--json", code=5).error["code"] == "locked"
    cli("workspace", "rm", ws.name, "--lock", token)


def test_a_second_lock_waits_or_says_who_holds_the_first(cli):
    token = cli("lock", "acquire", "a").out.strip()
    refused = cli("lock", "acquire", "a", "--json", code=5).error
    assert refused["code"] == "locked" and "--wait" in refused["hint"] and "--lock" not in refused["hint"]
    waiting = cli.start("lock", "acquire", "a", "--wait", "60s", "--json")
    cli("lock", "release", token)
    out, err = waiting.communicate(timeout=60)
    assert waiting.returncode == 0, err
    assert json.loads(out)["path"] == "a"


def test_the_owner_breaks_a_lock(cli):
    cli("lock", "acquire", "a")
    lock = cli("lock", "ls", "--json").json_lines[0]
    cli("lock", "break", lock["id"])
    cli("put", "a.txt", "a")


def test_invalid_lifetimes_of_locks_are_refused(cli):
    cli("lock", "acquire", "a", "--ttl", "soon", code=2)
    refused = cli("lock", "acquire", "a", "--ttl", "1s", code=2).err
    assert "between 60 and 3600 seconds" in refused and "ttl_s" not in refused and "shorter" not in refused
    assert "shorter" in cli("lock", "acquire", "a", "--ttl", "2h", code=2).err


def test_a_program_runs_under_a_lock_that_it_can_use(cli, ws):
    binary = cli.command()[0]
    script = f'{binary} put a.txt data/x && {binary} lock ls --json'
    ran = cli("lock", "run", "data", "--", "sh", "-c", script)
    assert json.loads(ran.lines[-1])["path"] == "data"
    assert cli("lock", "ls").out == ""
    assert cli("cat", "data/x").out == "a"


def test_the_token_of_a_lock_run_is_used_by_every_command_and_in_its_workspace_only(cli, api, unique):
    binary = cli.command()[0]
    other = api.workspace(unique("other"))
    cli("put", "a.txt", "L/a")
    cli("rm", "L/a")
    script = " && ".join(f"{binary} {words}" for words in (
        "trash restore L/a", "restore --as-of 0s L", "put a.txt L/b", f"put a.txt {other.name}:z", f"put a.txt {other.id}:L/z",
        f"cp L/b {other.name}:zz", f"mkdir {other.name}:d", f"rm {other.name}:z", f"trash restore {other.name}:z"))
    cli("lock", "run", "L", "--", "sh", "-c", script)
    assert cli("cat", f"{other.name}:L/z").out == "a" and cli("cat", "L/b").out == "a"
    # By name as by id, and without the variable of the workspace the token goes everywhere, as who sets it says.
    cli("lock", "run", "L", "--", "sh", "-c", f"{binary} put a.txt L/c && SANDKEEP_LOCK_WORKSPACE= {binary} put a.txt L/d")
    cli("lock", "acquire", "L")
    cli("restore", "--as-of", "0s", "L", code=5)
    assert cli("restore", "--as-of", "0s", "--fence", "1", "L", "--json", code=5).error["code"] == "precondition_failed"
    cli("restore", "--as-of", "0s", "--if-match", "*", "L", code=2)


def test_waits_keep_to_what_the_server_allows(make_server, tmp_path):
    server = make_server("--events-wait-max-s", "1", "--lock-wait-max-s", "1")
    cli = Cli(tmp_path, server)
    token = cli("lock", "acquire", "a").out.strip()
    assert cli("lock", "acquire", "a", "--wait", "3s", "--json", code=5).error["code"] == "locked"
    cli("lock", "release", token)
    following = cli.start("events", "--follow", "--json", "--after", "now", "--kinds", "lock.*")
    try:
        # Longer than one long poll of this server.
        assert not select.select([following.stdout], [], [], 2.5)[0] and following.poll() is None
        cli("lock", "acquire", "b")
        assert "lock.acquire" in following.stdout.readline().decode()
    finally:
        following.send_signal(signal.SIGINT)
        following.communicate(timeout=30)


def test_the_exit_code_is_the_programs_and_the_lock_is_always_released(cli):
    cli("lock", "run", "data", "--", "sh", "-c", "exit 37", code=37)
    cli("lock", "run", "data", "--", "sh", "-c", "kill -9 $$", code=137)
    cli("lock", "run", "data", "--", "no-such-program-anywhere", code=3)
    cli("lock", "run", "data", code=2)
    assert cli("lock", "ls").out == ""


def test_sigterm_reaches_the_program_and_the_lock_is_released(cli):
    # A handler of Python's own would be missed by a sleep that begins just then.
    ready = "import signal,sys; wait={signal.SIGTERM}; signal.pthread_sigmask(signal.SIG_BLOCK, wait); print('up', flush=True); signal.sigwait(wait); sys.exit(5)"
    running = cli.start("lock", "run", "data", "--", sys.executable, "-c", ready)
    assert running.stdout.readline() == b"up\n"
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 5
    running.communicate()
    assert cli("lock", "ls").out == ""


def test_events_tell_what_happened(cli):
    cli("put", "a.txt", "one.txt")
    cli("put", "a.txt", "dir/two.txt")
    cli("lock", "acquire", "dir")
    kinds = [event["kind"] for event in cli("events", "--json").json_lines]
    assert kinds.count("file.create") == 2 and "lock.acquire" in kinds
    assert {event["kind"] for event in cli("events", "--kinds", "lock.*", "--json").json_lines} == {"lock.acquire"}
    below = cli("events", "dir", "--kinds", "file.*").out
    assert "two.txt" in below and "one.txt" not in below
    last = cli("events", "--json").json_lines[-1]["seq"]
    assert cli("events", "--after", last).out == ""


def test_events_are_followed_until_interrupted(cli):
    cli("put", "a.txt", "before.txt")
    following = cli.start("events", "--follow", "--json", "--kinds", "file.create")
    try:
        assert "before.txt" in following.stdout.readline().decode()
        cli("put", "a.txt", "after.txt")
        assert "after.txt" in following.stdout.readline().decode()
    finally:
        following.send_signal(signal.SIGINT)
        following.communicate(timeout=30)
    assert following.returncode in (-signal.SIGINT, 130)


def test_following_survives_a_restart_of_the_server(make_server, tmp_path):
    server = make_server()
    cli = Cli(tmp_path, server)
    (tmp_path / "a.txt").write_bytes(b"a")
    cli("put", "a.txt", "before.txt")
    following = cli.start("events", "--follow", "--json", "--kinds", "file.create")
    try:
        assert "before.txt" in following.stdout.readline().decode()
        server.kill()
        assert "waiting" in following.stderr.readline().decode()
        server.start()
        cli("put", "a.txt", "after.txt")
        assert "after.txt" in following.stdout.readline().decode()
    finally:
        following.kill()
        following.communicate()


def test_the_servers_own_journal_is_for_administrators(cli, server, api, unique, tmp_path):
    assert "principal.create" in cli("events", "--of-server").out
    _, somebody = api.make_principal(unique("somebody"))
    Cli(tmp_path, server, key=somebody.key)("events", "--of-server", code=4)


def test_a_closed_pipe_prints_no_error(cli, ws):
    ws.put("big.bin", b"x" * 5_000_000)
    reading = cli.start("cat", "big.bin")
    assert reading.stdout.read(1) == b"x"
    reading.stdout.close()
    err = reading.stderr.read()
    assert reading.wait(60) == 1
    reading.stderr.close()
    assert err == b""
