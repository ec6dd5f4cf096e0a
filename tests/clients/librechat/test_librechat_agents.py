"""The real client: @librechat/agents, whose code tools are what LibreChat gives to its models."""

import requests

from librechat import ID
from sandkeep_server import ROOT_KEY


def test_the_tools_of_librechat_agents_run_code_keep_files_and_call_tools(server, node):
    address = f"{server.url}/librechat/{ROOT_KEY}/v1"
    told = node("librechat/agents.mjs", server, environment={"LIBRECHAT_CODE_BASEURL": address})
    artifact = told["first"]["artifact"]
    assert "stdout:\nran\n" in told["first"]["content"] and ID.match(artifact["session_id"])
    assert [one["name"] for one in artifact["files"]] == ["made.txt"]
    file = artifact["files"][0]
    assert requests.get(f"{address}/download/{file['storage_session_id']}/{file['id']}", timeout=60).text == "by agents"
    assert "stdout:\n21 by agents" in told["second"], "variables and files live on"
    assert "stdout:\nby agents" in told["shell"]
    assert "400" in told["refused"] and "Unsupported language: rs" in told["refused"]
    assert "ZeroDivisionError" in told["failed"]
    assert "20 [1, 2, 3]" in told["tools"]
    assert "sum: 42" in told["scripted"]
