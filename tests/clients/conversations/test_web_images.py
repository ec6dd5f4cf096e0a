"""Images and files that a message names by an address on the web: fetched where the app says that files may be fetched, and else told."""

import json

import pytest

from chat import Chat, anonymous, response
from elsewhere import UPSTREAM_KEY, error, source
from faulty import Faulty
from moving_trees import files_below
from test_messages import png

PICTURE = png(20, 10)


@pytest.fixture
def chat(here):
    return Chat(here)


@pytest.fixture
def web(upstream):
    """A host of pictures, which is not the interpreter's."""
    one = Faulty(upstream.server.url)
    one.faults = [lambda path, _: ("status", 200, PICTURE)]
    yield one
    one.close()


def shown(*urls):
    return response("See the plot.", outputs=[{"type": "logs", "logs": "1"}, *({"type": "image", "url": url} for url in urls)])


def test_an_image_on_the_web_is_fetched_and_kept_without_its_signature(chat, here, web, proxy):
    """openai-responses-starter-app PR #20, pydantic/pydantic-ai #2391: generated images not shown; here their address may even expire."""
    stored = chat.store("m", response=shown(f"{web.url}/plots/a%20b.png?sig=a-signed-secret"), source=source(proxy))
    image, = stored["attachments"]
    assert (image["kind"], image["mime"], chat.open(image["link"])) == ("image", "image/png", PICTURE)
    assert f'<img src="{image["link"]}"' in stored["html"]
    assert web.asked("sig=a-signed-secret"), "it is fetched as it is signed"
    for _, headers in web.seen:
        assert UPSTREAM_KEY not in json.dumps(headers), "the key went to another host"
    assert "a-signed-secret" not in json.dumps(chat.read("m")) + here.log()
    for path in files_below(here.data):
        assert b"a-signed-secret" not in path.read_bytes(), path
    web.faults = [lambda path, _: ("status", 404, b"")]
    for name, more in (("m", {}), ("m", {"source": source(proxy)}), ("later", {}), ("last", {"source": source(proxy)})):
        again = chat.store(name, response=shown(f"{web.url}/plots/a%20b.png?sig=a-signed-secret"), **more)
        assert again["attachments"][0]["version_id"] == image["version_id"], (name, more, "what was kept stays kept, though its address is dead by now")
    assert anonymous(chat.read("m", "?links=signed")["attachments"][0]["link"]).content == PICTURE


def test_an_image_at_the_interpreters_own_host_is_fetched_with_the_key(chat, upstream, proxy):
    file = upstream.call("POST", "/v1/files", files={"file": ("plot.png", PICTURE)}, data={"purpose": "vision"})["id"]
    stored = chat.store("m", response=shown(f"{proxy.url}/v1/files/{file}/content"), source=source(proxy))
    assert [chat.open(a["link"]) for a in stored["attachments"]] == [PICTURE], stored


def test_two_addresses_that_differ_in_their_query_alone_are_two_images(chat, web, proxy):
    other = png(7, 7)
    web.faults = [lambda path, _: ("status", 200, other if "n=2" in path else PICTURE)]
    answer = shown(f"{web.url}/image?n=1", f"{web.url}/image?n=2", f"{web.url}/image?n=1")
    for more in ({"source": source(proxy)}, {}):
        stored = chat.store("m", response=answer, **more)
        assert [chat.open(a["link"]) for a in stored["attachments"]] == [PICTURE, other], stored


@pytest.mark.parametrize("answer,reason,words", [
    (("status", 404, b""), "gone", "404"),
    (("status", 403, error("signature expired")), "denied", "signature expired"),
    (("status", 500, b""), "cannot_tell", "500"),
    (("status", 200, b"<html><p>Please sign in.</p></html>"), "cannot_tell", "not an image"),
    (("redirect", "file:///etc/passwd"), "cannot_tell", "redirects"),
])
def test_an_image_that_cannot_be_had_is_told_with_the_reason(chat, web, proxy, answer, reason, words):
    web.faults = [lambda path, _: answer]
    stored = chat.store("m", response=shown(f"{web.url}/a.png"), source=source(proxy))
    problem, = stored["problems"]
    assert (problem["name"], problem["state"], problem["reason"]) == ("a.png", "not_captured", reason) and words in problem["message"], problem
    assert not stored["attachments"]


@pytest.mark.parametrize("url", ["https://example.org/a.png", "http://example.org/a.png", "blob:x/a.png", "file:///etc/a.png", "a.png"])
def test_without_a_source_nothing_is_fetched_and_nothing_passed_over(chat, url):
    problem, = chat.store("m", response=shown(url))["problems"]
    assert (problem["name"], problem["state"], problem["reason"]) == ("a.png", "not_captured", "cannot_tell") and "'source'" in problem["message"]


def test_addresses_of_the_inside_are_not_called_for_an_image(server, web, proxy):
    chat = Chat(server)
    urls = [web.url.replace("http:", "https:") + "/a.png", web.url + "/b.png", "https://localhost:1/c.png", "https://169.254.169.254/d.png", "https://u:p@example.org/e.png",
            "file:///etc/passwd", "gopher://x/"]
    stored = chat.store("m", response=shown(*urls), source={"kind": "openai", "base_url": "https://127.0.0.1:1/v1", "key": UPSTREAM_KEY})
    assert [p["reason"] for p in stored["problems"]] == ["cannot_tell"] * len(urls), stored["problems"]
    assert "public internet" in stored["problems"][0]["message"] and "https://" in stored["problems"][1]["message"]
    assert not web.seen


def test_what_a_user_sent_along_by_its_address_is_kept_too(chat, web, proxy):
    """Chainlit/chainlit #2806, PR #968: attachments are empty when a chat is resumed."""
    web.faults = [lambda path, _: ("status", 200, PICTURE if ".png" in path else b"a,b\n")]
    parts = [{"type": "input_text", "text": "What is this?"}, {"type": "input_image", "image_url": f"{web.url}/photo.png"},
             {"type": "input_file", "file_url": f"{web.url}/data.csv", "filename": "data.csv"}, {"type": "image_url", "image_url": {"url": f"{web.url}/2.png"}}]
    stored = chat.store("m", response={"role": "user", "content": parts}, source=source(proxy))
    assert {a["name"]: chat.open(a["link"]) for a in stored["attachments"]} == {"photo.png": PICTURE, "data.csv": b"a,b\n", "2.png": PICTURE}, stored
