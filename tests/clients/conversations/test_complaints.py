"""What users of other interpreters complain about, as far as messages and their links go. Each test names the complaint that it answers;
those about containers elsewhere are in test_capture.py."""

import base64
import re
import unicodedata

import requests

from chat import Chat, anonymous, events, link_target, response


def container_of(session):
    return "cntr_" + session["id"].removeprefix("s_")


def test_a_file_of_yesterday_is_there_today(make_server):
    """danny-avila/LibreChat #7329: the agent's pptx works on day one, ENOENT the next day. PR #11362: output URLs died after 24 h."""
    server = make_server()
    chat = Chat(server)
    session = chat.session()
    chat.run(session, "open('deck.pptx', 'wb').write(b'slides')")
    link = chat.store("m", text="[deck](sandbox:/mnt/data/deck.pptx)", session=session["id"])["attachments"][0]["link"]
    chat.post(f"/api/v1/sessions/{session['id']}/sleep", 200)
    server.stop()
    server.start()
    assert chat.open(link) == b"slides" and chat.open(chat.read("m")["attachments"][0]["link"]) == b"slides"
    assert chat.run(session, "print(open('deck.pptx').read())")["woke"], "the next run has it as well"


def test_history_stays_readable_when_every_message_has_a_container_of_its_own(chat):
    """openai/codex #24084: a new container for every message; the conversation must be the continuity."""
    for number in range(3):
        session = chat.session()
        chat.run(session, f"open('out.txt', 'w').write('{number}')")
        chat.store(f"m{number}", response=response("[o](sandbox:/mnt/data/out.txt)", container=container_of(session)))
        chat.delete(f"/api/v1/sessions/{session['id']}", 204)
    assert [chat.open(m["attachments"][0]["link"]) for m in chat.history()] == [b"0", b"1", b"2"]


def test_invented_links_are_flagged_and_known_ones_rewritten_also_from_a_stream(chat):
    """openai/openai-agents-python #1489: the model invents `sandbox:/mnt/…` links while streaming."""
    session = chat.session()
    chat.run(session, "open('real.csv', 'w').write('x')")
    answer = response("[real](sandbox:/mnt/data/real.csv) and [not](sandbox:/mnt/data/invented.csv) and [odd](sandbox:/home/x)", container=container_of(session))
    stored = chat.store("m", events=events(answer))
    assert [a["name"] for a in stored["attachments"]] == ["real.csv"]
    assert [(p["name"], p["state"]) for p in stored["problems"]] == [("invented.csv", "missing"), ("x", "missing")]
    assert stored["markdown"].count("/k/") == 1 and "sandbox:" not in stored["markdown"] + stored["html"]


def test_links_are_https_style_addresses_with_the_right_type_and_name(chat):
    """openai/codex #37193, lencx/ChatGPT #1546 and #1615, egoist/chatwise-releases #845: `sandbox:` links dead in clients; an xlsx opened
    as text. openai-assistants-quickstart PR #11: the link just reloads the page."""
    session = chat.session()
    chat.run(session, "import openpyxl; b = openpyxl.Workbook(); b.active['A1'] = 1; b.save('Umsätze 2026.xlsx')")
    stored = chat.store("m", text="[tabelle](sandbox:/mnt/data/Umsätze 2026.xlsx)", session=session["id"])
    answer = chat.get(link_target(stored["markdown"]) + "?download=true", 200)
    assert answer.headers["Content-Type"] == "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    assert "attachment" in answer.headers["Content-Disposition"] and "filename*=UTF-8''Ums%C3%A4tze%202026.xlsx" in answer.headers["Content-Disposition"]


def test_a_percent_encoded_chinese_path_is_downloadable(chat):
    """QwenLM/Qwen3 #1614: percent-encoded Chinese `sandbox:` path, nothing downloadable."""
    session = chat.session()
    chat.run(session, "open('销售数据分析.csv', 'w').write('数据')")
    text = "请下载：[销售数据分析](sandbox:/mnt/data/%E9%94%80%E5%94%AE%E6%95%B0%E6%8D%AE%E5%88%86%E6%9E%90.csv)。"
    stored = chat.store("m", text=text, session=session["id"])
    assert stored["attachments"][0]["name"] == "销售数据分析.csv"
    assert chat.open(link_target(stored["markdown"])).decode() == "数据"


def test_every_minted_link_opens(chat):
    """Wide-Moat/open-computer-use PR #361: every minted link was a 404 because tests pinned the wrong shape."""
    session = chat.session()
    names = ["plain.txt", "sp ace.txt", "100%.txt", "a#b.txt", "what?.txt", "ü.txt", "(1).txt", "[x].txt", "日本.txt"]
    chat.run(session, "\n".join(f"open({name!r}, 'w').write({name!r})" for name in names))
    chat.store("m", text=" ".join(f"[f](<sandbox:/mnt/data/{name}>)" for name in names), session=session["id"])
    for query in ("", "?links=signed"):
        read = chat.read("m", query)
        targets = re.findall(r"\]\((\S+?)\)(?= |$)", read["markdown"])
        shown = [requests.get(target, headers=chat.http.headers if not query else {}, timeout=30).text for target in targets]
        assert shown == names
        hrefs = re.findall(r'href="([^"]+)"', read["html"])
        assert [h.replace("&amp;", "&") for h in hrefs] == targets


def test_links_are_absolute_and_stay_the_same(make_server):
    """langgenius/dify #23952, #22117: links expire early, have the wrong host or no signature."""
    server = make_server("--public-url", "https://files.example.org")
    chat = Chat(server)
    session = chat.session()
    chat.run(session, "open('a.txt', 'w').write('x')")
    link = chat.store("m", text="[a](sandbox:/mnt/data/a.txt)", session=session["id"])["attachments"][0]["link"]
    assert link.startswith("https://files.example.org/k/v_") and link.endswith("/a.txt")
    server.stop()
    server.start()
    assert chat.read("m")["attachments"][0]["link"] == link
    assert chat.read("m", "?links=signed") == chat.read("m", "?links=signed")


def test_one_file_can_be_given_to_somebody_without_a_key(chat):
    """daytonaio/daytona #4522; langchain langsmith-sdk PR #3419: a signed URL for one sandbox file that never expires."""
    session = chat.session()
    chat.run(session, "open('a.txt', 'w').write('x'); open('b.txt', 'w').write('y')")
    chat.store("m", text="[a](sandbox:/mnt/data/a.txt) [b](sandbox:/mnt/data/b.txt)", session=session["id"])
    a, b = (attachment["link"] for attachment in chat.read("m", "?links=signed")["attachments"])
    assert anonymous(a).text == "x"
    signature = a.split("?s=")[1]
    assert anonymous(b.split("?")[0] + "?s=" + signature).status_code == 404, "it opens that one file only"


def test_images_are_shown_inline_and_restored_on_resume(chat):
    """openai-responses-starter-app PR #20, pydantic/pydantic-ai #2391, open-webui PR #26011: generated images not shown. Chainlit #2806:
    attachments empty on resume."""
    session = chat.session()
    chat.run(session, "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.savefig('plot.png')")
    pixel = base64.b64encode(base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")).decode()
    answer = response("![plot](sandbox:/mnt/data/plot.png)", container=container_of(session),
                      outputs=[{"type": "image", "url": f"data:image/gif;base64,{pixel}"}])
    chat.store("m", response=answer)
    resumed = Chat(chat.server)
    resumed.name = chat.name
    read = resumed.read("m", "?links=signed")
    assert [a["mime"] for a in read["attachments"]] == ["image/png", "image/gif"]
    sources = re.findall(r'<img src="([^"]+)"', read["html"])
    assert len(sources) == 2 and all(anonymous(s.replace("&amp;", "&")).status_code == 200 for s in sources)
    for attachment in read["attachments"]:
        small = anonymous(attachment["thumbnail"])
        assert small.status_code == 200 and small.headers["Content-Type"].startswith("image/"), small.text


def test_names_are_the_same_everywhere(chat):
    """danny-avila/LibreChat #12975, #7867: the sanitised name differs from the one told to the model; spaces and accents rejected."""
    session = chat.session()
    for name in ("Bericht – Übersicht (final).csv", unicodedata.normalize("NFD", "Résumé.txt"), "a'b&c.txt"):
        kept, = chat.run(session, f"open({name!r}, 'w').write('x')")["kept"]
        stored = chat.store("m", text=f"[f](<sandbox:/mnt/data/{name}>)", session=session["id"])
        attachment, = stored["attachments"]
        assert attachment["name"] == name and attachment["path"] == kept["path"] and attachment["path"].endswith("/" + name)
        chat.delete(f"{chat.path}/messages/m", 204)


def test_two_files_of_one_name_in_one_conversation_stay_apart(chat):
    """danny-avila/LibreChat #15443, #15816: two files with one name break all later runs."""
    def data(text):
        return "data:text/csv;base64," + base64.b64encode(text).decode()

    for number, content in enumerate((b"first", b"second")):
        part = {"type": "input_file", "filename": "data.csv", "file_data": data(content)}
        chat.store(f"m{number}", response={"role": "user", "content": [{"type": "input_text", "text": "See."}, part]})
    assert [chat.open(m["attachments"][0]["link"]) for m in chat.history()] == [b"first", b"second"]


def test_over_a_limit_is_an_error_that_says_so(make_server):
    """buhlergroup/buhler-chat #113: advertised 512 MB, silently dropped at 10 MB."""
    chat = Chat(make_server("--message-bytes-max", "100k", "--message-text-bytes-max", "10k", "--message-files-max", "3"))
    chat.error("PUT", chat.path + "/messages/m", 413, "too_large", json={"text": "x" * 200_000})
    chat.error("PUT", chat.path + "/messages/m", 413, "too_large", json={"text": "x" * 20_000})
    chat.error("PUT", chat.path + "/messages/m", 413, "too_large", json={"text": "[a](sandbox:/mnt/data/a) " * 4})
    chat.store("m", text="x" * 5_000)
