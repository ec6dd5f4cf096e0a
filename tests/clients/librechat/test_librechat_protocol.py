"""LibreChat's code interpreter in both generations of its protocol: running, files, tools, errors."""

import json
import random
import string
import urllib.parse

import pytest
import requests

from librechat import ID, Current, LibreChat
from sandkeep_server import ROOT_KEY


def test_the_old_protocol_uploads_runs_lists_and_downloads(legacy):
    session, file = legacy.upload("table.csv", b"a,b\n1,2\n").split("/")
    assert legacy.refs(session) == [{"session_id": session, "id": file, "name": "table.csv"}]
    result = legacy.exec("print(open('/mnt/data/table.csv').read())\nopen('out.txt', 'w').write('made')", files=legacy.refs(session))
    assert result["stdout"] == "a,b\n1,2\n\n" and result["stderr"] == ""
    assert [one["name"] for one in result["files"]] == ["out.txt"], "files that only came along are not results"
    assert legacy.download(f"{result['session_id']}/{result['files'][0]['id']}") == b"made"


def test_a_program_that_ends_with_a_status_says_so(current):
    assert "exit status 3" in current.exec("import sys; sys.exit(3)")["stderr"]
    assert "exit status 3" in current.exec("exit 3", lang="bash")["stderr"]
    ended = current.call("POST", "/exec/programmatic", json={"code": "import sys; sys.exit(3)", "tools": TOOLS}).json()
    assert ended["status"] == "error" and "exit status 3" in ended["error"]


def test_the_current_protocol_tells_inputs_changes_and_results_apart(current):
    kept, changed = current.upload("kept.txt", b"1"), current.upload("changed.txt", b"1")
    result = current.exec("open('changed.txt', 'a').write('2'); open('new.txt', 'w').write('3')", files=[kept, changed])
    files = {one["name"]: one for one in result["files"]}
    assert files["kept.txt"]["inherited"] is True and files["kept.txt"]["id"] == kept["id"]
    assert files["changed.txt"]["modified_from"] == {"id": changed["id"], "storage_session_id": changed["storage_session_id"]}
    assert "inherited" not in files["new.txt"] and files["new.txt"]["storage_session_id"] == result["session_id"]
    assert current.download(current.refs({**result, "files": [files["changed.txt"]]})[0]).content == b"12"
    assert current.download(changed).content == b"1", "an id gives the bytes that it was made for"


def test_both_names_of_a_session_are_in_every_answer(current):
    result = current.call("POST", "/upload", files={"file": ("x", b"")}).json()
    assert result["session_id"] == result["storage_session_id"]
    ran = current.exec("open('y', 'w').close()")
    assert ran["files"][0]["session_id"] == ran["files"][0]["storage_session_id"] == ran["session_id"]


def test_variables_live_on_in_a_session_that_is_named_hinted_or_known_by_its_files(current):
    first = current.exec("x = 41\nopen('made.txt', 'w').close()")
    assert first["runtime_status"] == "new"
    named = current.exec("print(x + 1)", session_id=first["session_id"])
    assert (named["stdout"], named["session_id"], named["runtime_status"]) == ("42\n", first["session_id"], "reused")
    by_files = current.exec("print(x + 2)", files=current.refs(first))
    assert (by_files["stdout"], by_files["session_id"]) == ("43\n", first["session_id"])
    hinted = current.exec("y = 1", runtime_session_hint="conversation-1")
    assert current.exec("print(y)", runtime_session_hint="conversation-1")["session_id"] == hinted["session_id"]
    assert current.exec("print(y)")["stdout"] == "", "another conversation has another session"


def test_an_agents_files_do_not_tie_conversations_together(current):
    shared = current.upload("guide.md", b"# guide", kind="agent", id="agent_1")
    one = current.exec("secret = 1; print(open('guide.md').read())", files=[shared])
    other = current.exec("print('secret' in globals(), open('guide.md').read())", files=[shared])
    assert one["session_id"] != other["session_id"] and other["stdout"] == "False # guide\n"


def test_bash_runs_and_prints_verbatim(current):
    ref = current.upload("notes.txt", b"line 1\n\n\tline 2 no newline")
    result = current.exec("cat /mnt/data/notes.txt", "bash", files=[ref])
    assert result["stdout"] == "line 1\n\n\tline 2 no newline" and result["code"] == 0
    assert current.exec("echo out; echo err >&2; exit 4", "bash")["code"] == 4
    assert current.exec("printf '%s|' \"$@\"", "bash", args=["a b", "it's"])["stdout"] == "a b|it's|"
    assert current.exec("import sys; print(sys.argv[1:])", args=["a b", "\"é"])["stdout"] == "['a b', '\"é']\n"


def test_a_cell_that_prints_nothing_shows_its_value_and_one_that_prints_is_verbatim(current):
    assert current.exec("6 * 7")["stdout"] == "42\n"
    assert current.exec("import sys\nsys.stdout.write('{\"a\": 1}')")["stdout"] == '{"a": 1}'


def test_a_program_that_fails_is_an_answer_and_not_an_error(current):
    result = current.exec("print('before')\n1/0")
    assert result["stdout"] == "before\n" and "ZeroDivisionError" in result["stderr"] and result["code"] == 1
    killed = current.exec("import os, signal\nopen('w.txt', 'w').write('x')\nos.kill(os.getpid(), signal.SIGKILL)")
    assert killed["signal"] and killed["message"] and [one["name"] for one in killed["files"]] == ["w.txt"]


def test_files_that_are_not_kept_are_named_as_code_sees_them(make_server):
    current = Current(f"{make_server('--quota-default-bytes', '2 MiB').url}/librechat/{ROOT_KEY}/v1")
    stderr = current.exec("import os\n_ = open('b.bin', 'wb').write(os.urandom(3_000_000))")["stderr"]
    assert "not kept: /mnt/data/b.bin: " in stderr and "sessions/" not in stderr, stderr


def test_figures_come_as_files(current):
    result = current.exec("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nplt.savefig('saved.png')")
    for ref in current.refs(result):
        assert current.download(ref).content[:4] == b"\x89PNG"
    assert "saved.png" in [one["name"] for one in result["files"]] and len(result["files"]) == 2


@pytest.mark.parametrize("lang", ["js", "rs", "r", "", "cobol"])
def test_other_languages_are_refused_by_name(current, lang):
    assert current.exec("x", lang, 400)["error"] == f"Unsupported language: {lang}"


def test_every_detail_of_a_listing(current):
    session = current.exec("import os; os.mkdir('d'); open('d/a.tar.gz', 'w').write('xy')")["session_id"]
    file = current.call("GET", f"/files/{session}", params={"detail": "normalized"}).json()[0]
    assert file["name"] == "d/a.tar.gz" and file["storage_session_id"] == session and file["size"] == 2
    name = f"{session}/{file['id']}.gz"
    assert current.call("GET", f"/files/{session}").json() == [name]
    assert {k: current.call("GET", f"/files/{session}", params={"detail": "summary"}).json()[0][k] for k in ("name", "size")} == {"name": name, "size": 2}
    full = current.call("GET", f"/files/{session}", params={"detail": "full"}).json()[0]
    assert full["metadata"]["original-filename"] == "d/a.tar.gz" and full["contentType"] == full["metadata"]["content-type"]
    assert current.call("GET", f"/sessions/{session}/objects").json() == [file]
    current.call("GET", f"/files/{session}", 400, params={"detail": "everything"})
    current.call("GET", "/files/" + "A" * 21, 404)


def test_a_batch_takes_what_it_can_and_tells_of_each_file(current):
    form = [("kind", (None, "skill")), ("id", (None, "s1")), ("version", (None, "3")), ("read_only", (None, "true"))]
    files = [("file", ("pptx/editing.md", b"edit")), ("file", ("../evil", b"x")), ("file", ("pptx/__init__.py", b""))]
    result = current.call("POST", "/upload/batch", files=form + files).json()
    assert (result["message"], result["succeeded"], result["failed"]) == ("partial_success", 2, 1)
    assert [one["status"] for one in result["files"]] == ["success", "error", "success"]
    assert [one["filename"] for one in result["files"]] == ["pptx/editing.md", "../evil", "pptx/__init__.py"] and result["files"][1]["error"]
    everything = current.call("POST", "/upload/batch", files=form + [("file", ("fine", b"1"))]).json()
    assert (everything["message"], everything["failed"]) == ("success", 0)
    nothing = current.call("POST", "/upload/batch", 400, files=form + [("file", ("..", b"1"))]).json()
    assert (nothing["message"], nothing["succeeded"]) == ("error", 0)
    current.call("POST", "/upload/batch", 400, files=form)
    skill = [current.ref(result["storage_session_id"], one["fileId"], one["filename"], kind="skill") for one in result["files"] if one["status"] == "success"]
    assert current.probe(skill[0]).json()["readOnly"] is True
    ran = current.exec("open('pptx/editing.md', 'a').write('more'); open('own.txt', 'w').close()", files=skill)
    assert "own.txt" in [one["name"] for one in ran["files"]]
    assert [one for one in ran["files"] if one["name"] == "pptx/editing.md" and not one.get("inherited")] == [], "a skill's files are not results"


def test_a_session_that_only_looks_like_an_upload_is_not_read_only(server, current):
    made = requests.post(server.url + "/api/v1/sessions", headers={"Authorization": f"Bearer {ROOT_KEY}"}, json={"labels": {"librechat_upload": "text"}},
                         timeout=60).json()
    number, alphabet = int(made["id"].removeprefix("s_"), 16), string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
    session = "".join(alphabet[number >> 6 * at & 63] for at in reversed(range(21)))
    file = {"id": "A" * 21, "storage_session_id": session, "name": "x.txt", "kind": "user"}
    assert current.exec("print(1)", files=[file])["stdout"].endswith("1\n")


def test_a_deleted_file_is_gone_under_both_addresses_of_deletion(current):
    for address in ("/sessions/{}/objects/{}", "/files/{}/{}"):
        ref = current.upload("x.txt", b"1")
        gone = current.call("DELETE", address.format(ref["storage_session_id"], ref["id"]), params=Current.WHO).json()
        assert gone["session_id"] == ref["storage_session_id"] and gone["fileId"] == ref["id"] and gone["message"]
        assert current.probe(ref, 404).json()["error"] == "File not found"
        assert current.download(ref, expected=404).json()["error"] == "File not found"
        assert current.call("GET", f"/files/{ref['storage_session_id']}").json() == []
        current.call("DELETE", address.format(ref["storage_session_id"], ref["id"]), 404)


def test_a_deleted_file_is_not_brought_into_a_run_and_its_permanent_link_serves_on(current):
    made = current.exec("open('made.txt', 'w').write('kept')")
    file, = current.refs(made)
    current.call("DELETE", f"/files/{file['storage_session_id']}/{file['id']}")
    assert current.exec("import os; print(os.listdir('.'))", session_id=made["session_id"])["stdout"] == "[]\n"
    later = current.exec("import os; print(os.listdir('.'))", files=[file], runtime_session_hint="after the deletion")
    assert later["stdout"] == "[]\n" and "made.txt" in later["stderr"], "a file that could not be brought is named"
    link = made["files"][0]["link"]
    assert requests.get(link, headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=60).text == "kept"


def test_deleting_an_older_id_takes_away_that_id_and_nothing_else(current):
    first = current.exec("open('a.txt', 'w').write('one')")
    second = current.exec("open('a.txt', 'w').write('two'); import os; os.rename('a.txt', 'b.txt')", session_id=first["session_id"])
    old, new = current.refs(first)[0], current.refs(second)[0]
    current.call("DELETE", f"/sessions/{old['storage_session_id']}/objects/{old['id']}")
    current.download(old, expected=404)
    assert current.download(new).text == "two"
    assert current.exec("print(open('b.txt').read())", session_id=first["session_id"])["stdout"] == "two\n"


def test_without_a_sandbox_files_are_listed_served_and_deleted_and_only_running_is_refused(make_server):
    server = make_server()
    client = Current(f"{server.url}/librechat/{ROOT_KEY}/v1")
    uploaded = client.upload("in.txt", b"uploaded")
    ran = client.exec("open('out.txt', 'w').write('made')")
    made, = client.refs(ran)
    server.stop()
    server.environment["SANDKEEP_SANDBOX"] = "off"
    server.start()
    assert [client.download(ref).text for ref in (uploaded, made)] == ["uploaded", "made"]
    assert client.download(made, expected=206, headers={"Range": "bytes=1-2"}).text == "ad"
    assert [one["name"] for one in client.call("GET", f"/files/{ran['session_id']}", params={"detail": "normalized"}).json()] == ["out.txt"]
    assert client.probe(uploaded).json()["size"] == 8
    client.call("DELETE", f"/files/{made['storage_session_id']}/{made['id']}")
    client.download(made, expected=404)
    for method, path, body in (("POST", "/exec", {"lang": "py", "code": "1"}), ("POST", "/exec/programmatic", {"code": "1", "tools": TOOLS})):
        assert "--sandbox=off" in client.call(method, path, 503, json=body).json()["error"]
    assert "--sandbox=off" in client.call("POST", "/upload", 503, files={"file": ("x", b"")}).json()["error"]


def test_downloads_stream_take_ranges_and_tell_type_and_name(current):
    data = random.Random(3).randbytes(3 << 20)
    ref = current.upload("große Zahlen.bin", data)
    whole = current.download(ref)
    assert whole.content == data and whole.headers["Accept-Ranges"] == "bytes"
    assert "filename*=UTF-8''gro%C3%9Fe%20Zahlen.bin" in whole.headers["Content-Disposition"]
    part = current.download(ref, expected=206, headers={"Range": "bytes=-5"})
    assert part.content == data[-5:]
    assert current.download(ref, expected=416, headers={"Range": "bytes=9999999-"}).json()["error"]
    missing = current.call("GET", f"/download/{ref['storage_session_id']}/{'A' * 21}", 404).json()
    assert missing["error"] == "File not found" and missing["details"]


# Programmatic tool calls.

TOOLS = [{"name": "get-weather", "description": "Weather of a city", "parameters": {"type": "object", "properties": {
    "city": {"type": "string"}, "unit": {"type": "string"}}, "required": ["city"]}}, {"name": "add", "parameters": {
        "type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}}]


def talk(client, code, answer_of, expected_rounds, **fields):
    """As the client does: runs the tools that are asked for until there is an end."""
    answer = client.call("POST", "/exec/programmatic", json={"code": code, "tools": TOOLS, "timeout": 60000, **fields}).json()
    rounds = []
    while answer["status"] == "tool_call_required":
        rounds.append([(one["name"], one["input"]) for one in answer["tool_calls"]])
        results = [{"call_id": one["id"], **answer_of(one["name"], one["input"])} for one in answer["tool_calls"]]
        answer = client.call("POST", "/exec/programmatic", json={"continuation_token": answer["continuation_token"], "tool_results": results}).json()
    assert rounds == expected_rounds
    return answer


def test_code_calls_the_clients_tools_and_goes_on_where_it_was(current):
    code = "open('once.txt', 'a').write('ran ')\nfirst = await get_weather('Oslo', unit='C')\nprint(first['t'])\nprint(await add(a=first['t'], b=2))"
    answer = talk(current, code, lambda name, given: {"result": {"t": 5} if name == "get-weather" else given["a"] + given["b"], "is_error": False},
                  [[("get-weather", {"city": "Oslo", "unit": "C"})], [("add", {"a": 5, "b": 2})]])
    assert answer["status"] == "completed" and answer["stdout"] == "5\n7\n", answer
    assert [one["name"] for one in answer["files"]] == ["once.txt"]
    assert current.exec("print(open('once.txt').read(), first)", session_id=answer["session_id"])["stdout"] == "ran  {'t': 5}\n", "nothing ran twice"


def test_calls_that_are_made_at_once_go_out_together(current):
    code = "import asyncio\nprint(await asyncio.gather(*(add(n, 1) for n in range(5))))"
    answer = talk(current, code, lambda name, given: {"result": given["a"] + given["b"], "is_error": False},
                  [[("add", {"a": n, "b": 1}) for n in range(5)]])
    assert answer["stdout"] == "[1, 2, 3, 4, 5]\n"


def test_a_tool_that_fails_raises_in_the_code(current):
    code = "try:\n    await add(1, 2)\nexcept ToolExecutionError as error:\n    print('caught', error)\nawait add(3, 4)"
    answer = talk(current, code, lambda name, given: {"is_error": True, "error_message": "no such sum", "result": None},
                  [[("add", {"a": 1, "b": 2})], [("add", {"a": 3, "b": 4})]])
    assert answer["status"] == "error" and answer["error"] == "ToolExecutionError: no such sum"
    assert answer["stdout"] == "caught no such sum\n" and "ToolExecutionError" in answer["stderr"]


def test_a_traceback_counts_the_lines_that_the_client_sent(current):
    answer = talk(current, "x = 1\n1 / 0", None, [])
    assert answer["error"] == "ZeroDivisionError: division by zero" and "line 2" in answer["stderr"], answer
    assert "sandkeep_runtime" not in answer["stderr"]
    answer = talk(current, "\n \nx = await add(1, 2)\n1 / 0\n", lambda name, given: {"result": 3, "is_error": False}, [[("add", {"a": 1, "b": 2})]])
    assert "line 4" in answer["stderr"], answer


def test_a_shell_script_calls_the_clients_tools(current):
    code = "w=$(get_weather '{\"city\": \"Oslo\"}')\necho \"w=$w\"; echo ran >> once.txt\nif ! add '{\"a\": 1, \"b\": 2}'; then echo failed; fi; add 'not json'; exit 3"
    answer = talk(current, code, lambda name, given: {"result": {"t": 5}, "is_error": False} if name == "get-weather" else
                  {"is_error": True, "error_message": "no sums", "result": None},
                  [[("get-weather", {"city": "Oslo"})], [("add", {"a": 1, "b": 2})]], lang="bash")
    assert answer["stdout"] == 'w={"t": 5}\nfailed\n' and answer["stderr"].startswith("no sums\n") and "JSON object" in answer["stderr"]
    assert answer["status"] == "error" and answer["code"] == 3
    assert [one["name"] for one in answer["files"]] == ["once.txt"]
    at_once = talk(current, "add '{\"a\": 1, \"b\": 1}' > 1.out & add '{\"a\": 1, \"b\": 1}' > 2.out & wait; cat 1.out 2.out",
                   lambda name, given: {"result": "two", "is_error": False}, [[("add", {"a": 1, "b": 1})] * 2], lang="bash", session_id=answer["session_id"])
    assert (at_once["status"], at_once["stdout"]) == ("completed", "twotwo")


def test_lines_of_a_shell_script_count_as_sent(current):
    answer = talk(current, "echo $LINENO\necho $LINENO\nnot-a-command", None, [], lang="bash")
    assert answer["stdout"] == "1\n2\n" and "line 3" in answer["stderr"], answer


def test_tools_are_there_for_one_call_only(current):
    def run(code, **fields):
        return talk(current, code, None, [], session_id=session, **fields)["stdout"]

    session = current.exec("add = 42")["session_id"]
    tools = [{"name": "add"}, {"name": "open"}]
    assert run("print(callable(add)); get = 1; ToolExecutionError", tools=tools) == "True\n"
    assert current.exec("print(add, open('x', 'w').write('y'), 'ToolExecutionError' in globals())", session_id=session)["stdout"] == "42 1 False\n"
    assert run("add = 'mine'", tools=tools) == ""
    assert current.exec("print(add)", session_id=session)["stdout"] == "mine\n", "what code assigns stays"
    current.exec("add() { printf mine; }", lang="bash", session_id=session)
    assert run("type -t add open", lang="bash", tools=tools) == "function\nfunction\n"
    assert current.exec("add; type -t open __sandkeep_tool || echo none", lang="bash", session_id=session)["stdout"] == "minenone\n"


@pytest.mark.parametrize("name", ["echo", "printf", "read", "cat", "test", "mktemp", "rm", "["])
def test_a_shell_tool_may_have_the_name_of_a_builtin(current, name):
    function = "tool" if name == "[" else name
    answer = talk(current, f"x=$({function} '{{\"a\": 1}}')\nbuiltin echo \"got $x\"", lambda *_: {"result": "it", "is_error": False},
                  [[(name, {"a": 1})]], lang="bash", tools=[{"name": name}])
    assert answer["stdout"] == "got it\n", answer


def test_two_tools_of_one_name_are_refused(current):
    for lang, names in (("python", ("a-b", "a_b")), ("bash", ("a.b", "a b")), ("python", ("if", "if_tool"))):
        tools = [{"name": name} for name in names]
        refused = current.call("POST", "/exec/programmatic", 400, json={"code": "1", "lang": lang, "tools": tools}).json()
        assert all(name in str(refused) for name in names), refused
    for lang in ("python", "bash"):
        current.call("POST", "/exec/programmatic", 400, json={"code": "1", "lang": lang, "tools": [{"name": "same"}, {"name": "same"}]})


def test_a_continuation_is_taken_once_and_only_by_whom_it_belongs_to(server, current):
    asked = current.call("POST", "/exec/programmatic", json={"code": "print(await add(1, 2))", "tools": TOOLS}).json()
    results = {"continuation_token": asked["continuation_token"], "tool_results": [{"call_id": asked["tool_calls"][0]["id"], "result": 3, "is_error": False}]}
    LibreChat(f"{server.url}/librechat/{stranger_key(server)}/v1").call("POST", "/exec/programmatic", 404, json=results)
    assert current.call("POST", "/exec/programmatic", json=results).json()["stdout"] == "3\n"
    assert current.call("POST", "/exec/programmatic", json=results).json()["status"] == "completed", "asked again, it tells the end again"
    for token in ("x", "", "a.b.c", asked["continuation_token"] + "9"):
        current.call("POST", "/exec/programmatic", 400, json={"continuation_token": token, "tool_results": []})


def test_repeated_results_of_earlier_calls_do_not_answer_later_ones(current):
    def go_on(asked, value, status=200):
        results = [{"call_id": one["id"], "result": value, "is_error": False} for one in asked["tool_calls"]]
        return current.call("POST", "/exec/programmatic", status, json={"continuation_token": asked["continuation_token"], "tool_results": results}).json()

    first = current.call("POST", "/exec/programmatic", json={"code": "a = await add(1, 2)\nb = await add(3, 4)\nprint(a, b)", "tools": TOOLS}).json()
    second = go_on(first, 3)
    assert second["status"] == "tool_call_required"
    go_on(first, 3, 409)
    assert go_on(second, 7)["stdout"] == "3 7\n"


def test_code_that_waits_for_tools_too_long_ends_by_its_time_out(current):
    asked = current.call("POST", "/exec/programmatic", json={"code": "await add(1, 2)", "tools": TOOLS, "timeout": 1000}).json()
    session = asked["session_id"]
    assert current.exec("print('after it')", session_id=session)["stdout"] == "after it\n", "runs when the one before it has ended"
    late = current.call("POST", "/exec/programmatic", json={"continuation_token": asked["continuation_token"], "tool_results": []}).json()
    assert late["status"] == "error" and late["error"]


def test_programmatic_calls_need_code_and_tools(current):
    for body in ({"tools": TOOLS}, {"code": "1"}, {"code": "1", "tools": []}, {"code": "1", "tools": [{}]}, {"code": "1", "tools": TOOLS, "lang": "js"}):
        assert current.call("POST", "/exec/programmatic", 400, json=body).json()["error"]


# Who is asking; more in test_librechat_tokens.py.


def stranger_key(server):
    admin = {"Authorization": f"Bearer {ROOT_KEY}"}
    made = requests.post(server.url + "/api/v1/principals", headers=admin, json={"name": f"stranger-{random.random()}", "kind": "person"}, timeout=60).json()
    return requests.post(server.url + "/api/v1/keys", headers=admin, json={"name": "k", "principal_id": made["id"]}, timeout=60).json()["secret"]


def test_a_key_in_a_header_or_in_the_address_is_taken(server):
    for client in (LibreChat(server.url + "/librechat/v1", {"X-API-Key": ROOT_KEY}), LibreChat(server.url + "/librechat/v1", {"Authorization": f"Bearer {ROOT_KEY}"}),
                   LibreChat(f"{server.url}/librechat/{ROOT_KEY}/v1")):
        assert client.exec("print(1)")["stdout"] == "1\n"


def test_without_a_valid_key_every_call_answers_401_in_librechats_shape(server):
    some = "A" * 21
    calls = [("POST", "/exec"), ("POST", "/exec/programmatic"), ("POST", "/upload"), ("POST", "/upload/batch"), ("GET", f"/download/{some}/{some}"),
             ("GET", f"/files/{some}"), ("GET", f"/sessions/{some}/objects"), ("GET", f"/sessions/{some}/objects/{some}"),
             ("DELETE", f"/files/{some}/{some}"), ("DELETE", f"/sessions/{some}/objects/{some}")]
    for client in (LibreChat(server.url + "/librechat/v1"), LibreChat(server.url + "/librechat/v1", {"X-API-Key": "wrong"}),
                   LibreChat(server.url + "/librechat/wrong-key/v1")):
        for method, path in calls:
            body = client.call(method, path, 401).json()
            assert isinstance(body["error"], str) and body["details"]
        assert client.call("GET", "/health").json() == {"status": "ok"}
        assert isinstance(client.call("GET", "/nowhere", 404).json()["error"], str)


def test_a_key_in_the_address_is_never_logged(server, current):
    current.exec("1")
    LibreChat(f"{server.url}/librechat/a-key-that-is-wrong/v1").call("POST", "/exec", 401)
    log = server.log()
    assert "/librechat/{key}/v1/exec" in log
    assert ROOT_KEY not in log and "a-key-that-is-wrong" not in log


def test_sessions_and_files_of_others_do_not_exist(server, current):
    ref = current.upload("private.txt", b"mine")
    ran = current.exec("x = 1; open('o.txt', 'w').close()")
    stranger = Current(f"{server.url}/librechat/{stranger_key(server)}/v1")
    stranger.call("GET", f"/download/{ref['storage_session_id']}/{ref['id']}", 404)
    stranger.call("GET", f"/files/{ref['storage_session_id']}", 404)
    stranger.probe(ref, 404)
    stranger.call("DELETE", f"/files/{ref['storage_session_id']}/{ref['id']}", 404)
    theirs = stranger.exec("import os; print('x' in globals(), os.listdir('.'))", session_id=ran["session_id"], files=[ref])
    assert theirs["session_id"] != ran["session_id"] and theirs["stdout"] == "False []\n"
    assert "private.txt" in theirs["stderr"], "a file that could not be brought is named"


# No request gives a 5xx.


def test_no_request_gives_a_5xx(current):
    seed = random.SystemRandom().randrange(1 << 32)
    print("seed", seed)
    dice = random.Random(seed)
    session = current.exec("1")["session_id"]

    def text():
        return dice.choice(["", "x", "é", "..", "\x00", "%00", "A" * 21, session, "a" * 300, "".join(dice.choices(string.printable, k=dice.randrange(40)))])

    def value():
        return dice.choice([None, True, -1, 2**63, 1e300, text(), [text()], {"a": text()}, [], {}, [{"id": text(), "session_id": text(), "name": text()}], [{"id": 5}]])

    names = ["lang", "code", "args", "session_id", "files", "runtime_session_hint", "tools", "timeout", "continuation_token", "tool_results", "odd"]
    for _ in range(400):
        method = dice.choice(["GET", "POST", "DELETE", "PUT"])
        path = dice.choice(["/exec", "/exec/programmatic", "/upload", "/upload/batch", "/download", "/files", "/sessions", "/health"])
        path += "".join("/" + dice.choice([session, "objects", urllib.parse.quote(text(), safe="")]) for _ in range(dice.randrange(4)))
        fields = {dice.choice(names): value() for _ in range(dice.randrange(6))}
        if dice.random() < 0.5:
            fields.update(lang="py", code=dice.choice(["1", "", "\x00", "print("]))
        body = dice.choice([None, b"", b"{", b"\xff", b"--x\r\n", json.dumps(value()).encode(), json.dumps(fields).encode(), json.dumps(fields).encode()])
        kind = dice.choice(["application/json", "application/json", "multipart/form-data; boundary=x", "text/plain"])
        answer = requests.request(method, current.base + path, params={dice.choice(["detail", "kind", "id", "odd"]): text()}, data=body,
                                  headers={"Content-Type": kind}, timeout=60)
        assert answer.status_code < 500, (seed, method, path, body, answer.text)
        if answer.status_code >= 400:
            assert isinstance(answer.json()["error"], str), answer.text


def test_ids_have_21_characters(current):
    result = current.exec("open('a', 'w').close()")
    assert ID.match(result["session_id"]) and ID.match(result["files"][0]["id"])
