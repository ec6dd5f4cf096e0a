"""Small programs that each try to get out, or at something that is none of their business. All must be refused, with nothing changed."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from driver import SECRET
from own_mounts import mounts_of

PROBES = sorted(path for path in (Path(__file__).parent / "probes").glob("*.py") if not path.name.startswith("_"))
PRELUDE = (Path(__file__).parent / "probes" / "_prelude.py").read_text(encoding="utf-8")


class Canaries:
    """Things outside that a probe must not touch."""

    def __init__(self, folder):
        self.file = folder / "canary"
        self.file.write_text("alive", encoding="utf-8")
        self.file.chmod(0o666)  # only the sandbox stands between a probe and it
        self.process = subprocess.Popen(["sleep", "1000"])
        self.state = self.look()

    def look(self):
        watched = ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/modprobe", "/etc/passwd", "/proc/swaps")
        return {
            "file": self.file.read_text(encoding="utf-8"),
            "names": sorted(os.listdir(self.file.parent)),
            "process": self.process.poll(),
            "files of the host": [Path(path).read_bytes() for path in watched if os.path.exists(path)],
            "mounts": mounts_of([self.file.parent]),
        }

    def check(self):
        assert self.look() == self.state

    def close(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def canaries():
    with tempfile.TemporaryDirectory(prefix="sandkeep-canaries-") as folder:
        os.chmod(folder, 0o777)
        made = Canaries(Path(folder))
        yield made
        made.close()


def verdicts(output):
    lines = output.splitlines()
    return [line for line in lines if line.startswith("HELD")], [line for line in lines if line.startswith("ESCAPED")]


@pytest.mark.parametrize("probe", PROBES, ids=lambda path: path.stem)
def test_probe_is_held(driver, canaries, probe):
    session = driver.start(
        environment={
            "CANARY_PATH": str(canaries.file),
            "CANARY_PID": str(canaries.process.pid),
            # Reversed, so that the needle is not in the haystack before it is looked for.
            "CANARY_SECRET_HEX": SECRET.encode()[::-1].hex(),
        },
        limits={"file_bytes_max": 1 << 30},
    )
    result = session.run(PRELUDE + probe.read_text(encoding="utf-8"))
    session.stop()
    assert result.get("status") == "ok", result
    held, escaped = verdicts(result["output"])
    assert not escaped, "\n".join(escaped)
    assert held, "the probe came to no verdict"
    canaries.check()


def test_there_are_enough_probes():
    assert len(PROBES) >= 60
