"""docs/conversations.md: its examples run, in order, in one shell, as a reader would paste them."""

import os
import re
import subprocess

from sandkeep_server import PROJECT, ROOT_KEY


def test_every_example_runs(make_server, tmp_path):
    text = (PROJECT / "docs" / "conversations.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) >= 5
    script = "set -euo pipefail\n" + "\n".join(f"echo '== block {number}' >&2\n{block}" for number, block in enumerate(blocks))
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SANDKEEP_SERVER": make_server().url, "SANDKEEP_KEY": ROOT_KEY})
    assert done.returncode == 0, done.stderr[-2000:]
    assert "month,revenue" in done.stdout and '<a href="' in done.stdout
