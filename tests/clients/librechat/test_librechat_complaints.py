"""Complaints of LibreChat's users that concern its interpreter, as the project's acceptance cases have them: each a test."""

import pytest

from librechat import Current, Legacy
from sandkeep_server import ROOT_KEY


def test_complaint_librechat_7329_an_attached_file_is_there_after_a_restart_and_in_later_runs(make_server):
    """danny-avila/LibreChat #7329: an agent's pptx works on day 1, and is ENOENT on the next."""
    server = make_server()
    client = Current(f"{server.url}/librechat/{ROOT_KEY}/v1")
    ref = client.upload("template.pptx", b"PK fake")
    first = client.exec("print(len(open('template.pptx', 'rb').read()))", files=[ref])
    server.kill()
    server.start()
    assert client.exec("print(len(open('template.pptx', 'rb').read()))", files=[ref])["stdout"] == "7\n"
    again = client.exec("print(open('template.pptx', 'rb').read())", session_id=first["session_id"])
    assert again["stdout"] == "b'PK fake'\n"


def test_complaint_librechat_11362_an_output_can_be_downloaded_forever(make_server):
    """danny-avila/LibreChat PR #11362: addresses of outputs died after 24 hours."""
    server = make_server("--session-idle-s", "10")
    client = Current(f"{server.url}/librechat/{ROOT_KEY}/v1")
    result = client.exec("open('r.txt', 'w').write('version 1')")
    client.exec("open('r.txt', 'w').write('version 2'); import os; os.rename('r.txt', 'renamed.txt')", session_id=result["session_id"])
    client.exec("os.remove('renamed.txt')", session_id=result["session_id"])
    server.stop()
    server.start()
    assert client.download(client.refs(result)[0]).text == "version 1"


def test_complaint_librechat_7329_the_freshness_probe_never_says_that_a_kept_file_is_stale(current):
    """LibreChat sends a file again when `lastModified` is older than 23 hours, and so puts an old copy over a newer one."""
    import datetime

    ref = current.upload("a.txt", b"1")
    told = current.probe(ref).json()
    age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(told["lastModified"].replace("Z", "+00:00"))
    assert age < datetime.timedelta(hours=1) and told["originalFilename"] == "a.txt" and told["size"] == 1


def test_complaint_librechat_15443_two_files_of_one_name_are_both_there_now_and_later(current):
    """danny-avila/LibreChat #15443, #15816: two files with one name break all later runs."""
    one, two = current.upload("data.csv", b"first"), current.upload("data.csv", b"second")
    look = "import glob; print(sorted(open(n).read() for n in glob.glob('data*')), sorted(glob.glob('data*')))"
    first = current.exec(look, files=[one, two])
    assert first["stdout"] == "['first', 'second'] ['data (2).csv', 'data.csv']\n"
    later = current.exec(look, session_id=first["session_id"], files=[two, one])
    assert later["stdout"] == first["stdout"], "names are stable from run to run"


def test_complaint_librechat_15443_a_file_that_comes_again_does_not_undo_what_code_did_to_it(current):
    ref = current.upload("data.csv", b"raw")
    first = current.exec("open('data.csv', 'w').write('cleaned')", files=[ref])
    sent_again = current.upload("data.csv", b"raw")
    later = current.exec("print(open('data.csv').read())", session_id=first["session_id"], files=[ref, sent_again])
    assert later["stdout"] == "cleaned\n"


def test_complaint_librechat_7867_and_12975_names_are_the_same_everywhere(current):
    """danny-avila/LibreChat #7867, #12975, LibreCodeInterpreter PR #89: names were refused, or changed without telling the model."""
    for name in ("Übersicht März 2026.xlsx", "销售数据.csv", "a  b (1) [x] & c's.txt", "sub/dir/deep.json"):
        ref = current.upload(name, b"x")
        result = current.exec(f"import os; print(os.path.exists({('/mnt/data/' + name)!r}))", files=[ref])
        assert result["stdout"] == "True\n", name
        assert [one["name"] for one in result["files"]] == [name]
        assert current.probe(ref).json()["originalFilename"] == name


def test_complaint_librecodeinterpreter_86_all_of_several_uploads_survive_every_iteration(legacy):
    """usnavy13/LibreCodeInterpreter #86: only the first of several uploads survives the next iteration."""
    refs = []
    for n in range(3):
        session, _ = legacy.upload(f"part{n}.txt", str(n).encode()).split("/")
        refs += legacy.refs(session)
    look = "print([open(f'part{n}.txt').read() for n in range(3)])"
    result = legacy.exec("open('made.txt', 'w').close()\n" + look, files=refs)
    for _ in range(2):
        refs += [{"session_id": result["session_id"], "id": one["id"], "name": one["name"]} for one in result["files"]]
        result = legacy.exec(look + "\nopen('made.txt', 'a').write('x')", files=refs)
        assert result["stdout"] == "['0', '1', '2']\n"


@pytest.mark.parametrize("field", ["session_id", "storage_session_id"])
def test_complaint_librecodeinterpreter_104_files_are_found_under_either_name_of_the_field(current, field):
    """usnavy13/LibreCodeInterpreter #104: session_id was renamed to storage_session_id, and all files became invisible."""
    ref = current.upload("x.txt", b"here")
    old = {field: ref["storage_session_id"], "id": ref["id"], "name": "x.txt"}
    assert current.exec("print(open('x.txt').read())", files=[old])["stdout"] == "here\n"


def test_complaint_agents_274_a_file_of_one_language_is_there_for_the_other(current):
    """LibreChat-AI/agents #274: a file made by one tool is invisible to another."""
    made = current.exec("echo from bash > made.txt", "bash")
    assert current.exec("print(open('made.txt').read())", files=current.refs(made))["stdout"] == "from bash\n\n"


def test_complaint_librechat_14478_a_file_of_an_earlier_conversation_can_be_brought_into_another(current):
    """danny-avila/LibreChat #14478: images of earlier messages are unreachable from the interpreter."""
    earlier = current.exec("open('image.png', 'wb').write(b'png')")
    ref = current.refs(earlier)[0]
    later = current.exec("1", runtime_session_hint="a-new-conversation")
    assert current.exec("print(open('image.png').read())", session_id=later["session_id"], files=[ref])["stdout"] == "png\n"


def test_complaint_librechat_14478_also_when_code_removed_it_there_since(current):
    """A reference to a file of another session that has since been trashed: an id gives its bytes until they are purged."""
    earlier = current.exec("open('image.png', 'wb').write(b'png')")
    for code in ("import os; os.remove('image.png')", "open('image.png', 'w').write('another file')"):
        current.exec(code, session_id=earlier["session_id"])
    later = current.exec("print(open('image.png').read())", files=current.refs(earlier), runtime_session_hint="after it was removed")
    assert later["stdout"] == "png\n" and later["stderr"] == "", later


def test_complaint_open_webui_9614_any_file_in_any_folder_is_a_result(current):
    """open-webui #9614, #27984: files simply lost for ever, unless they are images in one folder."""
    result = current.exec("import os\nos.makedirs('a/b')\nfor n in ('x.parquet', 'a/y.weird', 'a/b/no_extension', '.hidden'): open(n, 'w').write(n)")
    assert {one["name"] for one in result["files"]} == {"x.parquet", "a/y.weird", "a/b/no_extension", ".hidden"}
    for ref in current.refs(result):
        assert current.download(ref).text == ref["name"]


def test_a_session_made_here_is_seen_in_the_other_dialects(server):
    import requests

    client = Legacy(server, ROOT_KEY)
    result = client.exec("open('seen.txt', 'w').write('by all')")
    answer = requests.get(result["files"][0]["link"], headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=60)
    assert answer.text == "by all"
