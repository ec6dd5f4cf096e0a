"""`sandkeep serve`: the first start, the lines to paste, TLS, and how it ends."""

import glob
import os
import pathlib
import re
import select
import signal
import stat
import subprocess
import threading
import time

import pytest
import requests
from sandkeep_cli import Cli
from sandkeep_server import binary
from sessions_client import wait_for


class Serve:
    """A server whose standard output is looked at, unlike that of sandkeep_server.Server."""

    def __init__(self, folder, *flags, **variables):
        self.folder = folder
        command = [str(binary()), "serve", "--data", str(folder / "data"), "--listen", "127.0.0.1:0", *flags]
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **variables,
                       **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}}
        self.log = open(folder / "log", "ab")  # closed by end()
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL)
        self.text = ""
        deadline = time.monotonic() + 60
        # The greeting is one write, whose last line is the last one to paste.
        while "log hello.txt\n" not in self.text:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(self.process.stdout.fileno(), 65536).decode() if ready else ""
            assert piece, f"it did not become ready: {self.text}\n{(folder / 'log').read_text()}"
            self.text += piece
        self.url = re.match(r"ready (\S+)\n", self.text).group(1)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(60)
        self.process.stdout.close()
        self.log.close()
        return code


@pytest.fixture
def serve(tmp_path):
    made = []

    def make(*flags, **variables):
        made.append(Serve(tmp_path, *flags, **variables))
        return made[-1]

    yield make
    for one in made:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()
        one.process.stdout.close()
        one.log.close()


def refuse(folder, *flags, **variables):
    """A start that must fail: exit code and what it said."""
    where = [] if "--data" in flags else ["--data", str(folder / "data")]
    done = subprocess.run([str(binary()), "serve", *where, *flags], capture_output=True, text=True, timeout=60,
                          env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables}, check=False)
    assert done.stdout == ""
    return done.returncode, done.stderr


def open_files():
    """What other processes have open, as far as we may see it."""
    for fd in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if int(fd.split("/")[2]) != os.getpid():
                yield os.readlink(fd)
        except OSError:
            continue


def lines_to_paste(server):
    return re.findall(r"^  (.*)$", server.text.split("Try it in another shell:")[1], re.M)


def test_the_first_start_makes_a_key_and_shows_it_once(serve, tmp_path):
    first = serve()
    key = re.search(r"skey_[\w-]+", first.text).group(0)
    file = tmp_path / "data/root.key"
    assert file.read_text().strip() == key
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert "admin" in Cli(tmp_path, first.url, key=key)("whoami").out
    assert key not in (tmp_path / "log").read_text(), "no secret in a log"
    assert first.end() == 0
    second = serve()
    assert key not in second.text
    assert "admin" in Cli(tmp_path, second.url, key=key)("whoami").out
    assert second.end(signal.SIGINT) == 0


def test_every_line_to_paste_works(serve, tmp_path):
    server = serve()
    lines = lines_to_paste(server)
    assert len(lines) >= 6
    work = tmp_path / "work"
    work.mkdir()
    script = "set -euo pipefail\n" + "\n".join(lines)
    done = subprocess.run(["bash", "-c", script], cwd=work, capture_output=True, text=True, timeout=60,
                          env={"PATH": os.environ["PATH"], "HOME": str(work)}, check=False)
    assert done.returncode == 0, done.stderr
    assert "hello\n" in done.stdout
    assert requests.get(server.url + "/", timeout=30).status_code == 200


def test_a_chosen_key_is_used_and_never_shown(serve, tmp_path):
    server = serve(SANDKEEP_ROOT_KEY="a-key-of-my-own-choice")
    assert "a-key-of-my-own-choice" not in server.text
    assert not (tmp_path / "data/root.key").exists()
    assert "admin" in Cli(tmp_path, server.url, key="a-key-of-my-own-choice")("whoami").out
    script = "\n".join(lines_to_paste(server)[:1]) + f"\n{binary()} whoami"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SANDKEEP_ROOT_KEY": "a-key-of-my-own-choice"})
    assert done.returncode == 0, done.stderr


def test_a_server_that_died_before_it_knew_its_key_learns_it(serve, tmp_path):
    first = serve()
    first.process.kill()
    first.process.wait()
    # As if it had died between writing the file and the catalog: the file has a key that the catalog does not know.
    (tmp_path / "data/root.key").write_text("skey_written-before-the-crash-came\n")
    second = serve()
    assert "admin" in Cli(tmp_path, second.url, key="skey_written-before-the-crash-came")("whoami").out


def test_a_removed_key_file_is_not_made_again(serve, tmp_path):
    serve().end()
    (tmp_path / "data/root.key").unlink()
    second = serve()
    assert "skey_" not in second.text
    assert not (tmp_path / "data/root.key").exists()


def test_a_second_server_on_the_same_folder_refuses(serve, tmp_path):
    serve()
    code, said = refuse(tmp_path, "--listen", "127.0.0.1:0")
    assert code == 5
    assert "another server" in said and "--data" in said


def test_a_port_that_is_taken_is_named(serve, tmp_path):
    port = serve().url.rsplit(":", 1)[1]
    other = tmp_path / "other"
    other.mkdir()
    code, said = refuse(other, "--listen", f"127.0.0.1:{port}")
    assert code != 0 and port in said


@pytest.mark.parametrize("flags, variables, expected", [
    (["--liste", "127.0.0.1:0"], {}, "--listen"),
    (["--listen", "nowhere"], {}, "listen"),
    ([], {"SANDKEEP_LISTE": "127.0.0.1:0"}, "SANDKEEP_LISTEN"),
    ([], {"SANDKEEP_ROOT_KEY": "short"}, "16"),
    (["--tls-cert", "/nowhere.pem", "--tls-key", "/nowhere.key"], {}, "/nowhere.pem"),
    (["--data", "/proc/nowhere"], {}, "/proc/nowhere"),
])
def test_settings_that_make_no_sense_are_refused(tmp_path, flags, variables, expected):
    code, said = refuse(tmp_path, *flags, **variables)
    assert code == 2, said
    assert expected in said


def test_requests_under_way_finish_when_the_server_is_told_to_end(serve, tmp_path):
    server = serve()
    key = (tmp_path / "data/root.key").read_text().strip()
    told_to_end = threading.Event()

    def requests_under_way():
        return int(re.search(r"^sandkeep_http_requests_under_way (\d+)", requests.get(server.url + "/metrics", timeout=30).text, re.MULTILINE)[1])

    def body():
        yield b"x" * 200_000
        wait_for(lambda: requests_under_way() >= 2)  # this one, and the one that asks
        server.process.send_signal(signal.SIGTERM)
        told_to_end.set()
        yield b"the end"

    answer = requests.put(server.url + "/api/v1/workspaces/default/files/slow.txt", data=body(), timeout=60,
                          headers={"Authorization": f"Bearer {key}"})
    assert told_to_end.is_set()
    assert answer.status_code == 201
    assert server.process.wait(60) == 0


def test_self_signed_tls_is_trusted_by_its_authority_only(serve, tmp_path):
    server = serve("--tls", "self-signed")
    assert server.url.startswith("https://")
    authority = tmp_path / "data/tls/ca.pem"
    assert str(authority) in server.text
    for name in ("ca.key", "server.key"):
        assert stat.S_IMODE((tmp_path / "data/tls" / name).stat().st_mode) == 0o600
    cli = Cli(tmp_path, server.url, key=(tmp_path / "data/root.key").read_text().strip())
    ran = cli("whoami", code=6)
    assert "--ca-file" in ran.err
    assert "admin" in cli("whoami", "--ca-file", authority).out
    cli("login", server.url, "--ca-file", "data/tls/ca.pem")
    assert "admin" in Cli(tmp_path, key=None)("whoami", cwd="/").out, "the authority is saved with the login, by its full path"
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(["bash", "-c", "set -euo pipefail\n" + "\n".join(lines_to_paste(server))], cwd=work, capture_output=True, text=True,
                          timeout=60, env={"PATH": os.environ["PATH"], "HOME": str(work)}, check=False)
    assert done.returncode == 0, done.stderr
    before = authority.read_bytes()
    assert server.end() == 0
    again = serve("--tls", "self-signed")
    assert authority.read_bytes() == before
    assert requests.get(again.url + "/healthz", verify=str(authority), timeout=30).status_code == 200


def test_a_certificate_of_the_operators_own_is_shown(serve, tmp_path):
    made = serve("--tls", "self-signed")
    made.end()
    tls = tmp_path / "data/tls"
    server = serve("--tls-cert", str(tls / "server.pem"), "--tls-key", str(tls / "server.key"))
    assert requests.get(server.url + "/healthz", verify=str(tls / "ca.pem"), timeout=30).status_code == 200
    assert "trust" not in server.text


def test_it_serves_on_when_nobody_reads_its_output(tmp_path):
    folder = pathlib.Path(tmp_path)
    with open(folder / "log", "wb") as log, open("/dev/full", "wb") as full:
        process = subprocess.Popen([str(binary()), "serve", "--data", str(folder / "data"), "--listen", "127.0.0.1:0"], stdout=full, stderr=log,
                                   env={"PATH": os.environ["PATH"], "HOME": str(folder)})
    try:
        deadline = time.monotonic() + 30
        while not (found := re.search(r"url=\"?(http://127\.0\.0\.1:\d+)", (folder / "log").read_text())) and time.monotonic() < deadline:
            assert process.poll() is None
        assert requests.get(found.group(1) + "/healthz", timeout=30).status_code == 200
    finally:
        process.terminate()
        assert process.wait(60) == 0


def test_a_port_in_use_is_said_before_anything_is_started(serve, tmp_path):
    first = serve("--sandbox", "off")
    address = first.url.removeprefix("http://")
    (tmp_path / "second").mkdir()
    code, said = refuse(tmp_path / "second", "--listen", address)
    assert code == 6 and "in use" in said and "--listen" in said
    assert "Traceback" not in said and "moment" not in said
    # Two starts with the same folder are told what is really the matter.
    assert "another server" in refuse(tmp_path, "--listen", address)[1]


def test_a_bad_certificate_is_said_before_anything_is_started(tmp_path):
    for name in ("cert.pem", "key.pem"):
        (tmp_path / name).write_text("no PEM")
    code, said = refuse(tmp_path, "--listen", "127.0.0.1:0", "--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"))
    assert code == 2 and "Traceback" not in said


def test_lines_to_paste_work_in_another_folder(tmp_path):
    (tmp_path / "rel").mkdir()
    command = [str(binary()), "serve", "--data", "rel/data", "--listen", "127.0.0.1:0", "--tls", "self-signed", "--sandbox", "off"]
    with subprocess.Popen(command, cwd=tmp_path, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as server:
        try:
            text = ""
            while "log hello.txt" not in text:
                line = server.stdout.readline()
                assert line, text
                text += line
        finally:
            server.terminate()
    paths = re.findall(r"\S*rel/data\S*", text)
    assert len(paths) >= 5
    for path in paths:
        assert str(tmp_path / "rel/data") in path, path


def test_a_switch_takes_its_value_with_or_without_an_equals_sign(serve, tmp_path):
    for flags in (["--log-requests", "off"], ["--log-requests=off"]):
        one = serve("--sandbox", "off", *flags)
        requests.get(one.url + "/healthz", timeout=30)
        assert one.end() == 0
        assert "/healthz" not in (tmp_path / "log").read_text()
    code, said = refuse(tmp_path, "--log-requests", "perhaps")
    assert code == 2 and "perhaps" in said and "on" in said and "off" in said
    one = serve("--sandbox", "off", "--log-requests")
    requests.get(one.url + "/healthz", timeout=30)
    assert one.end() == 0
    assert "/healthz" in (tmp_path / "log").read_text()


def test_a_server_that_ends_before_its_sandbox_is_ready_ends_without_a_traceback(serve, tmp_path):
    one = serve()
    assert one.end(signal.SIGINT) == 0
    # Whatever inherited the server's standard error has ended, too, once nobody has it open any more.
    deadline = time.monotonic() + 60
    while any(str(tmp_path / "log") == target for target in open_files()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert "Traceback" not in (tmp_path / "log").read_text()
