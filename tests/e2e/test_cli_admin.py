"""Signing in, workspaces, keys, the audit file and upkeep through the command line."""

import os
import pty
import stat
import subprocess

import pytest
from sandkeep_cli import Cli
from sandkeep_server import ROOT_KEY


@pytest.fixture
def cli(server, ws, tmp_path):
    return Cli(tmp_path, server, workspace=ws.id)


def test_a_login_is_tried_saved_privately_and_forgotten(server, tmp_path):
    cli = Cli(tmp_path, key=None)
    cli("login", server.url, stdin=b"not-the-right-key\n", code=4)
    config = tmp_path / ".config/sandkeep/config.toml"
    assert not config.exists()
    assert "signed in" in cli("login", server.url, stdin=f"{ROOT_KEY}\n".encode()).out
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert "admin" in cli("whoami").out
    cli("put", "-", "login-test.txt", stdin=b"x")
    assert cli("cat", "login-test.txt").out == "x"
    cli("logout")
    assert not config.exists()
    cli("logout")


def test_a_saved_key_is_sent_to_no_other_server(server, make_server, tmp_path):
    other = make_server()
    cli = Cli(tmp_path, key=None)
    cli("login", server.url, stdin=ROOT_KEY.encode())
    # The other server would take the same key, were it sent.
    assert "sandkeep login" in cli("whoami", "--server", other.url, code=4).err


def test_without_a_key_the_error_says_what_to_do(server, tmp_path):
    ran = Cli(tmp_path, server, key=None)("ls", "--json", code=4)
    assert ran.error["code"] == "unauthorized"
    assert "sandkeep login" in ran.error["hint"]


def test_without_a_server_the_error_says_what_to_do(tmp_path):
    ran = Cli(tmp_path, "http://127.0.0.1:1")("ls", code=6)
    assert "127.0.0.1:1" in ran.err


def test_what_is_no_sandkeep_is_recognised(tmp_path, server):
    # A path below the server answers, but not as one.
    assert Cli(tmp_path, f"{server.url}/nowhere")("whoami", code=3).err


def test_a_workspace_is_created_renamed_trashed_and_restored(cli, unique):
    name, renamed = unique("team"), unique("crew")
    made = cli("workspace", "create", name, "--quota", "5GiB", "--json").json
    assert made["quota_bytes"] == 5 << 30
    assert name in cli("workspace", "ls").out
    cli("put", "-", f"{name}:a.txt", stdin=b"a")
    cli("workspace", "rename", name, renamed)
    assert cli("cat", f"{renamed}:a.txt").out == "a"
    assert "5.0 GiB" in cli("workspace", "quota", renamed).out
    assert cli("workspace", "quota", renamed, "1MiB", "--json").json["quota_bytes"] == 1 << 20
    assert cli("put", "-", f"{renamed}:big", "--json", stdin=b"x" * (2 << 20), code=7).error["code"] == "quota_exceeded"
    cli("workspace", "rm", renamed)
    cli("ls", f"{renamed}:", code=3)
    assert renamed in cli("workspace", "ls", "--trashed").out
    cli("workspace", "restore", renamed)
    assert cli("cat", f"{renamed}:a.txt").out == "a"
    cli("workspace", "create", renamed, code=5)
    cli("workspace", "quota", renamed, "plenty", code=2)


def test_members_are_added_and_removed(cli, server, ws, unique, tmp_path):
    name = unique("ada")
    person = cli("principal", "create", name).out.strip()
    assert person in cli("principal", "ls").out
    secret = cli("key", "create", "laptop", "--principal", person).out.strip()
    theirs = Cli(tmp_path, server, key=secret, workspace=ws.id)
    theirs("ls", code=3)
    cli("workspace", "member", ws.id, person, "read")
    theirs("ls")
    theirs("put", "-", "a.txt", stdin=b"a", code=4)
    cli("workspace", "member", ws.id, name, "write")
    theirs("put", "-", "a.txt", stdin=b"a")
    assert cli("workspace", "member", ws.id, name, "none", "--json").json["principal_id"] == person
    theirs("ls", code=3)
    refused = theirs("workspace", "member", "default", name, "read", "--json", code=4).error
    assert "sandkeep whoami" in refused["hint"], refused
    assert "own or none" in cli("workspace", "member", ws.id, person, "emperor", code=2).err
    for who in ("nobody", "p_018f6b2c9d3e7a41b5c60d7e8f901234"):
        refused = cli("workspace", "member", ws.id, who, "read", "--json", code=3).error
        assert "sandkeep principal ls" in refused["hint"], refused


def test_keys_are_scoped_listed_and_revoked(cli, server, ws, unique, tmp_path):
    name = unique("ci")
    made = cli("key", "create", name, "--only", ws.id, "--read-only", "--expires", "30d", "--json").json
    assert made["key"]["expires_at"]
    row = [line for line in cli("key", "ls").lines if name in line][0]
    assert "read-only" in row and "expires" in row and made["secret"] not in row
    # Nobody names the workspace: it is the only one that the key opens.
    scoped = Cli(tmp_path, server, key=made["secret"])
    ws.put("here.txt", b"here")
    assert scoped("cat", "here.txt").out == "here"
    assert scoped("ls", "-1").lines == ["here.txt"]
    scoped("rm", "here.txt", code=4)
    scoped("verify", code=4)
    writer = Cli(tmp_path, server, key=cli("key", "create", unique("writer"), "--only", ws.id).out.strip())
    assert f"--only {ws.id}" in writer("key", "create", "more", code=4).err
    told = writer("key", "create", "more", "--only", ws.id).err
    assert "secret is shown only once" in told and "above" not in told
    cli("key", "revoke", made["key"]["id"])
    scoped("ls", code=4)


def test_a_login_with_a_scoped_key_remembers_its_workspace(cli, server, ws, tmp_path):
    ws.put("here.txt", b"here")
    secret = cli("key", "create", "scoped", "--only", ws.id).out.strip()
    home = tmp_path / "home"
    home.mkdir()
    scoped = Cli(home, key=None)
    scoped("login", server.url, stdin=secret.encode())
    assert scoped("cat", "here.txt").out == "here"


def test_an_audit_file_is_verified_and_any_change_is_found(cli, ws, tmp_path):
    for number in range(5):
        ws.put("a.txt", str(number).encode())
    cli("audit", "export", "-o", "audit.jsonl")
    verdict = cli("audit", "verify", "audit.jsonl", "--json").json
    assert verdict["valid"] and verdict["entries"] >= 5
    assert "valid" in cli("audit", "verify", "audit.jsonl").out
    assert cli("audit", "export").raw.count(b"\n") >= 6
    text = (tmp_path / "audit.jsonl").read_bytes()
    changed = bytearray(text)
    at = text.rindex(b"file.write")
    changed[at] ^= 1
    (tmp_path / "changed.jsonl").write_bytes(changed)
    ran = cli("audit", "verify", "changed.jsonl", "--json", code=8)
    assert not ran.json["valid"] and ran.json["problem"]
    assert "NOT VALID" in cli("audit", "verify", "changed.jsonl", code=8).out
    cli("audit", "verify", "missing.jsonl", code=3)
    (tmp_path / "other.pem").write_text("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n")
    cli("audit", "verify", "audit.jsonl", "--public-key", "other.pem", code=8)
    cli("audit", "export", "--of-server", "-o", "server.jsonl")
    cli("audit", "verify", "server.jsonl")


def test_verify_and_gc_say_what_they_did(cli, ws):
    ws.put("a.txt", b"a")
    assert "clean" in cli("verify").out
    assert cli("verify", "--json").json["problems"] == []
    assert "deleted" in cli("gc").out


def test_settings_are_listed(cli):
    rows = {row["name"]: row for row in cli("settings", "--json").json_lines}
    assert rows["listen"]["flag"] == "--listen" and rows["listen"]["variable"] == "SANDKEEP_LISTEN"
    assert rows["root_key"]["flag"] is None
    assert cli("settings", "--markdown").out.startswith("# ")
    assert "--listen" in cli("settings").out


def test_errors_in_json_are_the_servers_own(cli):
    error = cli("cat", "none.txt", "--json", code=3).error
    assert error["code"] == "not_found" and error["message"] and error["hint"] and error["request_id"]


def test_an_administrator_raises_a_quota(cli, server, api, unique, tmp_path):
    name = unique("ada")
    _, hers = api.make_principal(name)
    ada = Cli(tmp_path, server, key=hers.key)
    (mine,) = [item for item in cli("workspace", "ls", "--all", "--json").json_lines if item["owner"]["name"] == name]
    cli("workspace", "quota", mine["id"], "10")
    assert "operator" in ada("put", "-", "big", stdin=b"x" * 11, code=7).err
    cli("workspace", "quota", mine["id"], "1MiB")
    ada("put", "-", "big", stdin=b"x" * 11)
    assert "11 B of 1.0 MiB" in cli("workspace", "quota", mine["id"]).out
    cli("ls", f"{mine['id']}:", code=3)
    ada("workspace", "ls", "--all", code=4)


def test_a_folder_is_no_audit_file(cli, tmp_path):
    assert "folder" in cli("audit", "verify", str(tmp_path), code=2).err


def test_limits_of_a_principal_and_its_usage(cli, api, unique):
    name = unique("limited")
    principal, somebody = api.make_principal(name)
    limited = cli("principal", "limit", principal, "--quota", "10GiB", "--sessions", "4", "--json").json
    assert limited["limits"] == {"quota_bytes": 10 << 30, "workspaces_max": None, "keys_max": None, "sessions_max": 4, "sessions_kept_max": None}
    assert "quota: as the server's setting" in cli("principal", "limit", name, "--quota", "default").out
    cli("principal", "limit", principal, code=2)
    cli("principal", "limit", principal, "--keys", "plenty", code=2)
    somebody.send("PUT", "/api/v1/workspaces/default/files/a", 201, data=b"a" * 5000)
    assert cli("usage", "--principal", name, "--json").json == cli("usage", "--principal", principal, "--json").json
    cli("principal", "suspend", name)
    somebody.send("GET", "/api/v1/me", 401)
    cli("principal", "resume", name)
    assert cli("key", "create", "second", "--principal", name).out
    cli("principal", "suspend", unique("nobody"), code=3)
    seen = cli("usage", "--principal", principal, "--json").json
    assert seen["contents"]["bytes"] == 5000 and seen["sessions_running"]["max"] == 4 and seen["keys"]["count"] == 2
    assert "workspaces" in cli("usage").out and "of 50.0 GiB used" in cli("usage", "default").out
    assert cli("usage", "default", "--json").json["journal"]["count"] > 0


def type_on_a_terminal(cli, words, typed):
    """Runs a command whose standard input is a terminal, on which this is typed; its exit code and what it said."""
    main, other = pty.openpty()
    try:
        process = subprocess.Popen(cli.command(*words), stdin=other, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=cli.environment, cwd=cli.folder)
        os.write(main, typed)
        out, err = process.communicate(timeout=60)
        return process.returncode, (out + err).decode()
    finally:
        os.close(main)
        os.close(other)


def test_a_workspace_is_purged_after_its_name_is_typed_again(cli, unique):
    name = unique("doomed")
    cli("workspace", "create", name)
    cli("put", "-", f"{name}:a.txt", stdin=b"a")
    link = cli("link", f"{name}:a.txt").out.strip()
    assert "workspace rm" in cli("workspace", "purge", name, "--yes", code=3).err
    cli("workspace", "rm", name)
    assert "--yes" in cli("workspace", "purge", name, code=2).err
    code, said = type_on_a_terminal(cli, ["workspace", "purge", name], b"something else\n")
    assert code == 2 and "nothing was purged" in said, said
    assert name in cli("workspace", "ls", "--trashed").out
    code, said = type_on_a_terminal(cli, ["workspace", "purge", name], name.encode() + b"\n")
    assert code == 0 and "purged 1 file with 1 version" in said and link in said, said
    assert name not in cli("workspace", "ls", "--trashed").out
    cli("workspace", "restore", name, code=3)
    cli("workspace", "create", name)
    cli("workspace", "rm", name)
    assert cli("workspace", "purge", name, "--yes", "--json").json["files"] == 0


def test_usage_tells_what_is_kept_and_what_the_limits_are(cli, unique):
    name = unique("usage")
    cli("workspace", "create", name)
    cli("put", "-", f"{name}:a.txt", stdin=b"x" * 5000)
    shown = cli("usage", name).out
    for word in ("contents", "of versions", "in the trash", "unfinished uploads", "messages", "executions", "journal", "rows of files"):
        assert word in shown, shown
    cli("workspace", "rm", name)
    shown = cli("usage").out
    for word in ("in trashed workspaces", "purged workspaces", "workspaces", "keys", "running sessions", "sessions, running or asleep"):
        assert word in shown, shown
    seen = cli("usage", "--json").json
    assert seen["trashed_workspaces"]["bytes"] > 5000 and seen["sessions_running"]["max"] > 0 and seen["versions"]["count"] > 0
    cli("workspace", "purge", name, "--yes")
