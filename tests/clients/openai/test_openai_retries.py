"""OpenAI's clients repeat requests by themselves. Code that such a request runs is run once."""

import threading

import pytest

from http_api import Api
from sessions_client import Keep, wait_for

CLIENTS = ["openai6", "openai"]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("scenario", ["patience", "lost"])
def test_what_the_client_repeats_joins_the_run_that_there_is(node, server, client, scenario):
    node("openai/retries.mjs", server, client=client, scenario=scenario)


@pytest.mark.parametrize("named", ["", "a name of the caller"])
def test_a_run_that_a_killed_server_left_is_answered_and_not_repeated(node, make_server, named):
    server = make_server()
    container = Api(server).container()
    code = "open('runs.txt', 'a').write('run ')\nprint('begun', flush=True)\nimport time; time.sleep(600)"
    answers = []
    asking = threading.Thread(target=lambda: answers.append(
        node("openai/retries.mjs", server, client="openai", scenario="killed", container=container, code=code, named=named)))
    asking.start()
    keep = Keep(server)
    path = f"/api/v1/sessions/s_{container.removeprefix('cntr_')}/executions"
    [running] = wait_for(lambda: keep.call("GET", path).json()["items"])
    keep.printed_until(f"{path}/{running['id']}", "begun")
    server.kill()
    server.start()
    asking.join()
    [answer] = answers
    assert answer["status"] == "incomplete" and answer["error"]["name"] == "crash" and answer["id"][3:] == running["id"].split("_")[1]
    ran = Api(server).exec(container, "print(open('runs.txt').read())")
    assert ran["outputs"][0]["logs"] == "run \n"
