"""What Azure's clients rely on beyond one client's habits: both families, long runs, errors, ranges, restarts, and who sees what."""

import json
import random
import string
import time
import urllib.parse

import pytest
import requests

from pool import POOL, LangchainPython, Pool
from sandkeep_server import ROOT_KEY

B = "2025-10-02-preview"
A = "2024-08-02-preview"


def run(pool, identifier, code, expected=200, **body):
    return pool.call("POST", "executions", expected, identifier=identifier, version=B,
                     json={"codeInputType": "inline", "executionType": "synchronous", "code": code, **body}).json()


def put(pool, identifier, name, data, path=None):
    return pool.call("POST", "files", 200, identifier=identifier, version=B, query={"path": path}, files={"file": (name, data)}).json()


def wait_until_done(pool, location):
    """Polls as the clients do; the server decides when it is over."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        answer = requests.get(location, headers=pool.headers, timeout=60)
        assert answer.status_code == 200, answer.text
        if answer.json()["status"] not in ("NotStarted", "Running"):
            return answer.json()
        time.sleep(0.02)
    raise AssertionError("the execution did not end")


def test_an_asynchronous_execution_is_polled_where_its_answer_says(pool, identifier):
    answer = pool.call("POST", "executions", 202, identifier=identifier, version=B,
                       json={"codeInputType": "Inline", "executionType": "Asynchronous", "code": "print('done')\n7", "timeoutInSeconds": 60})
    assert answer.json()["status"] in ("NotStarted", "Running")
    assert answer.headers["operation-id"] == answer.json()["id"]
    done = wait_until_done(pool, answer.headers["Operation-Location"])
    assert done["status"] == "Succeeded" and done["identifier"] == identifier and done["id"] == answer.json()["id"]
    assert done["result"]["stdout"] == "done\n" and done["result"]["executionResult"] == "7"
    assert done["result"]["executionTimeInMilliseconds"] >= 0


def test_a_synchronous_execution_carries_the_headers_of_the_service(pool, identifier):
    answer = pool.call("POST", "executions", 200, identifier=identifier, version=B, json={"code": "1", "codeInputType": "INLINETEXT"})
    for name in ("operation-id", "Operation-Location", "x-ms-session-guid", "x-ms-execution-request-time", "x-ms-overall-execution-time",
                 "x-ms-container-execution-duration"):
        assert answer.headers[name]
    again = pool.call("GET", f"executions/{answer.json()['id']}", 200, identifier=identifier, version=B).json()
    assert again["result"] == answer.json()["result"]


def test_code_may_come_as_base64_and_output_may_be_cut(pool, identifier):
    assert run(pool, identifier, "cHJpbnQoJ2EnICogMTAwKQ==", codeInputType="InlineBase64", outputStreamsMaxLength=10)["result"]["stdout"] == "a" * 10
    answer = pool.call("POST", "executions", 400, identifier=identifier, version=B, json={"codeInputType": "InlineBase64", "code": "%%%"})
    assert answer.json()["error"]["target"] == "code"


def test_a_shell_command_that_is_killed_has_an_exit_code_too(pool, identifier):
    answer = pool.call("POST", "executions", 200, identifier=identifier, version=B, json={"shellCommand": "sleep 60", "timeoutInSeconds": 1})
    assert int(answer.json()["status"]) != 0


def test_an_execution_that_is_stopped_says_why(pool, identifier):
    stopped = run(pool, identifier, "import time; time.sleep(60)", timeoutInSeconds=1)
    assert stopped["status"] == "Failed" and "time-out" in stopped["error"]["message"], stopped
    raised = run(pool, identifier, "raise KeyError('k')")
    assert raised["error"] == {"code": "KeyError", "message": "'k'"}
    assert "exit status 3" in run(pool, identifier, "import sys; sys.exit(3)")["error"]["message"]


def test_files_are_named_as_code_sees_them(make_server, identifier):
    pool = Pool(make_server("--quota-default-bytes", "2 MiB"), ROOT_KEY)
    stderr = run(pool, identifier, "import os\nopen('b.bin', 'wb').write(os.urandom(3_000_000)); _ = open('a', 'w').write('x')")["result"]["stderr"]
    assert "not kept: /mnt/data/b.bin: " in stderr and "sessions/" not in stderr, stderr
    for name in ("nope.txt", "d/nope.txt/content"):
        error = pool.call("GET", f"files/{name}", 404, identifier=identifier, version=B).json()["error"]
        assert "'/mnt/data/" in error["message"] and "workspace" not in error["message"] and "sessions/" not in str(error), error
    pool.call("DELETE", "files/a", 204, identifier=identifier, version=B)
    error = pool.call("GET", "files/a", 404, identifier=identifier, version=B).json()["error"]
    assert "'/mnt/data/a' was moved to the trash" in error["message"] and "sessions/" not in str(error), error
    error = pool.call("DELETE", "session", 409, identifier=identifier, version=B).json()["error"]
    assert "/mnt/data/b.bin" in error["message"] and "force=true" in error["innererror"]["hint"] and "sessions/" not in str(error), error


def test_family_b_lists_folders_and_family_a_whole_paths(pool, identifier):
    put(pool, identifier, "top.txt", b"1")
    assert put(pool, identifier, "in.txt", b"22", "/mnt/data/a/b")["directory"] == "/mnt/data/a/b"
    top = pool.call("GET", "files", 200, identifier=identifier, version=B).json()["value"]
    assert {(one["name"], one["type"]) for one in top} == {("top.txt", "file"), ("a", "directory")}
    deep = pool.call("GET", "files", 200, identifier=identifier, version=B, query={"path": "/mnt/data/a/b"}).json()["value"]
    assert [(one["name"], one["sizeInBytes"], one["contentType"]) for one in deep] == [("in.txt", 2, "text/plain")]
    everything = pool.call("GET", "files", 200, identifier=identifier, version=B, query={"recursive": "True"}).json()["value"]
    assert {one["name"] for one in everything} == {"top.txt", "a", "b", "in.txt"}
    old = pool.call("GET", "files", 200, identifier=identifier, version=A).json()["value"]
    assert {one["properties"]["filename"] for one in old} == {"top.txt", "a/b/in.txt"}
    one = pool.call("GET", "files/in.txt", 200, identifier=identifier, version=B, query={"path": "a/b"}).json()
    assert one["name"] == "in.txt" and one["type"] == "file"
    old = pool.call("GET", "files/top.txt", 200, identifier=identifier, version=A).json()["value"]
    assert [one["properties"]["filename"] for one in old] == ["top.txt"]


@pytest.mark.parametrize("path", ["/mnt/data", "/mnt/data/", "/", "/mnt/data//"])
def test_a_folder_is_the_same_with_a_slash_at_its_end(pool, identifier, path):
    put(pool, identifier, "a.txt", b"x", path="/mnt/data/sub/")
    listed = pool.call("GET", "files", 200, identifier=identifier, version=B, query={"path": path})
    assert [item["name"] for item in listed.json()["value"]] == ["sub"], listed.text
    below = pool.call("GET", "files", 200, identifier=identifier, version=B, query={"path": "/mnt/data/sub/"})
    assert [item["name"] for item in below.json()["value"]] == ["a.txt"], below.text


def test_a_deleted_file_is_gone_for_code_and_waits_in_the_trash(pool, identifier):
    put(pool, identifier, "a.txt", b"1")
    put(pool, identifier, "b.txt", b"1")
    run(pool, identifier, "1")
    assert pool.call("DELETE", "files/a.txt", 204, identifier=identifier, version=B).content == b""
    assert pool.call("DELETE", "files/b.txt", 200, identifier=identifier, version=A).json() == {"message": "file deleted successfully"}
    assert run(pool, identifier, "import os; os.listdir('/mnt/data')")["result"]["executionResult"] == "[]"
    answer = pool.call("GET", "files/a.txt/content", 404, identifier=identifier, version=B)
    assert answer.json()["error"]["code"] == "NotFound" and answer.headers["x-ms-error-code"] == "NotFound"


def test_downloads_stream_and_take_ranges(pool, identifier):
    data = random.Random(7).randbytes(5 << 20)
    put(pool, identifier, "big.bin", data)
    with pool.call("GET", "files/big.bin/content", 200, identifier=identifier, version=B, stream=True) as answer:
        assert answer.headers["Content-Length"] == str(len(data)) and answer.headers["Accept-Ranges"] == "bytes"
        assert b"".join(answer.iter_content(1 << 16)) == data
    part = pool.call("GET", "files/content/big.bin", 206, identifier=identifier, version=A, headers={"Range": "bytes=1048570-1048590"})
    assert part.content == data[1048570:1048591] and part.headers["Content-Range"] == f"bytes 1048570-1048590/{len(data)}"
    beyond = pool.call("GET", "files/big.bin/content", 416, identifier=identifier, version=B, headers={"Range": "bytes=99999999-"})
    assert beyond.json()["error"]["code"] == "RequestedRangeNotSatisfiable" and beyond.headers["Content-Range"] == f"bytes */{len(data)}"


def test_sessions_are_told_listed_and_deleted(server, identifier):
    lonely = Pool(server, ROOT_KEY, f"/azure/{identifier}")
    assert lonely.call("GET", "session", 404, identifier=identifier, version=B).json()["error"]["code"] == "NotFound"
    run(lonely, identifier, "1")
    session = lonely.call("GET", "session", 200, identifier=identifier, version=B).json()
    assert session["identifier"] == identifier and session["etag"]
    assert session["createdAt"] <= session["lastAccessedAt"] < session["expireAt"]
    listed = lonely.call("GET", "listSessions", 200, version=B).json()
    assert [one["identifier"] for one in listed["sessions"]] == [identifier]
    lonely.call("DELETE", "session", 204, identifier=identifier, version=B)
    lonely.call("DELETE", "session", 204, identifier=identifier, version=B)
    lonely.call("GET", "session", 404, identifier=identifier, version=B)


def test_a_list_of_sessions_has_pages_that_lead_to_the_end(server):
    pool = Pool(server, ROOT_KEY, "/azure/paged")
    names = {f"paged-{n:03}" for n in range(103)}
    for name in names:
        put(pool, name, "x", b"")
    seen, url = set(), pool.endpoint + "listSessions?api-version=" + B
    while url:
        page = requests.get(url, headers=pool.headers, timeout=60).json()
        seen |= {one["identifier"] for one in page["sessions"]}
        url = page.get("nextLink")
    assert seen == names


def test_metadata_is_what_code_finds_in_a_session(pool, identifier):
    told = pool.call("GET", "metadata", 200, version=B).json()
    assert told["runtimes"][0]["name"] == "python"
    assert run(pool, identifier, "import platform; print(platform.python_version())")["result"]["stdout"].strip() == told["runtimes"][0]["version"]
    packages = {one["name"]: one["version"] for one in told["preInstalledPackages"]}
    assert run(pool, identifier, "import numpy; print(numpy.__version__)")["result"]["stdout"].strip() == packages["numpy"]
    assert pool.call("GET", "metadata", 200, version=B).json() == told


def test_one_identifier_in_two_pools_or_of_two_people_is_two_sessions(server, pool, identifier):
    run(pool, identifier, "secret = 1")
    other_pool = Pool(server, ROOT_KEY, "/azure/another")
    assert run(other_pool, identifier, "'secret' in globals()")["result"]["executionResult"] == "False"
    admin = {"Authorization": f"Bearer {ROOT_KEY}"}
    made = requests.post(server.url + "/api/v1/principals", headers=admin, json={"name": identifier, "kind": "person"}, timeout=60).json()
    key = requests.post(server.url + "/api/v1/keys", headers=admin, json={"name": "k", "principal_id": made["id"]}, timeout=60).json()["secret"]
    stranger = Pool(server, key)
    assert stranger.call("GET", "files", 200, identifier=identifier, version=B).json()["value"] == []
    assert run(stranger, identifier, "'secret' in globals()")["result"]["executionResult"] == "False"


def test_the_endpoint_may_have_any_path_before_it(server, identifier):
    for prefix in ("/azure", "/azure/pool", "/azure/a/b/c/d/e/f/g/h", "/azure/sub%20scription/p%C3%A9"):
        assert run(Pool(server, ROOT_KEY, prefix), identifier, "40 + 2")["result"]["executionResult"] == "42"


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"x-ms-apikey": "wrong"}, {"Authorization": "Nonsense"}])
def test_without_a_valid_token_every_call_answers_401_in_azures_shape(server, headers):
    for method, path in (("POST", "/code/execute"), ("POST", "/executions"), ("GET", "/files"), ("POST", "/files"), ("POST", "/files/upload"),
                         ("GET", "/files/content/x"), ("DELETE", "/session"), ("GET", "/listSessions"), ("GET", "/metadata"), ("GET", "/nowhere/at/all")):
        answer = requests.request(method, server.url + POOL + path, params={"identifier": "someone"}, headers=headers, timeout=60)
        expected = (404, "NotFound") if path.startswith("/nowhere") else (401, "Unauthorized")
        assert (answer.status_code, answer.json()["error"]["code"]) == expected, (path, answer.text)
        assert answer.headers["x-ms-error-code"] == expected[1] and answer.json()["error"]["message"]


def test_a_key_in_azures_own_header_is_taken(server, identifier):
    pool = Pool(server, ROOT_KEY)
    pool.headers = {"x-ms-apikey": ROOT_KEY}
    assert run(pool, identifier, "1")["status"] == "Succeeded"


def test_wrong_fields_are_named(pool, identifier):
    for body, target in (({"code": 5}, "code"), ({}, "code"), ({"code": "1", "executionType": "later"}, "executionType"),
                         ({"code": "1", "timeoutInSeconds": 0}, "timeoutInSeconds"), ({"code": "1", "codeInputType": "file"}, "codeInputType")):
        error = pool.call("POST", "executions", 400, identifier=identifier, version=B, json=body).json()["error"]
        assert error["code"] == "BadRequest" and error["target"] == target, error
    error = pool.call("POST", "code/execute", 400, identifier=identifier, version=A, json={"properties": {"code": []}}).json()["error"]
    assert error["target"] == "properties.code"
    error = pool.call("POST", "executions", 400, version=B, json={"code": "1"}).json()["error"]
    assert error["target"] == "identifier"


def test_paths_that_lead_out_of_the_session_are_refused(pool, identifier):
    run(pool, identifier, "1")
    for name in ("../x", "a/../../x", "/mnt/data/../x"):
        pool.call("POST", "files", 400, identifier=identifier, version=B, files={"file": (name, b"x")})
        pool.call("GET", "files/" + urllib.parse.quote(name, safe="") + "/content", 400, identifier=identifier, version=B)


def test_a_session_and_its_files_are_seen_in_the_other_dialects(server, pool, identifier):
    run(pool, identifier, "open('seen.txt', 'w').write('by all')")
    admin = {"Authorization": f"Bearer {ROOT_KEY}"}
    sessions = requests.get(server.url + "/api/v1/sessions", headers=admin, timeout=60).json()["items"]
    mine = next(one for one in sessions if one["name"] == identifier)
    answer = requests.get(f"{server.url}/api/v1/workspaces/default/files/{mine['folder']}/seen.txt", headers=admin, timeout=60)
    assert answer.text == "by all"
    ran = requests.post(f"{server.url}/api/v1/sessions/{mine['id']}/executions", headers=admin, json={"code": "print(open('seen.txt').read())"},
                        timeout=60).json()
    assert ran["outputs"][0]["text"] == "by all\n"


def test_names_files_and_executions_survive_a_restart(make_server):
    server = make_server()
    pool = Pool(server, ROOT_KEY)
    first = run(pool, "long-lived", "x = 1\nopen('kept.txt', 'w').write('still here')")
    server.stop()
    server.start()
    again = pool.call("GET", f"executions/{first['id']}", 200, identifier="long-lived", version=B).json()
    assert again["result"]["executionResult"] == "10"
    server.kill()
    server.start()
    assert pool.call("GET", "files/kept.txt/content", 200, identifier="long-lived", version=B).text == "still here"
    after = run(pool, "long-lived", "open('kept.txt').read(), 'x' in globals()")
    assert after["result"]["executionResult"] == "('still here', False)"
    assert after["woke"] is True, "nobody is to believe that variables survived"


def test_without_a_sandbox_files_are_listed_served_put_and_deleted_and_only_running_is_refused(make_server):
    server = make_server()
    pool = Pool(server, ROOT_KEY)
    ran = run(pool, "lasting", "open('a.txt', 'w').write('kept')")
    server.stop()
    server.environment["SANDKEEP_SANDBOX"] = "off"
    server.start()
    tool = LangchainPython(pool, "lasting")
    assert tool.list_files() == [("a.txt", 4)] and tool.download_file("a.txt") == b"kept"
    assert pool.call("GET", "files/a.txt/content", 206, identifier="lasting", version=B, headers={"Range": "bytes=1-2"}).text == "ep"
    assert pool.call("GET", "files/a.txt", 200, identifier="lasting", version=B).json()["sizeInBytes"] == 4
    assert put(pool, "lasting", "b.txt", b"new")["name"] == "b.txt"
    pool.call("DELETE", "files/a.txt", 204, identifier="lasting", version=B)
    assert [name for name, _ in tool.list_files()] == ["b.txt"]
    assert pool.call("GET", "session", 200, identifier="lasting", version=B).json()["status"] == "asleep"
    assert [one["identifier"] for one in pool.call("GET", "listSessions", 200, version=B).json()["sessions"]] == ["lasting"]
    assert pool.call("GET", f"executions/{ran['id']}", 200, identifier="lasting", version=B).json()["result"] == ran["result"]
    session = f"{server.url}/api/v1/sessions/s_{ran['sessionId']}"
    for path, status in (("executions", 200), ("export?format=py", 200), (f"executions/x_{ran['id']}/kept", 200)):
        answer = requests.get(f"{session}/{path}", headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=60)
        assert answer.status_code == status, (path, answer.text)
    for path, body in (("executions", {"code": "1"}), ("code/execute", {"properties": {"code": "1"}})):
        error = pool.call("POST", path, 503, identifier="lasting", version=B, json=body).json()["error"]
        assert error["code"] == "ServiceUnavailable" and "--sandbox=off" in error["message"]
    pool.call("POST", "files", 503, identifier="a new one", version=B, files={"file": ("x", b"")})


def test_the_link_of_a_file_outlives_its_session_and_its_trashing_until_it_is_purged(server, pool, identifier):
    """A client that kept the link of one session's file shows it in another; what became of the file meanwhile is its owner's affair."""
    admin = {"Authorization": f"Bearer {ROOT_KEY}"}
    first = run(pool, identifier, "open('report.csv', 'w').write('of the first')")
    link = first["files"][0]["link"]
    folder = next(s for s in requests.get(server.url + "/api/v1/sessions?limit=100", headers=admin, timeout=60).json()["items"] if s["name"] == identifier)["folder"]
    pool.call("DELETE", "session", 204, identifier=identifier, version=B)
    second = run(pool, identifier, "import os; os.path.exists('report.csv')")
    assert second["result"]["executionResult"] == "False" and second["sessionId"] != first["sessionId"]
    pool.call("GET", "files/report.csv/content", 404, identifier=identifier, version=B)
    pool.call("GET", f"executions/{first['id']}", 404, identifier=identifier, version=B)
    assert requests.get(link, headers=admin, timeout=60).text == "of the first"
    trashed = requests.delete(f"{server.url}/api/v1/workspaces/default/files/{folder}/report.csv", headers=admin, timeout=60)
    assert trashed.status_code == 200 and requests.get(link, headers=admin, timeout=60).text == "of the first", "also out of the trash"
    assert requests.delete(f"{server.url}/api/v1/workspaces/default/trash/{trashed.json()['id']}", headers=admin, timeout=60).status_code == 200
    assert requests.get(link, headers=admin, timeout=60).status_code == 410
    assert run(pool, identifier, "1")["status"] == "Succeeded", "the session that goes on is not touched by that"


# Complaints of users of other interpreters, as the project's acceptance cases have them.


def test_complaint_e2b_1381_a_sandbox_that_vanished_lost_nothing_that_was_answered(pool, identifier):
    """e2b-dev/E2B #1381, code-interpreter #147: the sandbox vanished long before its time-out, and with it the files."""
    run(pool, identifier, "open('before.txt', 'w').write('kept')")
    run(pool, identifier, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert pool.call("GET", "files/before.txt/content", 200, identifier=identifier, version=B).text == "kept"


def test_complaint_semantic_kernel_6643_the_link_in_the_answer_downloads_the_file(pool, identifier):
    """semantic-kernel #6643, open-computer-use PR #361: no way to download, or minted links that answer 404."""
    link = run(pool, identifier, "open('r.csv', 'w').write('a,b')")["files"][0]["link"]
    answer = requests.get(link, headers=pool.headers, timeout=60)
    assert answer.status_code == 200 and answer.text == "a,b" and answer.headers["Content-Type"].startswith("text/csv")
    run(pool, identifier, "open('r.csv', 'w').write('overwritten')")
    assert requests.get(link, headers=pool.headers, timeout=60).text == "a,b", "a link gives the bytes that it was made for"


def test_complaint_qwen_1614_names_in_any_script_come_back_as_they_went(pool, identifier):
    """QwenLM/Qwen3 #1614, LibreChat #7867: percent-encoded, accented and spaced names were not downloadable."""
    tool = LangchainPython(pool, identifier)
    names = ["销售 数据.csv", "naïve café.txt", "100%.txt", "a+b & c?.txt", "emoji 🎉.bin", "content"]
    for name in names:
        assert tool.upload_file(name.encode(), name)[0] == name
    assert sorted(name for name, _ in tool.list_files()) == sorted(names)
    seen = tool.execute("import os, json; print(json.dumps(sorted(os.listdir('/mnt/data'))))")["stdout"]
    assert json.loads(seen) == sorted(names), "code sees the names that the client was told"
    for name in names:
        assert tool.download_file(name) == name.encode()


def test_complaint_litellm_37855_a_long_list_of_files_is_whole(pool, identifier):
    """openai-dotnet #458, litellm PR #37855: only the first page, and no way to the others."""
    run(pool, identifier, "import os\nos.makedirs('many')\nfor n in range(2500): open(f'many/{n}.txt', 'w').close()")
    assert len(LangchainPython(pool, identifier).list_files()) == 2500
    value = pool.call("GET", "files", 200, identifier=identifier, version=B, query={"path": "many"}).json()["value"]
    assert len({one["name"] for one in value}) == 2500


def test_complaint_langchain_azure_256_an_upload_to_a_running_session_is_there_in_the_next_cell(pool, identifier):
    """langchain-azure #256, azure-sdk-for-python #45140: an uploaded file was not mounted."""
    run(pool, identifier, "1")
    put(pool, identifier, "late.txt", b"arrived")
    assert run(pool, identifier, "open('late.txt').read()")["result"]["executionResult"] == "'arrived'"


def test_complaint_buhler_chat_113_a_file_over_the_limit_is_an_error_that_says_the_limit(make_server):
    """buhler-chat #113: advertised 512 MB, silently dropped at 10 MB."""
    pool = Pool(make_server("--file-bytes-max", "1 MiB"), ROOT_KEY)
    error = pool.call("POST", "files", 413, identifier="limited", version=B, files={"file": ("big", b"x" * (2 << 20))}).json()["error"]
    assert error["code"] == "RequestEntityTooLarge" and error["innererror"]["limit_bytes"] == 1 << 20


# No request gives a 5xx.


def test_no_request_gives_a_5xx(server, identifier):
    seed = random.SystemRandom().randrange(1 << 32)
    print("seed", seed)
    dice = random.Random(seed)
    pool = Pool(server, ROOT_KEY)
    run(pool, identifier, "1")

    def text():
        return dice.choice(["", "x", "é", "../..", "/mnt/data", "\x00", "%00", "content", "a" * 300, "{}", "\udce9".encode("utf-8", "surrogateescape").decode("latin-1"),
                            "".join(dice.choices(string.printable, k=dice.randrange(40)))])

    def value():
        return dice.choice([None, True, -1, 0, 2**63, 1e300, text(), [text()], {"a": text()}, [], {}])

    paths = ["code/execute", "executions", "executions/x", "files", "files/upload", "files/content/x", "files/x/content", "files/x", "session",
             "listSessions", "metadata", "nothing"]
    for _ in range(400):
        method = dice.choice(["GET", "POST", "DELETE", "PUT", "HEAD"])
        path = dice.choice(paths) + dice.choice(["", "", "/" + urllib.parse.quote(text()), "/"])
        query = {dice.choice(["identifier", "api-version", "path", "recursive", "skip", "cursor", "odd"]): text() for _ in range(dice.randrange(4))}
        if dice.random() < 0.7:
            query["identifier"] = identifier
        fields = {dice.choice(["codeInputType", "executionType", "code", "timeoutInSeconds", "properties", "outputStreamsMaxLength", "odd"]): value()
                  for _ in range(dice.randrange(5))}
        if dice.random() < 0.3:
            fields = {"properties": fields}
        body = dice.choice([None, b"", b"{", b"\xff", json.dumps(fields).encode(), b"--x\r\n", value()])
        if not isinstance(body, (bytes, type(None))):
            body = json.dumps(body).encode()
        kind = dice.choice(["application/json", "multipart/form-data; boundary=x", "multipart/form-data", "text/plain"])
        answer = requests.request(method, pool.endpoint + path, params=query, data=body, headers={**pool.headers, "Content-Type": kind}, timeout=60)
        assert answer.status_code < 500, (seed, method, path, query, body, answer.text)
        if answer.status_code >= 400 and method != "HEAD":
            assert set(answer.json()["error"]) >= {"code", "message"}, answer.text
