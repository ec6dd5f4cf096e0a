"""docs/azure.md: its examples run, in order, in one shell, as a reader would paste them."""

import os
import re
import subprocess

from sandkeep_server import PROJECT, ROOT_KEY

DOCUMENT = (PROJECT / "docs" / "azure.md").read_text()


def test_every_example_runs(server, tmp_path):
    blocks = re.findall(r"^```sh\n(.*?)^```", DOCUMENT, re.M | re.S)
    assert len(blocks) >= 2
    script = "set -euo pipefail\n" + "\n".join(f"echo '== block {number}' >&2\n{block}" for number, block in enumerate(blocks))
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SANDKEEP_SERVER": server.url, "SANDKEEP_KEY": ROOT_KEY})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert '"result":42' in done.stdout and '"name":"copy.csv"' in done.stdout
