"""The README opens with the real output of `sandkeep demo`."""

import pathlib
import re
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tests" / "e2e"))

from sandkeep_server import binary  # noqa: E402


def shape(text):
    """The text without what differs from run to run: times, ports, ids, sizes, hashes."""
    text = re.sub(r"^ *[0-9.]+ s ", "TIME ", text, flags=re.M)
    text = re.sub(r"demo-\w+", "demo-ID", text)
    text = re.sub(r"v_[0-9a-f]{32}", "VERSION", text)
    return re.sub(r"[0-9a-f]{16}…|[0-9,]{4,}|(?<=127\\.0\\.0\\.1:)[0-9]+", "N", text)


def test_the_readme_shows_what_the_demo_prints(tmp_path):
    shown = re.search(r"```\n\$ sandkeep demo\n(.*?)```", (PROJECT / "README.md").read_text(), re.S).group(1)
    done = subprocess.run([binary(), "demo"], env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "LANG": "C.UTF-8"},
                          capture_output=True, text=True, timeout=120, check=True)
    assert shape(done.stdout.replace(str(tmp_path), "/tmp")) == shape(shown)
    sizes = re.findall(r"([0-9,]+) bytes", done.stdout)
    assert len(sizes) == 2 and sizes[0] == sizes[1]
    assert list(tmp_path.glob("sandkeep-demo-*")) == []
