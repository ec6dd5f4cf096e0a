"""The README opens with the real output of `sandkeep demo`."""

import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tests" / "e2e"))

from sandkeep_server import binary  # noqa: E402


def shape(text):
    """The text without what differs from run to run: times, ports, ids, sizes, hashes."""
    text = re.sub(r"^ *[0-9.]+ s ", "TIME ", text, flags=re.M)
    text = re.sub(r"demo-\w+", "demo-ID", text)
    text = re.sub(r"v_[0-9a-f]{32}", "VERSION", text)
    return re.sub(r"[0-9a-f]{16}…|[0-9,]{4,}|(?<=127\\.0\\.0\\.1:)[0-9]+", "N", text)


def environment(folder):
    return {"PATH": "/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}


def test_the_readme_shows_what_the_demo_prints(tmp_path):
    shown = re.search(r"```\n\$ sandkeep demo\n(.*?)```", (PROJECT / "README.md").read_text(), re.S).group(1)
    done = subprocess.run([binary(), "demo"], env=environment(tmp_path),
                          capture_output=True, text=True, timeout=120, check=True)
    assert shape(done.stdout.replace(str(tmp_path), "/tmp")) == shape(shown)
    sizes = re.findall(r"([0-9,]+) bytes", done.stdout)
    assert len(sizes) == 2 and sizes[0] == sizes[1]
    assert list(tmp_path.glob("sandkeep-demo-*")) == []


# Each waits until the demo is there.
MOMENTS = {"starting": lambda demo, folder: wait_until(lambda: list(folder.glob("sandkeep-demo-*"))),
           "drawing": lambda demo, folder: demo.stdout.readline(),
           "expiring": lambda demo, folder: [demo.stdout.readline() for _ in range(4)]}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_demo_leaves_nothing_behind(tmp_path, number, moment):
    with subprocess.Popen([binary(), "demo"], env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as demo:
        MOMENTS[moment](demo, tmp_path)
        demo.send_signal(number)
        _, notes = demo.communicate(timeout=60)
    assert list(tmp_path.glob("sandkeep-demo-*")) == []
    assert (demo.returncode, notes) == (128 + number, "sandkeep: interrupted; everything is removed\n")


def wait_until(happened):
    deadline = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < deadline
