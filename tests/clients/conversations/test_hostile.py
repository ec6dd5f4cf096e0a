"""Whatever is sent as a message, the answer is never a 5xx, and what comes back is safe to show."""

import json
import random
import re

import requests

from chat import events, response

PIECES = ["sandbox:/mnt/data/", "[a](", "](", ")", "![", "<script>", "javascript:", "data:image/png;base64,AAAA", "\u0000", "\ud83d", "é", "\n\n", "```",
          "| a | b |\n|---|---|\n", "> ", "- ", "1. ", "*", "_", "`", "%zz", "../", "https://example.org/", "\\", "\"", "&lt;", "cfile_", "x" * 300]


def random_text(rng):
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(30)))


def distort(rng, value):
    """The same with parts missing or of another type."""
    if rng.random() < 0.06:
        return rng.choice([None, True, -1, 1e300, "", random_text(rng), [], {}, [[]], {"a": {"b": None}}, 2**63])
    if isinstance(value, dict):
        return {k: distort(rng, v) for k, v in value.items() if rng.random() > 0.04}
    if isinstance(value, list):
        return [distort(rng, v) for v in value if rng.random() > 0.04]
    return random_text(rng) if isinstance(value, str) and rng.random() < 0.1 else value


def test_without_a_valid_key_every_call_answers_401_in_the_apis_shape(chat):
    chat.store("m", text="secret")
    calls = [("GET", "/api/v1/conversations"), ("POST", "/api/v1/conversations"), ("GET", chat.path), ("DELETE", chat.path), ("GET", chat.path + "/messages"),
             ("GET", chat.path + "/messages/m"), ("PUT", chat.path + "/messages/m"), ("DELETE", chat.path + "/messages/m")]
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"api-key": "wrong"}, {"Authorization": "Nonsense"}):
        for method, path in calls:
            reply = requests.request(method, chat.server.url + path, headers=headers, timeout=60)
            assert (reply.status_code, reply.json()["error"]["code"]) == (401, "unauthorized") and "secret" not in reply.text, (method, path, headers)
    assert chat.read("m")["text"] == "secret"


def test_what_a_message_shows_is_streamed_and_taken_in_ranges(chat):
    data = random.Random(11).randbytes(8 << 20)
    chat.put("/api/v1/workspaces/default/files/big.bin", data=data)
    chat.store("m", text="See.", files=["big.bin"])
    for query in ("", "?links=signed"):
        link, headers = chat.read("m", query)["attachments"][0]["link"], {} if query else dict(chat.http.headers)
        with requests.get(link, headers=headers, stream=True, timeout=60) as whole:
            assert whole.headers["Content-Length"] == str(len(data)) and whole.headers["Accept-Ranges"] == "bytes"
            assert b"".join(whole.iter_content(1 << 16)) == data
        part = requests.get(link, headers={**headers, "Range": "bytes=1048570-1048590"}, timeout=60)
        assert (part.status_code, part.content) == (206, data[1048570:1048591])
        assert requests.get(link, headers={**headers, "Range": "bytes=99999999-"}, timeout=60).status_code == 416


def test_no_message_gives_a_5xx_and_no_html_but_ours_comes_out(chat):
    seed = random.randrange(10**9)
    rng = random.Random(seed)
    for number in range(250):
        answer = response(random_text(rng), container="cntr_" + "0" * 32, citations=[("cfile_" + "0" * 32, "a.csv"), ("x", "../b")],
                          outputs=[{"type": "image", "url": "data:image/png;base64,AAAA"}])
        body = rng.choice([
            {"text": random_text(rng)}, {"response": distort(rng, answer)}, {"events": events(response(random_text(rng)))[:rng.randrange(2000)]},
            distort(rng, {"text": random_text(rng), "role": "user", "time": "2026-01-01T00:00:00Z", "session": "s_1", "files": ["a"], "title": "t"}),
        ])
        name = rng.choice(["m", "%F0%9F%8E%89", "..", "a%2Fb", "%00", "x" * 300, "%ff"])
        raw = json.dumps(body).encode()
        reply = chat.send("PUT", f"{chat.path}/messages/{name}", data=raw, headers={"Content-Type": "application/json"})
        assert reply.status_code < 500, (seed, number, body, reply.text)
        if reply.status_code == 200:
            html = reply.json()["html"]
            assert not re.search(r"<(?!/?(p|h[1-6]|ul|ol|li|blockquote|hr|pre|code|table|thead|tbody|tr|th|td|em|strong|del|a|img|br)\b)", html), (seed, html)
            assert not re.search(r'(href|src)="(?!https?://|mailto:|/|#)', html), (seed, html)
        if number % 5 == 0:
            messages = [{"conversation": chat.name, "message": "b", **(body if isinstance(body, dict) else {})}, distort(rng, {"conversation": "c", "message": "m", "text": "x"}), rng.choice([None, 7, "x", []])]
            where = {"kind": "azure", "base_url": "https://127.0.0.1:1/azure/p", "key": "k", "container": "s"}
            many = distort(rng, {"messages": messages[:rng.randrange(4)], "source": where, "workspace": "default"})
            reply = chat.send("POST", "/api/v1/conversations", data=json.dumps(many).encode(), headers={"Content-Type": "application/json"})
            assert reply.status_code < 500, (seed, number, many, reply.text)
    for method in ("GET", "PUT", "DELETE", "POST", "PATCH", "HEAD"):
        for path in ("/api/v1/conversations", "/api/v1/conversations/%00", f"{chat.path}/messages", f"{chat.path}/messages/%ff", f"{chat.path}/nothing"):
            for raw in (None, b"", b"{", b"[]", b"\xff", b'{"text": "\\ud800"}', b"[" * 50_000):
                reply = chat.http.request(method, chat.server.url + path, data=raw, headers={"Content-Type": "application/json"}, timeout=60)
                assert reply.status_code < 500, (method, path, raw and raw[:50], reply.text)
                if reply.status_code >= 400 and method != "HEAD":
                    assert reply.json()["error"]["code"], reply.text
    for query in ("cursor=x", "limit=0", "limit=-1", "links=all", "file_id=v_1", "workspace=none", "unknown=1", "version=" + "x" * 100):
        for path in ("/api/v1/conversations", f"{chat.path}/messages", f"{chat.path}/messages/m"):
            assert chat.get(f"{path}?{query}").status_code in (200, 400, 404), (path, query)
