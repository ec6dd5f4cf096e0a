"""OpenAI's own client for Node, in its version 6 and in its newest, against every call of its API that is served here."""

import pytest
import requests

from sandkeep_server import ROOT_KEY

CLIENTS = ["openai6", "openai"]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("scenario", ["containers", "container_files", "files", "uploads", "exec", "names"])
def test_every_call_is_answered_as_its_client_expects(node, server, client, scenario):
    node("openai/calls.mjs", server, client=client, scenario=scenario)


@pytest.mark.parametrize("client", CLIENTS)
def test_lists_of_many_pages_have_everything_once_and_in_order(node, server, client):
    """openai/openai-dotnet #458, openai/openai-node #1008, BerriAI/litellm PR #37855 and #39464: only the first page comes, `has_more` is always false, and
    `limit` and `after` are ignored."""
    node("openai/paging.mjs", server, client=client)


@pytest.mark.parametrize("client", CLIENTS)
def test_200_megabytes_in_parallel_parts_come_back_as_they_were_sent(node, server, client):
    done = node("openai/big_upload.mjs", server, client=client)
    # The same bytes through another door: the permanent link.
    found = requests.get(f"{server.url}/v1/files/{done['id']}", headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=30).json()
    head = requests.head(found["link"], headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=30)
    assert head.headers["Content-Length"] == "200000000"


def test_ids_outlive_overwriting_renaming_removing_and_a_restart(node, make_server):
    one = make_server()
    left = node("openai/life.mjs", one, client="openai", scenario="overwrite")
    one.kill()
    one.start()
    for file, word in zip(left["ids"], ["first", "second", "third"]):
        for path in (f"/v1/containers/{left['container']}/files/{file}/content", f"/v1/files/file-{file[6:]}/content"):
            answer = requests.get(one.url + path, headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=30)
            assert (answer.status_code, answer.text) == (200, word)


def test_a_deleted_id_is_gone_here_while_its_permanent_link_serves_on(node, server):
    left = node("openai/life.mjs", server, client="openai", scenario="deletion")
    for link, word in zip(left["links"], ["one", "two"]):
        answer = requests.get(link, headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=30)
        assert (answer.status_code, answer.text) == (200, word)


def test_an_expired_container_serves_its_files_and_wakes(node, make_server):
    node("openai/life.mjs", make_server("--session-idle-s", "10s"), client="openai", scenario="expiry")
