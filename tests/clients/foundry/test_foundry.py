"""Foundry: Microsoft's clients, and the addresses that its documents name."""

import pathlib
import sys
import time

import pytest
import requests

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "openai"))

from http_api import Api  # noqa: E402
from sandkeep_server import ROOT_KEY  # noqa: E402

BASES = ["/openai/v1", "/openai", "/api/projects/p", "/api/projects/p/openai/v1", "/api/projects/p/agents/a/endpoint/protocols/openai"]
HEADERS = {"bearer": lambda key: {"Authorization": f"Bearer {key}"}, "api-key": lambda key: {"api-key": key}}


def test_the_projects_client_works_over_tls_with_a_stub_credential(node, make_server):
    one = make_server("--tls", "self-signed", scheme="https")
    authority = next(path for path in sorted((one.data / "tls").iterdir()) if "ca" in path.name and b"CERTIFICATE" in path.read_bytes())
    seen = node("foundry/project.mjs", one, environment={"NODE_EXTRA_CA_CERTS": str(authority)})
    # The toolbox's address, by id and by name.
    files = requests.get(f"{one.url}/api/projects/my-project/containers/{seen['container']}/files?api-version=v1", verify=str(authority),
                         headers={"api-key": ROOT_KEY}, timeout=30).json()
    assert [file["path"] for file in files["data"]] == ["/mnt/data/out.txt", "/mnt/data/数据 ü.csv"]


def test_the_azure_client_works_with_its_key_header_and_api_version(node, server):
    assert node("foundry/azure_openai.mjs", server) == "ok"


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("version", ["", "?api-version=v1", "?api-version=2025-04-01-preview"])
def test_every_address_takes_both_kinds_of_key_with_and_without_a_version(server, base, header, version):
    api = Api(server, base, header=HEADERS[header])
    container = api.post(f"/containers{version}", {"name": "x"})["id"]
    api.send("POST", f"/containers/{container}/files{version}", files={"file": ("a b 数据.txt", b"content")})
    answer = api.get(f"/containers/{container}/files{version}")
    file = answer.json()["data"][0]
    assert "x-sandkeep-ignored" not in answer.headers
    assert api.get(f"/containers/{container}/files/{file['id']}/content{version}").content == b"content"
    assert api.get(f"/containers/{container}/files/a%20b%20%E6%95%B0%E6%8D%AE.txt/content{version}").content == b"content"
    assert api.get(f"/containers/{container}/files/a%20b%20%E6%95%B0%E6%8D%AE.txt{version}").json()["id"] == file["id"]
    part = api.get(f"/containers/{container}/files/{file['id']}/content{version}", 206, headers={"Range": "bytes=3-5"})
    assert part.content == b"ten"
    assert api.send("DELETE", f"/containers/{container}/files/{file['id']}{version}").json()["deleted"] is True
    api.send("DELETE", f"/containers/{container}{version}")


def test_a_file_below_a_folder_is_found_by_its_path(server):
    api = Api(server, "/api/projects/p")
    container = api.container()
    api.put(container, "plots/2026/a.png", b"png")
    assert api.get(f"/containers/{container}/files/plots%2F2026%2Fa.png/content").content == b"png"
    assert api.get(f"/containers/{container}/files/%2Fmnt%2Fdata%2Fplots%2F2026%2Fa.png/content").content == b"png"
    for name in ("plots", "plots%2F..%2F..%2Fx", "nothing.png"):
        assert api.get(f"/containers/{container}/files/{name}/content", expect=None).status_code in (400, 404)


def test_a_container_made_here_has_foundrys_limits_and_one_made_elsewhere_has_not(server):
    for base, minutes in [("/api/projects/p/openai/v1", 30), ("/openai/v1", 30), ("/v1", 20)]:
        api = Api(server, base)
        made = api.post("/containers", {"name": "x"})
        assert made["expires_after"] == {"anchor": "last_active_at", "minutes": minutes}
        own = api.post("/containers", {"name": "x", "expires_after": {"anchor": "last_active_at", "minutes": 5}})
        assert own["expires_after"]["minutes"] == 5
        session = requests.get(f"{server.url}/api/v1/sessions/s_{made['id'][5:]}", headers=HEADERS["bearer"](ROOT_KEY), timeout=30).json()
        assert session["idle_minutes"] == minutes


def wait_until_expired(api, container):
    """Asks as a client would; the server decides when."""
    deadline = time.monotonic() + 60
    while (now := api.get(f"/containers/{container}").json())["status"] == "running":
        assert time.monotonic() < deadline, now
        time.sleep(0.05)
    return now


def test_a_container_that_was_awake_for_its_hour_is_expired_serves_its_files_and_wakes(make_server):
    """Foundry ends a session after an hour, used or not; here the hour is a second, and only the variables end."""
    server = make_server("--foundry-awake-max-s", "1s")
    api = Api(server, "/api/projects/p/openai/v1")
    fresh, container = api.container(), api.container()
    made = api.exec(container, "x = 1; _ = open('kept.txt', 'w').write('still here')")["files"][0]
    now = wait_until_expired(api, container)
    assert now["status"] == "expired" and now["expires_after"]["minutes"] == 30, "long before its idle time is over"
    assert {one["id"]: one["status"] for one in api.get("/containers").json()["data"]} == {container: "expired", fresh: "running"}
    server.stop()
    server.start()
    assert api.get(f"/containers/{container}").json()["status"] == "expired", "also after a restart"
    assert [one["id"] for one in api.files(container)] == [made["id"]]
    assert api.content(container, made["id"]).text == "still here"
    assert api.get(f"/containers/{container}/files/kept.txt/content").text == "still here"
    woken = api.exec(container, "print(open('kept.txt').read(), 'x' in globals())")
    assert (woken["woke"], woken["outputs"][0]["logs"]) == (True, "still here False\n")
    wait_until_expired(api, container)
    elsewhere = Api(server)
    lasting = elsewhere.container()
    elsewhere.exec(lasting, "import time; time.sleep(1.5)")
    assert elsewhere.get(f"/containers/{lasting}").json()["status"] == "running", "the limit is Foundry's alone"


@pytest.mark.parametrize("base", BASES)
def test_a_wrong_key_is_told_in_openais_shape(server, base):
    for key, header in [(None, None), ("wrong", HEADERS["bearer"]), ("wrong", HEADERS["api-key"])]:
        error = Api(server, base, key=key, header=header).error("GET", "/containers", 401)
        assert error["code"] == "invalid_api_key"


@pytest.mark.parametrize("base", BASES)
def test_what_is_not_served_says_what_is(server, base):
    assert "is not available" in Api(server, base).error("POST", "/responses", 404)["message"]
