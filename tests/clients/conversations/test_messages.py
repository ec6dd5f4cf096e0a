"""Messages about files of this server's own sessions: stored, matched to versions, read back ready to show."""

import base64
import sqlite3
import struct
import time
import unicodedata
import urllib.parse
import zlib

import pytest

from chat import Chat, anonymous, events, link_target, response


def png(width, height):
    """A real picture, whose bytes do not compress."""
    import random
    random.seed(7)
    rows = b"".join(b"\0" + random.randbytes(3 * width) for _ in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.fixture(scope="module")
def written(server):
    """A session that wrote files with awkward names."""
    chat = Chat(server)
    session = chat.session()
    names = ["report.csv", "my report (final).csv", "résumé.txt", unicodedata.normalize("NFD", "café.txt"), "销售报告.csv", "100%.csv", "out/deep/plot 1.png", "🎉.txt"]
    chat.run(session, "import pathlib\n" + "\n".join(
        f"p = pathlib.Path({name!r}); p.parent.mkdir(parents=True, exist_ok=True); p.write_text({name!r})" for name in names))
    return session, names


SPELLINGS = {
    "as it is": lambda name: name,
    "percent-encoded": urllib.parse.quote,
    "percent-encoded with the slashes": lambda name: urllib.parse.quote(name, safe=""),
    "composed": lambda name: unicodedata.normalize("NFC", name),
    "decomposed": lambda name: unicodedata.normalize("NFD", name),
    "decomposed and percent-encoded": lambda name: urllib.parse.quote(unicodedata.normalize("NFD", name)),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_links_in_any_spelling_lead_to_the_file(chat, written, spelling):
    session, names = written
    for number, name in enumerate(names):
        spelt = SPELLINGS[spelling](name)
        stored = chat.store(f"m{number}", text=f"Here: [the file](sandbox:/mnt/data/{spelt}).", session=session["id"])
        assert not stored["problems"], (name, stored["problems"])
        assert chat.open(link_target(stored["markdown"])).decode() == name
        if " " not in spelt:
            bare = chat.store(f"b{number}", text=f"It is sandbox:/mnt/data/{spelt} now", session=session["id"])
            assert chat.open(link_target(bare["markdown"])).decode() == name, bare


def test_a_link_that_is_written_in_html_is_a_link(chat, written):
    session, _ = written
    stored = chat.store("m", text='Download <a href="sandbox:/mnt/data/report.csv" onclick="x()">report</a> now', session=session["id"])
    link = stored["attachments"][0]["link"]
    assert stored["html"] == f'<p>Download <a href="{link}" rel="noopener noreferrer nofollow">report</a> now</p>\n'


def test_a_message_is_given_back_ready_to_show(chat, written):
    session, _ = written
    text = "# Done\n\n- [the report](sandbox:/mnt/data/report.csv)\n- **bold** <script>alert(1)</script>\n"
    stored = chat.store("m", text=text, role="assistant", session=session["id"], title="Sales")
    assert stored == chat.read("m")
    attachment, = stored["attachments"]
    assert attachment["name"] == "report.csv" and attachment["mime"] == "text/csv" and attachment["size"] == len("report.csv")
    assert stored["text"] == text
    assert stored["markdown"] == text.replace("sandbox:/mnt/data/report.csv", attachment["link"])
    assert f'<a href="{attachment["link"]}"' in stored["html"] and "<h1>Done</h1>" in stored["html"]
    assert "<script>" not in stored["html"] and "&lt;script&gt;" in stored["html"]
    assert chat.get(chat.path, 200).json()["title"] == "Sales"


def test_the_mapping_survives_overwrite_rename_trash_sleep_and_restart(make_server):
    server = make_server()
    chat = Chat(server)
    session = chat.session()
    chat.run(session, "open('result.txt', 'w').write('as shown')")
    chat.store("m", text="[result](sandbox:/mnt/data/result.txt)", session=session["id"])
    chat.run(session, "open('result.txt', 'w').write('overwritten'); import os; os.rename('result.txt', 'other.txt')")
    chat.run(session, "os.remove('other.txt'); open('result.txt', 'w').write('another file')")
    chat.post(f"/api/v1/sessions/{session['id']}/sleep", 200)
    chat.delete(f"/api/v1/sessions/{session['id']}", 204)
    server.kill()
    server.start()
    read = chat.read("m")
    assert chat.open(read["attachments"][0]["link"]) == b"as shown"
    assert chat.open(link_target(read["markdown"])) == b"as shown"


def test_messages_of_the_past_show_files_as_they_were_then(chat):
    session = chat.session()
    first = chat.run(session, "open('a.txt', 'w').write('first')")
    chat.run(session, "open('a.txt', 'w').write('second')")
    then = chat.store("then", text="[a](sandbox:/mnt/data/a.txt)", session=session["id"], time=first["ended_at"])
    now = chat.store("now", text="[a](sandbox:/mnt/data/a.txt)")
    before = chat.store("before", text="[a](sandbox:/mnt/data/a.txt)", time="2020-01-01T00:00:00Z")
    assert chat.open(link_target(then["markdown"])) == b"first"
    assert chat.open(link_target(now["markdown"])) == b"second"
    assert before["problems"][0]["state"] == "missing"
    assert [m["message"] for m in chat.history()] == ["before", "then", "now"]


def test_own_container_ids_pin_the_bytes(chat):
    session = chat.session()
    kept, = chat.run(session, "open('a.txt', 'w').write('first')")["kept"]
    chat.run(session, "open('a.txt', 'w').write('second')")
    container = "cntr_" + session["id"].removeprefix("s_")
    for number, prefix in enumerate(("cfile_", "file-")):
        cited = prefix + kept["version_id"].removeprefix("v_")
        answer = response("[a](sandbox:/mnt/data/a.txt)", container=container, citations=[(cited, "a.txt")])
        for form in ({"response": answer}, {"events": events(answer)}):
            stored = chat.store(f"m{number}", **form)
            assert stored["role"] == "assistant" and stored["response_id"] == "resp_1"
            assert chat.open(link_target(stored["markdown"])) == b"first", form


def test_a_response_names_its_own_session(chat):
    session = chat.session()
    chat.run(session, "open('a.txt', 'w').write('x')")
    answer = response("[a](sandbox:/mnt/data/a.txt)", container="cntr_" + session["id"].removeprefix("s_"))
    assert chat.store("m", response=answer)["attachments"][0]["name"] == "a.txt"


def test_images_in_outputs_become_files_with_thumbnails(chat):
    picture = png(800, 400)
    url = "data:image/png;base64," + base64.b64encode(picture).decode()
    answer = response("See the plot.", outputs=[{"type": "logs", "logs": "1"}, {"type": "image", "url": url}])
    stored = chat.store("m", response=answer)
    image, = stored["attachments"]
    assert image["kind"] == "image" and image["mime"] == "image/png" and image["size"] == len(picture)
    assert chat.open(image["link"]) == picture
    assert image["path"].startswith("conversations/") and f'<img src="{image["link"]}"' in stored["html"]
    small = chat.get(image["thumbnail"], 200)
    assert small.headers["Content-Type"] in ("image/png", "image/jpeg") and 0 < len(small.content) < 65536 < len(picture)
    assert chat.get(image["thumbnail"], 200).content == small.content


def test_a_thumbnail_is_made_before_anybody_asks_also_when_the_server_was_killed_meanwhile(make_server):
    server = make_server()
    chat = Chat(server)

    def made():
        with sqlite3.connect(f"file:{server.data / 'catalog.db'}?mode=ro", uri=True) as db:
            return db.execute("SELECT count(*) FROM thumbnails WHERE bytes IS NOT NULL").fetchone()[0]

    def wait_for(count):
        deadline = time.monotonic() + 60
        while made() < count and time.monotonic() < deadline:
            time.sleep(0.1)
        assert made() == count

    def show(message, size):
        url = "data:image/png;base64," + base64.b64encode(png(size, size)).decode()
        chat.store(message, response=response("See.", outputs=[{"type": "image", "url": url}]))

    show("m", 300)
    wait_for(1)
    show("n", 310)
    server.kill()
    server.start()
    wait_for(2)


def test_what_only_claims_to_be_an_image_has_no_thumbnail(chat):
    url = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\nnot really").decode()
    image, = chat.store("m", response=response("x", outputs=[{"type": "image", "url": url}]))["attachments"]
    chat.error("GET", image["thumbnail"], 404, "not_found")


def test_signed_links_open_for_whoever_has_them(chat, written):
    session, _ = written
    chat.store("m", text="![r](sandbox:/mnt/data/report.csv)", session=session["id"])
    private, signed = chat.read("m"), chat.read("m", "?links=signed")
    assert anonymous(private["attachments"][0]["link"]).status_code == 404
    assert anonymous(signed["attachments"][0]["link"]).text == "report.csv"
    assert anonymous(link_target(signed["markdown"])).text == "report.csv"


def test_files_can_be_shown_beside_the_text(chat, written):
    session, _ = written
    version = chat.put("/api/v1/workspaces/default/files/uploads/input.csv", 201, data=b"1,2").json()["version"]["id"]
    stored = chat.store("m", text="Please look at this.", role="user", files=["uploads/input.csv", version])
    assert [a["name"] for a in stored["attachments"]] == ["input.csv"]
    assert "[input.csv](" in stored["markdown"]
    chat.error("PUT", f"{chat.path}/messages/n", 404, "not_found", json={"text": "x", "files": ["uploads/none.csv"]})


def test_a_purged_file_is_told_as_gone(chat):
    session = chat.session()
    kept, = chat.run(session, "open('a.txt', 'w').write('x')")["kept"]
    chat.store("m", text="[a](sandbox:/mnt/data/a.txt)", session=session["id"])
    chat.delete(f"/api/v1/workspaces/default/files/{kept['path']}", 200)
    assert chat.read("m")["attachments"]
    chat.delete(f"/api/v1/workspaces/default/trash/{kept['file_id']}", 200)
    read = chat.read("m")
    assert not read["attachments"] and read["problems"][0]["reason"] == "gone"
    assert "not captured" in read["markdown"] and "/k/" not in read["markdown"]


def test_conversations_that_show_a_file_are_found_and_deleted_without_it(chat, written):
    session, _ = written
    stored = chat.store("m", text="[r](sandbox:/mnt/data/report.csv)", session=session["id"])
    shown = stored["attachments"][0]

    def names(query):
        return [c["conversation"] for c in chat.get(f"/api/v1/conversations?{query}", 200).json()["items"]]

    assert chat.name in names(f"file_id={shown['file_id']}") and chat.name in names(f"version={shown['version_id']}")
    assert chat.name in names("path=" + urllib.parse.quote(shown["path"])) and chat.name in names("limit=1")
    chat.delete(f"{chat.path}/messages/m", 204)
    assert chat.name not in names(f"file_id={shown['file_id']}")
    chat.delete(chat.path, 204)
    assert chat.open(shown["link"]) == b"report.csv"
    for method, path in (("GET", chat.path), ("DELETE", chat.path), ("GET", chat.path + "/messages"), ("GET", chat.path + "/messages/m")):
        chat.error(method, path, 404, "not_found")


def test_long_histories_come_in_pages(chat):
    for number in range(7):
        chat.store(f"m{number}", text=str(number), time=f"2026-01-01T00:00:{number:02}Z")
    seen, cursor = [], ""
    while True:
        page = chat.get(f"{chat.path}/messages?limit=3{cursor}", 200).json()
        seen += [m["text"] for m in page["items"]]
        if not page["has_more"]:
            break
        cursor = "&cursor=" + page["next_cursor"]
    assert seen == [str(n) for n in range(7)]


def test_a_key_sees_only_the_conversations_of_its_workspaces(chat):
    chat.store("m", text="secret")
    other = chat.post("/api/v1/principals", 201, json={"name": f"reader of {chat.name}", "kind": "person"}).json()
    secret = chat.post("/api/v1/keys", 201, json={"name": "k", "principal_id": other["id"]}).json()["secret"]
    stranger = Chat(chat.server, key=secret)
    stranger.error("GET", chat.path + "/messages/m", 404, "not_found")
    home = chat.get("/api/v1/workspaces/default", 200).json()["id"]
    stranger.error("GET", f"{chat.path}/messages/m?workspace={home}", 404, "not_found")
    Chat(chat.server, key=None).error("GET", chat.path + "/messages/m", 401, "unauthorized")


BAD = [
    ({}, "text"),
    ({"role": "user"}, "text"),
    ({"text": "x", "response": {"output": []}}, "text"),
    ({"response": {"nothing": 1}}, "response"),
    ({"events": "no events"}, "events"),
    ({"text": 7}, "text"),
    ({"text": "x", "unknown": 1}, "unknown"),
    ({"text": "x", "session": "s", "folder": "f"}, "folder"),
    ({"text": "x", "time": "yesterday"}, "time"),
    ({"text": "x", "source": {"kind": "other", "base_url": "https://example.org", "key": "k"}}, "source.kind"),
    ({"text": "x", "source": {"kind": "openai", "base_url": "ftp://example.org", "key": "k"}}, "source.base_url"),
    ({"text": "x", "source": {"kind": "openai", "base_url": "http://example.org", "key": "k"}}, "source.base_url"),
    ({"text": "x", "source": {"kind": "openai", "base_url": "https://u:p@example.org", "key": "k"}}, "source.base_url"),
    ({"text": "x", "source": {"kind": "openai", "base_url": "https://example.org", "key": "a\r\nb"}}, "source.key"),
    ({"text": "x", "source": {"kind": "openai", "base_url": "https://example.org"}}, "source.key"),
]


@pytest.mark.parametrize("body,field", BAD)
def test_what_cannot_be_meant_is_refused_and_named(chat, body, field):
    error = chat.error("PUT", chat.path + "/messages/m", 400, "bad_request", json=body)
    assert error.get("field", error["message"]).find(field) >= 0, error
    chat.error("GET", chat.path + "/messages/m", 404, "not_found")


def test_code_stays_as_it_was_written_but_for_addresses(chat):
    session = chat.session()
    chat.run(session, "open('r.csv', 'w').write('1,2')")
    stored = chat.store("m", session=session["id"], text="```sh\ncurl sandbox:/mnt/data/r.csv\nrm sandbox:/mnt/data/none.csv\n```")
    link = stored["attachments"][0]["link"]
    assert stored["markdown"] == f"```sh\ncurl {link}\nrm sandbox:/mnt/data/none.csv\n```"
    assert [problem["name"] for problem in stored["problems"]] == ["none.csv"]


def test_a_link_by_reference_leads_to_the_file(chat):
    session = chat.session()
    chat.run(session, "open('my chart.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n')")
    stored = chat.store("m", session=session["id"], text="See [the chart][c], ![it][c].\n\n[c]: <sandbox:/mnt/data/my chart.png>")
    link = stored["attachments"][0]["link"]
    assert f'<a href="{link}"' in stored["html"] and f'<img src="{link}"' in stored["html"] and "[c]" not in stored["html"], stored["html"]


def test_an_answer_stands_behind_its_question(chat):
    """A response is complete before it is stored; its question was stored first all the same."""
    chat.store("u1", role="user", text="How much?")
    answer = response("Much.")
    answer["completed_at"] = int(time.time()) - 3
    chat.store("a1", response=answer)
    chat.store("u2", role="user", text="Thanks.")
    assert [message["message"] for message in chat.history()] == ["u1", "a1", "u2"]
