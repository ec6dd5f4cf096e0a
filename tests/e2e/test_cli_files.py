"""Files through the command line: in, out, and what happens to them there."""

import os
import pathlib
import stat

import pytest
import requests
from sandkeep_cli import Cli


@pytest.fixture
def cli(server, ws, tmp_path):
    return Cli(tmp_path, server, workspace=ws.id)


def write(path, content, mode=0o644, mtime=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    if mtime is not None:
        os.utime(path, (mtime, mtime))
    return path


def tree(folder):
    """Everything below, as bytes: names need not be UTF-8. Folders have no content."""
    found = {}
    root = os.fsencode(folder)
    for at, folders, files in os.walk(root):
        for name in folders:
            found[os.path.relpath(os.path.join(at, name), root)] = None
        for name in files:
            path = os.path.join(at, name)
            facts = os.stat(path)
            with open(path, "rb") as file:
                # Times are kept to the microsecond.
                found[os.path.relpath(path, root)] = (file.read(), stat.S_IMODE(facts.st_mode), facts.st_mtime_ns // 1000)
    return found


def test_a_file_comes_back_with_its_bytes_mode_and_time(cli, tmp_path):
    write(tmp_path / "run.sh", b"#!/bin/sh\necho hi\n", 0o750, 1_700_000_000.25)
    put = cli("put", "run.sh")
    assert put.out.startswith("run.sh  new  18 B  http://")
    cli("get", "run.sh", "back.sh")
    back = tmp_path / "back.sh"
    assert back.read_bytes() == b"#!/bin/sh\necho hi\n"
    assert stat.S_IMODE(back.stat().st_mode) == 0o750
    assert back.stat().st_mtime == 1_700_000_000.25


def test_every_overwrite_is_a_version_and_the_same_bytes_make_none(cli, tmp_path):
    write(tmp_path / "a.txt", b"one")
    assert "  new  " in cli("put", "a.txt").out
    write(tmp_path / "a.txt", b"two!")
    assert "  version 2  " in cli("put", "a.txt").out
    assert "  unchanged  " in cli("put", "a.txt").out
    log = cli("log", "a.txt", "--json").json_lines
    assert [version["number"] for version in log] == [2, 1]
    assert cli("cat", "a.txt").out == "two!"
    assert cli("cat", "a.txt", "--version", "1").out == "one"
    assert cli("cat", "a.txt", "--version", log[1]["id"]).out == "one"
    assert cli("cat", "a.txt", "--version", "3", code=3)
    cli("get", "a.txt", "--version", "1", "old.txt")
    assert (tmp_path / "old.txt").read_bytes() == b"one"
    shown = cli("log", "a.txt").lines
    assert len(shown) == 2 and "current" in shown[0] and "current" not in shown[1]
    assert len(cli("log", "-n", "1", "a.txt").lines) == 1


def test_a_folder_comes_back_whole(cli, tmp_path):
    source = tmp_path / "results"
    write(source / "a.csv", b"1,2\n", 0o600, 1_600_000_000)
    write(source / "deep" / "er" / "größe 数据.txt", b"text")
    write(source / "with space & ?#%.txt", b"odd")
    write(source / "empty.bin", b"")
    (source / "nothing here").mkdir()
    with open(os.path.join(os.fsencode(source), b"not-utf8-\xff\xfe.dat"), "wb") as file:
        file.write(b"bytes")
    assert "put 5 files" in cli("put", "results").out
    assert "got 5 files" in cli("get", "results", "copy").out
    assert tree(tmp_path / "copy") == tree(source)
    again = cli("put", "results")
    assert "0 new, 0 new versions, 5 unchanged" in again.out


def test_targets_work_as_with_cp(cli, tmp_path):
    write(tmp_path / "a.txt", b"a")
    write(tmp_path / "b.txt", b"b")
    write(tmp_path / "dir" / "c.txt", b"c")
    cli("put", "a.txt", "renamed.txt")
    cli("put", "a.txt", "box/")
    cli("put", "a.txt", "b.txt", "box")
    cli("put", "dir", "box")
    cli("put", "dir", "fresh")
    cli("put", "dir/.", "flat/")
    cli("put", ".", "all", cwd=tmp_path / "dir")
    listed = set(cli("ls", "-r", "-1").lines)
    assert {"renamed.txt", "box/a.txt", "box/b.txt", "box/dir/c.txt", "fresh/c.txt", "flat/c.txt", "all/c.txt"} <= listed
    (tmp_path / "here").mkdir()
    cli("get", "renamed.txt", "here")
    cli("get", "box", "here")
    cli("get", "fresh", "there")
    assert (tmp_path / "here/renamed.txt").exists()
    assert (tmp_path / "here/box/dir/c.txt").exists()
    assert (tmp_path / "there/c.txt").exists()


def test_a_whole_workspace_comes_back(cli, ws, tmp_path):
    ws.put("a/b.txt", b"1")
    ws.put("c.txt", b"2")
    cli("get", f"{ws.id}:", "copy")
    assert set(tree(tmp_path / "copy")) == {b"a", b"a/b.txt", b"c.txt"}


def test_many_files_go_in_parallel(cli, tmp_path):
    source = tmp_path / "many"
    for number in range(200):
        write(source / f"d{number % 7}" / f"{number}.txt", b"x" * number)
    assert "put 200 files" in cli("put", "-j", "16", "many").out
    assert "got 200 files" in cli("get", "-j", "16", "many", "copy").out
    assert tree(tmp_path / "copy") == tree(source)
    assert len(cli("ls", "-r", "-1", "many").lines) == 207


def test_pipes_go_in_and_out(cli):
    content = os.urandom(3_000_000)
    cli("put", "-", "piped.bin", stdin=content)
    assert cli("get", "piped.bin", "-").raw == content
    assert cli("cat", "piped.bin").raw == content
    cli("put", "-", "empty", stdin=b"")
    assert cli("cat", "empty").raw == b""
    cli("put", "-", code=2)
    cli("put", "-", "folder/", code=2)


def test_links_to_folders_and_devices_are_named_and_the_rest_is_kept(cli, tmp_path):
    source = tmp_path / "mixed"
    write(source / "real.txt", b"real")
    (source / "to-file").symlink_to("real.txt")
    (source / "to-folder").symlink_to("/tmp")
    (source / "to-nowhere").symlink_to("gone")
    os.mkfifo(source / "pipe")
    ran = cli("put", "mixed", code=1)
    assert "put 2 files" in ran.out
    for name in ("to-folder", "to-nowhere", "pipe"):
        assert name in ran.err
    assert cli("cat", "mixed/to-file").out == "real"


def test_what_cannot_be_read_is_an_error_and_the_rest_is_put(cli, tmp_path):
    cli("put", "missing.txt", code=3)
    write(tmp_path / "some" / "ok.txt", b"ok")
    long = tmp_path / "some" / ("x" * 200)
    write(long / ("y" * 200) / "deep.txt", b"deep")
    assert "put 2 files" in cli("put", "some").out
    os.mkfifo(tmp_path / "alone")
    assert cli("put", "alone", code=2).err


def test_preconditions_stop_a_write(cli, tmp_path):
    write(tmp_path / "a.txt", b"one")
    cli("put", "--if-new", "a.txt")
    ran = cli("put", "--if-new", "a.txt", "--json", code=5)
    assert ran.error["code"] == "precondition_failed"
    first = cli("log", "a.txt", "--json").json_lines[0]["id"]
    write(tmp_path / "a.txt", b"two")
    cli("put", "--if-match", first, "a.txt")
    write(tmp_path / "a.txt", b"three")
    assert "sandkeep:" in cli("put", "--if-match", first, "a.txt", code=5).err
    assert cli("cat", "a.txt").out == "two"
    cli("rm", "--if-match", first, "a.txt", code=5)
    for condition in ("*", first):
        assert "leave out --if-match" in cli("put", "--if-match", condition, "a.txt", "other.txt", code=5).err


def test_a_write_from_an_old_base_is_kept_and_marked(cli, tmp_path):
    write(tmp_path / "a.txt", b"one")
    cli("put", "a.txt")
    first = cli("log", "a.txt", "--json").json_lines[0]["id"]
    write(tmp_path / "a.txt", b"theirs")
    cli("put", "a.txt")
    write(tmp_path / "a.txt", b"mine")
    ran = cli("put", "--base", first, "a.txt")
    assert "diverged" in ran.err
    assert "diverged" in cli("ls", "a.txt").out
    assert cli("cat", "a.txt").out == "mine"
    assert cli("cat", "a.txt", "--version", "2").out == "theirs"


def test_options_for_one_file_are_refused_for_folders(cli, tmp_path):
    write(tmp_path / "dir" / "a.txt", b"a")
    cli("put", "--if-match", "*", "dir", code=2)
    cli("put", "--base", "v_" + "0" * 32, "dir", code=2)


def test_listing_shows_what_is_there(cli, ws):
    for path in ("a.csv", "b.txt", "data/c.csv", "data/deep/d.csv", "odd[1].csv"):
        ws.put(path, b"12345")
    assert cli("ls", "-1").lines == ["a.csv", "b.txt", "data/", "odd[1].csv"]
    assert cli("ls", "-1", "data").lines == ["c.csv", "deep/"]
    assert cli("ls", "-1", "*.csv").lines == ["a.csv", "odd[1].csv"]
    assert sorted(cli("ls", "-1", "-r", "*.csv").lines) == ["a.csv", "data/c.csv", "data/deep/d.csv", "odd[1].csv"]
    assert cli("ls", "-1", "data/*.csv").lines == ["data/c.csv"]
    assert cli("ls", "-1", "**/d.csv").lines == ["data/deep/d.csv"]
    assert cli("ls", "-1", "odd[1].csv").lines == ["odd[1].csv"], "a name may look like a pattern"
    row = cli("ls", "a.csv").out.split()
    assert row[0] == "-rw-r--r--" and row[1] == "v1" and row[2:4] == ["5", "B"] and row[-1] == "a.csv"
    assert [entry["path"] for entry in cli("ls", "--json").json_lines] == ["a.csv", "b.txt", "data", "odd[1].csv"]
    assert cli("ls", "none", code=3).out == ""
    cli("ls", "*.none", code=3)
    cli("ls", "../x", code=2)


def test_listing_goes_over_pages(cli, ws):
    ws.client.post(f"{ws.root}/batch", 200, json={"changes": [{"op": "put", "path": f"f{n:04}", "content": ""} for n in range(2345)]})
    assert cli("ls", "-1").lines == [f"f{n:04}" for n in range(2345)]


def test_control_characters_in_names_are_escaped(cli, ws):
    ws.put("\x1b[2Jevil\n.txt", b"x")
    shown = cli("ls").out
    assert "\x1b" not in shown and "\\x1b[2Jevil\\x0a.txt" in shown


def test_wildcards_get_what_they_match(cli, ws, tmp_path):
    for path in ("logs/a.txt", "logs/b.txt", "logs/c.bin"):
        ws.put(path, path.encode())
    cli("get", "logs/*.txt", "out/")
    assert set(tree(tmp_path / "out")) == {b"a.txt", b"b.txt"}
    cli("get", "logs/*.none", "out/", code=3)


def test_moving_copying_and_removing(cli, ws):
    ws.put("a.txt", b"one")
    ws.put("a.txt", b"two")
    ws.put("b.txt", b"b")
    cli("mkdir", "box/inner")
    cli("mv", "a.txt", "box")
    assert len(cli("log", "box/a.txt").lines) == 2, "versions move along"
    cli("mv", "b.txt", "box/a.txt", code=5)
    cli("mv", "--rename", "b.txt", "box/a.txt")
    assert set(cli("ls", "-1", "box").lines) == {"a.txt", "a (2).txt", "inner/"} or len(cli("ls", "-1", "box").lines) == 3
    cli("cp", "box/a.txt", "old.txt", "--version", "1")
    assert cli("cat", "old.txt").out == "one"
    cli("cp", "old.txt", "box/a.txt", code=5)
    cli("cp", "--replace", "old.txt", "box/a.txt")
    assert cli("cat", "box/a.txt").out == "one"
    cli("rm", "box", code=2)
    cli("rm", "-r", "box")
    cli("ls", "box", code=3)
    cli("rm", "box", code=3)
    cli("rm", "-r", f"{ws.id}:", code=2)


def test_copies_go_from_one_workspace_to_another(cli, ws, api, unique):
    other = api.workspace(unique("other"))
    other.put("plan.md", b"plan")
    assert cli("cp", f"{other.name}:plan.md", "copied.md").out == f"{other.name}:plan.md -> {ws.id}:copied.md\n"
    assert cli("cat", "copied.md").out == "plan"
    cli("mv", f"{other.name}:plan.md", "moved.md", code=2)


def test_the_trash_gives_back_and_purges(cli, ws):
    ws.put("a.txt", b"one")
    link = cli("link", "a.txt").out.strip()
    cli("rm", "a.txt")
    ws.put("a.txt", b"other")
    cli("rm", "a.txt")
    rows = cli("trash", "ls", "--json").json_lines
    assert [row["path"] for row in rows] == ["a.txt", "a.txt"]
    assert "a.txt" in cli("trash", "ls").out
    cli("trash", "restore", "a.txt", code=5)
    by_content = {requests.get(row["link"], headers={"Authorization": f"Bearer {cli.environment['SANDKEEP_KEY']}"}, timeout=30).text: row["id"]
                  for row in rows}
    assert len(cli("log", by_content["one"]).lines) == 1, "a trashed file is named by its id"
    cli("trash", "restore", by_content["one"])
    assert cli("cat", "a.txt").out == "one"
    cli("trash", "restore", by_content["other"], code=5)
    cli("trash", "restore", by_content["other"], "--to", "elsewhere.txt")
    assert cli("cat", "elsewhere.txt").out == "other"
    cli("rm", "a.txt")
    assert "permanently delete 1 entry of the trash with all versions\n" in cli("trash", "purge", "a.txt", code=2).err
    cli("trash", "purge", "a.txt", "nothing.txt", "--yes", code=3)
    purged = cli("trash", "purge", "a.txt", "--yes").out
    assert link in purged and "purged 1 file with 1 version, " in purged
    assert requests.get(link, headers={"Authorization": f"Bearer {cli.environment['SANDKEEP_KEY']}"}, timeout=30).status_code == 410
    cli("rm", "elsewhere.txt")
    cli("trash", "empty", code=2)
    cli("trash", "empty", "--yes")
    assert cli("trash", "ls").out == ""
    cli("trash", "restore", "a.txt", code=3)


def test_one_old_version_is_purged(cli, ws):
    for content in (b"one", b"two", b"three"):
        ws.put("a.txt", content)
    link = cli("log", "a.txt", "--json").json_lines[1]["link"]
    assert "--version" in cli("purge", "a.txt", code=2).err
    cli("purge", "a.txt", "--version", "7", "--yes", code=3)
    assert "version 2 of a.txt" in cli("purge", "a.txt", "--version", "2", code=2).err
    cli("purge", "a.txt", "--version", "3", "--yes", code=5)
    purged = cli("purge", "a.txt", "--version", "2", "--yes").out
    assert link in purged and "with 1 version" in purged
    assert [line["number"] for line in cli("log", "a.txt", "--json").json_lines] == [3, 1]
    assert requests.get(link, headers={"Authorization": f"Bearer {cli.environment['SANDKEEP_KEY']}"}, timeout=30).status_code == 410


def test_old_versions_and_old_times_come_back(cli, ws):
    ws.put("data/a.txt", b"one")
    ws.put("data/a.txt", b"two")
    moment = cli("log", "data/a.txt", "--json").json_lines[0]["created_at"]
    ws.put("data/a.txt", b"three")
    ws.put("data/late.txt", b"late")
    assert "would restore 1, trash 1" in cli("restore", "--as-of", moment, "--dry-run", "data").out
    assert cli("cat", "data/a.txt").out == "three"
    cli("restore", "--as-of", moment, "data")
    assert cli("cat", "data/a.txt").out == "two"
    cli("ls", "data/late.txt", code=3)
    cli("restore", "data/a.txt", "--version", "1")
    assert cli("cat", "data/a.txt").out == "one"
    third = [v for v in cli("log", "data/a.txt", "--json").json_lines if v["number"] == 3][0]["id"]
    cli("restore", third)
    assert cli("cat", "data/a.txt").out == "three"
    cli("restore", "data/a.txt", code=2)
    cli("restore", code=2)
    cli("restore", "--as-of", "yesterday", "data", code=2)


def test_links_pin_the_bytes_and_signed_ones_need_no_key(cli, ws):
    ws.put("plot.txt", b"one")
    private = cli("link", "plot.txt").out.strip()
    signed = cli("link", "--signed", "plot.txt").out.strip()
    ws.put("plot.txt", b"two")
    assert requests.get(signed, timeout=30).text == "one"
    assert requests.get(private, timeout=30).status_code in (401, 404)
    assert cli("link", "plot.txt", "--version", "1").out.strip() == private
    cli("workspace", "revoke-links", ws.id)
    assert requests.get(signed, timeout=30).status_code in (401, 403, 404)
    cli("mkdir", "folder")
    cli("link", "folder", code=2)


def test_json_lines_of_put_and_get_tell_what_was_kept(cli, tmp_path):
    write(tmp_path / "d" / "a.txt", b"a")
    write(tmp_path / "d" / "b.txt", b"bb")
    kept = {item["entry"]["path"]: item["version"]["id"] for item in cli("put", "d", "--json").json_lines}
    got = cli("get", "d", "e", "--json").json_lines
    assert {item["path"]: item["version_id"] for item in got} == kept
    assert sorted(pathlib.Path(item["local"]).name for item in got) == ["a.txt", "b.txt"]


def test_patterns_reach_into_folders_below_a_fixed_part(cli, tmp_path):
    for path in ("dir/top", "dir/sub/x", "dir/sub/deep/x", "other/x"):
        cli("put", "-", path, stdin=path.encode())
    assert cli("ls", "-1", "dir/**/x").lines == ["dir/sub/x", "dir/sub/deep/x"]
    assert cli("ls", "-1", "dir/*/x").lines == ["dir/sub/x"]
    assert cli("ls", "-1", "dir/sub/*").lines == ["dir/sub/deep/", "dir/sub/x"]
    assert cli("ls", "-1", "dir/**").lines == ["dir/sub/", "dir/top", "dir/sub/deep/", "dir/sub/x", "dir/sub/deep/x"]
    assert cli("ls", "-1", "*/x").lines == ["other/x"]
    cli("ls", "dir/**/nothing", code=3)
    cli("get", "dir/*/x", "got/")
    assert (tmp_path / "got/x").read_text() == "dir/sub/x"
    cli("get", "dir/**/deep/x", "deep/")
    assert (tmp_path / "deep/x").read_text() == "dir/sub/deep/x"
    assert cli("get", "dir/**/x", "-").out == "dir/sub/xdir/sub/deep/x"


def test_two_files_of_one_name_do_not_replace_each_other(cli, tmp_path):
    for path in ("a/x", "b/x"):
        cli("put", "-", path, stdin=path.encode())
    for sources in (["*/x"], ["a/x", "b/x"]):
        ran = cli("get", *sources, "got/", "--json", code=5)
        assert ran.error["code"] == "conflict" and not (tmp_path / "got").exists()


def test_folders_keep_their_mode_in_both_directions(cli, tmp_path):
    write(tmp_path / "dir/sub/x", b"x")
    (tmp_path / "dir/empty").mkdir()
    modes = {"dir": 0o755, "dir/empty": 0o700, "dir/sub": 0o550}
    for path, mode in modes.items():
        (tmp_path / path).chmod(mode)
    cli("put", "dir")
    kept = {item["path"]: int(item["mode"], 8) for item in cli("ls", "-r", "--json").json_lines if item["kind"] == "folder"}
    assert kept == modes
    cli("get", "dir", "back/")
    assert {path: stat.S_IMODE((tmp_path / "back" / path).stat().st_mode) for path in modes} == modes
    # A second time what has changed here is changed there; a folder that is here already stays as it is.
    (tmp_path / "dir/empty").chmod(0o711)
    cli("put", "dir")
    assert cli("ls", "--json", "dir").json_lines[0]["mode"] == "0711"
    cli("get", "dir", "back/")
    assert stat.S_IMODE((tmp_path / "back/dir/empty").stat().st_mode) == 0o700
    # The content of "." goes into a folder that is not it.
    cli("put", ".", "elsewhere", cwd=tmp_path / "dir/empty")
    assert {item["path"]: item["mode"] for item in cli("ls", "--json").json_lines}["elsewhere"] == "0755"
    cli("put", ".", cwd=tmp_path / "back/dir")
    assert {item["path"]: item["mode"] for item in cli("ls", "--json").json_lines}["empty"] == "0700"
    (tmp_path / "dir/sub").chmod(0o755)
    (tmp_path / "back/dir/sub").chmod(0o755)


def test_two_dashes_end_the_options(cli, tmp_path):
    write(tmp_path / "-dash", b"dash")
    cli("put", "--", "-dash")
    assert cli("cat", "--", "-dash").out == "dash"
    assert cli("ls", "-1", "--", "-dash").lines == ["-dash"]
    cli("mv", "--", "-dash", "--json")
    assert cli("cat", "--", "--json").out == "dash"
    cli("rm", "--", "--json")
    cli("whoami", "--", "x", code=2)


def test_hints_speak_of_this_programs_options(cli, tmp_path):
    write(tmp_path / "a", b"a")
    cli("put", "a")
    cli("put", "a", "dir/b")
    for act in ("cp", "mv"):
        assert "--replace or --rename" in cli(act, "a", "dir/b", code=5).err
    cli("lock", "acquire", "a")
    assert "--lock TOKEN" in cli("rm", "a", code=5).err
    folder = cli("cat", "dir", code=2).err
    assert "sandkeep ls" in folder and "/api/" not in folder
    assert "/api/" not in cli("ls", "nowhere:", code=3).err


def test_a_name_that_is_too_long_for_this_machine_is_no_bug(cli):
    cli("put", "-", "folder/x", stdin=b"x")
    for source in ("folder", "folder/x"):
        ran = cli("get", source, "n" * 300, code=1)
        assert "too long" in ran.err and "shorter" in ran.err and "bug" not in ran.err
