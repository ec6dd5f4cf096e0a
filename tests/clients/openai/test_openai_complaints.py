"""What people complain about in the interpreters that they use today, one test each. The complaint stands in the docstring, as the project and number
where it was made; the test shows that it cannot be made here."""

import io
import re
import time
import zipfile

import pytest
import requests

from http_api import Api
from sandkeep_server import ROOT_KEY

ROOT = {"Authorization": f"Bearer {ROOT_KEY}"}


def test_expiry_counts_from_the_last_use_not_from_creation(api, container):
    """ResearchHub/researchhub-backend PR #3897: the time of creation was taken for the truth, though use extends it."""
    before = api.get(f"/containers/{container}").json()
    time.sleep(1.1)  # times are told in whole seconds
    api.exec(container, "1")
    after = api.get(f"/containers/{container}").json()
    assert after["created_at"] == before["created_at"] and after["last_active_at"] > before["last_active_at"]


def test_a_file_made_yesterday_is_mounted_into_todays_container(api, container):
    """danny-avila/LibreChat #7329, #14478; openai/openai-cookbook #1780; openai/codex #24084: the file of an earlier session cannot be used again."""
    made = api.exec(container, "_ = open('slides.pptx', 'wb').write(b'slides')")["files"][0]
    api.delete(f"/containers/{container}")
    today = api.container(file_ids=["file-" + made["id"][6:]])
    assert api.exec(today, "print(open('slides.pptx').read())")["outputs"][0]["logs"] == "slides\n"
    api.delete(f"/containers/{today}")


def test_a_cited_file_that_code_removed_can_be_mounted_again(api, container):
    """danny-avila/LibreChat #14478, e2b-dev/E2B #884: what an earlier run made is out of reach of the interpreter, or was deleted by it."""
    cited = api.exec(container, "_ = open('plot.svg', 'w').write('first')")["files"][0]
    api.exec(container, "import os; _ = open('plot.svg', 'w').write('second'); os.remove('plot.svg')")
    back = api.post(f"/containers/{container}/files", {"file_id": cited["id"]})
    assert back["path"] == "/mnt/data/plot.svg" and back["id"] != cited["id"]
    assert api.exec(container, "print(open('plot.svg').read())")["outputs"][0]["logs"] == "first\n"
    # And over what is there now, as its next version.
    api.put(container, "plot.svg", b"third")
    api.post(f"/containers/{container}/files", {"file_id": cited["id"]})
    assert api.exec(container, "print(open('plot.svg').read())")["outputs"][0]["logs"] == "first\n"


def test_files_survive_a_server_that_is_killed(make_server):
    """e2b-dev/E2B #1381, HCF-STUDIOS/openhermit PR #267: the sandbox vanished, and its files with it."""
    one = make_server()
    api = Api(one)
    container = api.container()
    made = api.exec(container, "_ = open('result.csv', 'w').write('1,2')")["files"][0]
    put = api.put(container, "input.csv", b"3,4")
    given = api.give("given.csv", b"5,6")
    one.kill()
    one.start()
    assert [api.content(container, file["id"]).text for file in (made, put)] == ["1,2", "3,4"]
    assert api.get(f"/files/{given['id']}/content").text == "5,6"
    again = api.exec(container, "print(open('result.csv').read(), open('input.csv').read())")
    assert (again["woke"], again["outputs"][0]["logs"]) == (True, "1,2 3,4\n")


def test_a_server_that_was_killed_remembers_when_a_container_was_used(make_server):
    """allisonmorrell/gptbuilder #13: work was lost because the session was taken for one that had timed out."""
    one = make_server()
    api = Api(one)
    container = api.container()
    api.exec(container, "import time; time.sleep(1.1)")
    before = api.get(f"/containers/{container}").json()
    assert before["last_active_at"] > before["created_at"]
    executions = f"{one.url}/api/v1/sessions/s_{container[5:]}/executions"
    deadline = time.monotonic() + 30
    while not any(x["status"] == "done" for x in api.get(executions).json()["items"]):
        assert time.monotonic() < deadline
    one.kill()
    one.start()
    assert api.get(f"/containers/{container}").json() == before


def test_a_citation_without_its_container_is_enough(api, container):
    """microsoft/semantic-kernel #12984, openai/openai-java #490: the citation lacks the container's id, or the file's name."""
    cited = api.exec(container, "_ = open('cited.txt', 'w').write('x')")["files"][0]
    found = api.get(f"/files/{cited['id']}").json()
    assert (found["filename"], found["purpose"]) == ("cited.txt", "assistants_output")
    assert api.get(f"/files/{cited['id']}/content").text == "x"


def test_a_name_keeps_its_extension_and_its_type(api, container):
    """openai/openai-dotnet PR #792: everything was saved as .xlsx; lencx/ChatGPT #1615: a spreadsheet was opened as text."""
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    for name, content, kind in [("table.xlsx", book.getvalue(), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
                                ("chart.png", b"\x89PNG\r\n\x1a\n", "image/png"), ("data.csv", b"a,b\n", "text/csv"), ("page.html", b"<p>", "text/html")]:
        file = api.put(container, name, content)
        answer = api.content(container, file["id"])
        assert answer.headers["Content-Type"].split(";")[0] == kind
        assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'


def test_every_link_that_is_given_out_can_be_fetched(api, container):
    """Wide-Moat/open-computer-use PR #361: every link was a 404, because the tests never fetched one."""
    ran = api.exec(container, "for name in ('a b.txt', 'ü.txt', '数据.csv', '100%.txt', '#1?.txt'):\n    _ = open(name, 'w').write(name)")
    given = api.give("é #?%.txt", b"given")
    links = {file["link"]: file["path"].split("/")[-1] for file in ran["files"] + api.files(container)}
    links[given["link"]] = "given"
    assert len(links) == 6
    for link, content in links.items():
        answer = requests.get(link, headers=ROOT, timeout=30)
        assert (answer.status_code, answer.content.decode()) == (200, content), link


def test_links_are_absolute_and_begin_with_the_public_address(make_server):
    """langgenius/dify #23952, #22117: links with the wrong host."""
    api = Api(make_server("--public-url", "https://files.example.org"))
    file = api.give("a.txt", b"x")
    assert file["link"].startswith("https://files.example.org/k/")
    assert api.get(api.server.url + file["link"].removeprefix("https://files.example.org")).text == "x"


def test_two_files_of_one_name_break_nothing(api, container):
    """danny-avila/LibreChat #15443, #15816: "Conflicting input destinations", and all later runs fail."""
    first, second = api.give("report.csv", b"one"), api.give("report.csv", b"two")
    both = api.container(file_ids=[first["id"], second["id"]])
    assert api.exec(both, "import os; print(sorted((n, open(n).read()) for n in os.listdir('.')))")["outputs"][0]["logs"] == \
        "[('report (2).csv', 'two'), ('report.csv', 'one')]\n"
    api.delete(f"/containers/{both}")
    # Into one that has it already, it is the next version: the name stays, and the old id its bytes.
    old, new = api.put(container, "report.csv", b"old"), api.put(container, "report.csv", b"new")
    assert old["path"] == new["path"] and [file["id"] for file in api.files(container)] == [new["id"]]
    assert [api.content(container, file["id"]).text for file in (old, new)] == ["old", "new"]


@pytest.mark.parametrize("name", ["with spaces.csv", "Résumé é.csv", "e\u0301 decomposed.csv", "数据分析.csv", "🎉.csv", "(1) [2] {3}.csv", "semi;colon=.csv"])
def test_a_name_is_the_same_everywhere(api, container, name):
    """danny-avila/LibreChat #7867, #12975, #12977, KubeCodeRun PR #32: names are refused, or differ from the one that the model was told."""
    file = api.put(container, name, b"x")
    assert file["path"] == f"/mnt/data/{name}"
    assert api.exec(container, "import os; print(os.listdir('.'))")["outputs"][0]["logs"] == f"{[name]!r}\n"
    assert api.files(container)[0]["path"] == f"/mnt/data/{name}"
    assert api.get(f"/files/{file['id']}").json()["filename"] == name


def test_all_of_several_uploads_are_there_in_every_later_run(api, container):
    """usnavy13/LibreCodeInterpreter #86: only the first of several uploads survives the next run."""
    for name in "abc":
        api.put(container, f"{name}.txt", name.encode())
    for _ in range(3):
        assert api.exec(container, "import os; print(sorted(os.listdir('.')))")["outputs"][0]["logs"] == "['a.txt', 'b.txt', 'c.txt']\n"
    api.put(container, "d.txt", b"d")
    assert api.exec(container, "print(open('d.txt').read())")["outputs"][0]["logs"] == "d\n"


def test_outputs_of_any_kind_in_any_folder_are_kept(api, container):
    """open-webui #9614, #27984, PR #17580 and #21394; EtiennePerot/safe-code-execution #4, #16: files "simply lost forever" unless they are images in one folder."""
    ran = api.exec(container, "import os\nos.makedirs('a/b/c/.hidden', exist_ok=True)\nnames = ['x', '.dot', 'a/b/c/deep.bin', 'a/b/c/.hidden/y.unknown', 'empty']\n"
                              "for name in names:\n    with open(name, 'wb') as out: out.write(b'' if name == 'empty' else os.urandom(10))")
    assert {file["path"] for file in ran["files"]} == {f"/mnt/data/{n}" for n in ("x", ".dot", "a/b/c/deep.bin", "a/b/c/.hidden/y.unknown", "empty")}
    assert {file["id"] for file in api.files(container)} == {file["id"] for file in ran["files"]}


def test_an_upload_is_there_in_the_very_first_cell(api, container):
    """anthropics/anthropic-sdk-python #1439, langchain-ai/langchain-azure #256: an upload is silently ignored while nothing runs."""
    api.put(container, "early.txt", b"early")
    assert api.exec(container, "print(open('early.txt').read())")["outputs"][0]["logs"] == "early\n"


def test_a_file_over_the_limit_is_refused_with_the_limit(make_server):
    """buhlergroup/buhler-chat #113: 512 MB were advertised, and dropped in silence at 10 MB."""
    api = Api(make_server("--file-bytes-max", "1 MiB"))
    container = api.container()
    for path, options in [("/files", {"data": {"purpose": "batch"}}), (f"/containers/{container}/files", {})]:
        error = api.error("POST", path, 413, files={"file": ("big.bin", b"x" * ((1 << 20) + 1))}, **options)
        assert re.search(r"1(\.0)? MiB", error["message"])
    assert api.error("POST", "/uploads", 413, json={"filename": "b", "purpose": "batch", "bytes": (1 << 20) + 1, "mime_type": "text/plain"})["param"] == "bytes"
    assert api.files(container) == [] and api.get("/files").json()["data"] == []


def test_a_big_table_arrives_whole(api, container):
    """FlowiseAI/Flowise #3952: a big CSV was put into the prompt as text, and cut."""
    rows = b"".join(b"%d,%d\n" % (n, n * n) for n in range(1_000_000))
    api.put(container, "big.csv", rows)
    assert api.exec(container, "print(sum(1 for _ in open('big.csv')))")["outputs"][0]["logs"] == "1000000\n"


def test_output_that_is_too_long_is_kept_as_a_file(api, container):
    """open-webui PR #26011 and others: what does not fit into the answer is lost."""
    ran = api.exec(container, "for i in range(400_000): print(i)")
    assert [file["path"] for file in ran["files"]] == ["/mnt/data/outputs/1-output.txt"]
    assert "'/mnt/data/outputs/1-output.txt'" in ran["outputs"][-1]["logs"]
    assert api.content(container, ran["files"][0]["id"]).text.endswith("399999\n")


def test_a_container_is_found_at_once_and_at_every_address(api, container):
    """microsoft/agent-framework #3081, #7598: "container not found" within two minutes, or 500 for its files, depending on the address."""
    made = api.exec(container, "_ = open('a.txt', 'w').write('x')")["files"][0]["id"]
    for base in ("/v1", "/openai/v1", "/openai", "/api/projects/p/openai/v1", "/api/projects/p", "/api/projects/p/agents/a/endpoint/protocols/openai"):
        there = Api(api.server, base)
        assert there.get(f"/containers/{container}").json()["id"] == container
        assert there.files(container)[0]["id"] == made
        assert there.content(container, made).text == "x"


def test_containers_of_one_name_share_nothing(api):
    """Names are for people; two teams that choose the same one must not meet."""
    one, other = api.container(name="analysis"), api.container(name="analysis")
    api.put(one, "secret.txt", b"x")
    assert api.files(other) == []
    assert api.exec(other, "import os; print(os.listdir('.'))")["outputs"][0]["logs"] == "[]\n"
    for made in (one, other):
        api.delete(f"/containers/{made}")


def test_a_session_of_another_dialect_is_a_container_here(api):
    """LibreChat-AI/agents #274: a file made by one tool is invisible to another."""
    rest = api.server.url + "/api/v1/sessions"
    session = requests.post(rest, json={"name": "made by REST"}, headers=ROOT, timeout=30).json()
    requests.post(f"{rest}/{session['id']}/executions", json={"code": "_ = open('a.txt', 'w').write('x')"}, headers=ROOT, timeout=60)
    container = "cntr_" + session["id"][2:]
    assert api.get(f"/containers/{container}").json()["name"] == "made by REST"
    assert [file["path"] for file in api.files(container)] == ["/mnt/data/a.txt"]
    mine = api.container(name="made here")
    seen = requests.get(f"{rest}/s_{mine[5:]}", headers=ROOT, timeout=30).json()
    assert seen["name"] == "made here"
    for one in (container, mine):
        api.delete(f"/containers/{one}")
