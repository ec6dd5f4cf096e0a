"""An id that a client was given opens its file wherever that is moved later, whichever dialect gave the id."""

import pathlib
import sys

import pytest
import requests

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "openai"), str(HERE / "librechat"), str(HERE / "azure")]

from http_api import Api  # noqa: E402
from librechat import Current  # noqa: E402
from pool import Pool  # noqa: E402
from sandkeep_server import ROOT_KEY  # noqa: E402

ROOT = {"Authorization": f"Bearer {ROOT_KEY}"}


@pytest.fixture
def move(server):
    """move(name): puts the one file of this name somewhere else in the workspace."""

    def run(name):
        ws = f"{server.url}/api/v1/workspaces/default"
        listed = requests.get(f"{ws}/list", params={"recursive": "true", "glob": f"**/{name}"}, headers=ROOT, timeout=60).json()["items"]
        (path,) = [item["path"] for item in listed if item["kind"] == "file" and item["path"].startswith("sessions/")]
        moved = requests.post(f"{ws}/move", json={"from": path, "to": f"elsewhere/{name}"}, headers=ROOT, timeout=60)
        assert moved.status_code in (200, 201), moved.text

    return run


def test_of_a_container_that_was_made_with_files(server, move):
    api = Api(server)
    container = api.container(file_ids=[api.give("moved-given.txt", b"given")["id"]])
    file = api.files(container)[0]["id"]
    move("moved-given.txt")
    assert api.content(container, file).content == b"given"


def test_of_a_container_into_which_a_file_was_copied(server, move):
    api = Api(server)
    container = api.container()
    file = api.post(f"/containers/{container}/files", {"file_id": api.give("moved-later.txt", b"later")["id"]})["id"]
    move("moved-later.txt")
    assert api.content(container, file).content == b"later"


def test_of_an_upload_of_librechat(server, move):
    client = Current(f"{server.url}/librechat/{ROOT_KEY}/v1")
    ref = client.upload("moved-sent.txt", b"sent")
    move("moved-sent.txt")
    assert client.download(ref).content == b"sent"


def test_of_an_upload_to_a_session_of_azure(server, move):
    Pool(server, ROOT_KEY).call("POST", "files/upload", 200, identifier="moved", version="2024-02-02-preview", files={"file": ("moved-up.txt", b"up")})
    api = Api(server)
    found = [(container["id"], file["id"]) for container in api.get("/containers?limit=100").json()["data"]
             for file in api.files(container["id"]) if file["path"] == "/mnt/data/moved-up.txt"]
    assert len(found) == 1, "an upload to a session is a file of a container"
    move("moved-up.txt")
    assert api.content(*found[0]).content == b"up"
