"""Complaints about other interpreters that no single dialect answers alone: what one makes is got back, exported, or kept from harm by another. Each test
names the complaint that it answers; those of one dialect are in its folder."""

import os
import pathlib
import subprocess
import sys
import time

import pytest
import requests

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "openai"), str(HERE / "mcp")]

from http_api import Api  # noqa: E402
from mcp_http import Plain  # noqa: E402
from sandkeep_server import ROOT_KEY, binary  # noqa: E402

ROOT = {"Authorization": f"Bearer {ROOT_KEY}"}


@pytest.fixture
def api(server):
    return Api(server)


@pytest.fixture
def container(api):
    made = api.container()
    yield made
    api.send("DELETE", f"/containers/{made}", expect=None)


@pytest.fixture
def model(server):
    """What a model can do: call tools."""
    client = Plain(server)
    client.begin()
    return client


def folder_of(api, container):
    return api.get(f"{api.server.url}/api/v1/sessions/s_{container[5:]}").json()["folder"]


def test_a_tree_that_an_agent_removed_comes_back_whole(api, container):
    """e2b-dev/E2B #884: a resume gave a partially empty tree, and the agent then `rm -rf`'d the rest."""
    api.exec(container, "import os\nfor n in range(40):\n    os.makedirs(f'src/{n % 7}/deep', exist_ok=True)\n    _ = open(f'src/{n % 7}/deep/{n}.py', 'w').write(str(n))")
    before = {file["path"] for file in api.files(container)}
    assert len(before) == 40
    then = now()
    api.exec(container, "rm -rf -- * .[!.]*", language="bash")
    assert api.files(container) == []
    folder = folder_of(api, container)
    api.post(f"{api.server.url}/api/v1/workspaces/default/restore-as-of", {"folder": folder, "time": then})
    assert {file["path"] for file in api.files(container)} == before
    seen = api.exec(container, "import glob; print(len(glob.glob('src/*/deep/*.py')), open('src/4/deep/39.py').read())")
    assert seen["outputs"][0]["logs"] == "40 39\n", "the running session has it back as well"


def now():
    time.sleep(0.01)
    moment = time.time()
    time.sleep(0.01)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment * 1e6) % 1_000_000:06}Z"


def test_every_file_of_a_sandbox_can_be_exported(api, container, tmp_path):
    """lobehub/lobehub #13660: a file of a self-hosted sandbox cannot be exported."""
    names = ["a.txt", "deep/er/b 数据.csv", ".hidden/c", "empty"]
    api.exec(container, "import pathlib\nfor n in " + repr(names) + ":\n    p = pathlib.Path(n); p.parent.mkdir(parents=True, exist_ok=True); _ = p.write_text('' if n == 'empty' else n)")
    done = subprocess.run([str(binary()), "get", folder_of(api, container), str(tmp_path / "export")], capture_output=True, text=True, timeout=60, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SANDKEEP_SERVER": api.server.url, "SANDKEEP_KEY": ROOT_KEY})
    assert done.returncode == 0, done.stderr
    found = {str(path.relative_to(tmp_path / "export")): path.read_text() for path in (tmp_path / "export").rglob("*") if path.is_file()}
    assert found == {name: "" if name == "empty" else name for name in names}


def test_a_model_gets_a_file_by_a_tool(api, container, model):
    """microsoft/semantic-kernel #6643: the model cannot call download."""
    api.exec(container, "_ = open('result.csv', 'w').write('a,b\\n1,2\\n')")
    path = folder_of(api, container) + "/result.csv"
    assert path in [entry["path"] for entry in model.works("list_files", folder=folder_of(api, container))["entries"]]
    read = model.works("read_file", path=path)
    assert read["rows"] == [["1", "2"]] and requests.get(read["link"], headers=ROOT, timeout=30).text == "a,b\n1,2\n"


def test_what_the_tool_tells_the_model_about_its_files_is_true(server, model):
    """danny-avila/LibreChat #15659: the tool's text promises that /mnt/data lasts, and the backend does not keep the promise."""
    tool = next(tool for tool in model.ask("tools/list")["result"]["tools"] if tool["name"] == "run_python")
    assert "Every file written there is stored" in tool["description"]
    session = model.works("run_python", code="_ = open('promised.txt', 'w').write('kept')")["session"]
    requests.post(f"{server.url}/api/v1/sessions/{session}/sleep", headers=ROOT, timeout=60).raise_for_status()
    assert "kept" in model.works("run_python", code="print(open('/mnt/data/promised.txt').read())")["stdout"]
    assert "kept" in model.works("read_file", path="data/promised.txt")["text"]


def test_signed_links_are_made_anew_when_a_chat_is_resumed(api, container):
    """Chainlit/chainlit-datalayer #9, stvlynn/DOC-Dify-Plugin #4: signed links must be regenerated, and a link without its signature is dead."""
    home = api.post(f"{api.server.url}/api/v1/workspaces", {"name": f"of-{container}"}, 201)["name"]
    api.send("PUT", f"{api.server.url}/api/v1/workspaces/{home}/files/a.txt", 201, data=b"x")
    chat = f"{api.server.url}/api/v1/conversations/{container}/messages/m?workspace={home}"
    api.send("PUT", chat, json={"text": "See.", "files": ["a.txt"]})

    def signed():
        return api.get(chat + "&links=signed").json()["attachments"][0]["link"]

    first = signed()
    assert requests.get(first, timeout=30).text == "x" and requests.get(first.split("?")[0], timeout=30).status_code == 404
    api.send("POST", f"{api.server.url}/api/v1/workspaces/{home}/revoke-links", expect=None)
    assert requests.get(first, timeout=30).status_code == 404
    assert signed() != first and requests.get(signed(), timeout=30).text == "x"


def test_parallel_writers_in_two_dialects_lose_nothing_of_each_other(api, container, model):
    """adolfousier/opencrabs #954, Lexus2016/hermes-agent-evolution #2424, mauropereiira/Moldavite #37, talesofai/cohub PR #168, DAWNCR0W/affine-mcp-server PR #344:
    parallel agents silently lose each other's writes."""
    path = folder_of(api, container) + "/plan.md"
    first = api.put(container, "plan.md", b"base")
    version = "v_" + first["id"][6:]
    model.works("write_file", path=path, text="by the model", if_version=version)
    late = model.tool("write_file", path=path, text="by a slower one", if_version=version)
    assert late["isError"] and late["structuredContent"]["error"]["code"] == "precondition_failed"
    second = api.put(container, "plan.md", b"by the app")
    history = api.get(f"{api.server.url}/api/v1/workspaces/default/versions/{path}").json()["items"]
    assert len(history) == 3 and history[0]["id"] == "v_" + second["id"][6:]
    texts = [requests.get(item["link"], headers=ROOT, timeout=30).text for item in history]
    assert texts == ["by the app", "by the model", "base"], "every write is a version that can be had"
