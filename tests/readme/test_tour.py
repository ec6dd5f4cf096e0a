"""The README's tour: every line of it, in order, in one shell, against a server that was just started."""

import pathlib
import re
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tests" / "e2e"))

from sandkeep_server import ROOT_KEY, Server, binary  # noqa: E402


def tour():
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    part = re.search(r"<!-- tour -->(.*?)<!-- end of tour -->", text, re.DOTALL).group(1)
    return re.findall(r"```sh\n(.*?)```", part, re.DOTALL)


def test_every_line_of_the_tour_works(tmp_path):
    blocks = tour()
    assert len(blocks) >= 5
    server = Server(environment={"SANDKEEP_SANDBOX": "required"}).start()
    try:
        script = "set -euo pipefail\n" + "".join(f"echo '--- block {n}'\n{block}" for n, block in enumerate(blocks, 1))
        environment = {
            "PATH": f"{binary().parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(tmp_path),
            "SANDKEEP_SERVER": server.url,
            "SANDKEEP_KEY": ROOT_KEY,
        }
        done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        parts = re.split(r"--- block \d+\n", done.stdout)
        assert "first draft" in parts[1] and parts[1].rstrip().endswith("first draft")
        assert parts[2].rstrip().endswith("second draft")
        assert "refused: it exists already" in parts[3] and "I hold the lock" in parts[3] and "lock.acquire" in parts[3]
        assert "done" in parts[4] and parts[4].rstrip().endswith("16")
        assert "kept  results/squares.csv" in done.stderr
    finally:
        server.stop()
