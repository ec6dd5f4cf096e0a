"""Files of Azure's dynamic sessions elsewhere: a second Sandkeep is the pool, seen through a proxy that fails as other people's services do."""

import itertools
import json
import random

import pytest
import requests

from chat import Chat, response
from elsewhere import UPSTREAM_KEY, error, fail, source
from moving_trees import files_below

_numbers = itertools.count(1)


@pytest.fixture
def chat(here):
    return Chat(here)


@pytest.fixture
def identifier():
    return f"user-{next(_numbers)}"


def pool(proxy, identifier, **more):
    return source(proxy, kind="azure", path="/azure/pool", container=identifier, **more)


def kept(chat, stored):
    return {a["name"]: chat.open(a["link"]) for a in stored["attachments"]}


def problems(stored):
    return [(p["name"], p["state"], p["reason"]) for p in stored["problems"]]


def test_files_of_a_session_are_fetched_at_once_and_outlive_it(chat, upstream, proxy, identifier):
    """pydantic/pydantic-ai #7461, LibreChat PR #11362: the history breaks when the session is gone."""
    files = {"table.csv": b"1,2\n", "out/deep/plot 1.png": b"\x89PNG", "销售 报告.csv": "数据".encode(), "100%.txt": b"%"}
    upstream.session(identifier, files)
    text = "[a](sandbox:/mnt/data/table.csv) [b](<sandbox:/mnt/data/out/deep/plot 1.png>) [c](sandbox:/mnt/data/%E9%94%80%E5%94%AE%20%E6%8A%A5%E5%91%8A.csv) " \
           "[d](sandbox:/mnt/data/100%25.txt)"
    stored = chat.store("m", text=text, source=pool(proxy, identifier))
    assert kept(chat, stored) == {name.split("/")[-1]: content for name, content in files.items()}, stored["problems"]
    assert "sandbox:" not in stored["markdown"] and not stored["problems"]
    upstream.delete_session(identifier)
    assert kept(chat, chat.read("m")) == kept(chat, stored)
    again = chat.store("m", text=text, source=pool(proxy, identifier))
    assert kept(chat, again) == kept(chat, stored), "what was kept for a message stays kept, whatever became of the session"
    later = chat.store("later", text="[a](sandbox:/mnt/data/table.csv)", source=pool(proxy, identifier))
    assert kept(chat, later) == {"table.csv": files["table.csv"]}, "what was kept of that path is the best that is known"
    other = chat.store("other", text="[a](sandbox:/mnt/data/out/table.csv)", source=pool(proxy, identifier))
    assert problems(other) == [("table.csv", "not_captured", "gone")], "another path is another file"


def test_a_session_that_is_deleted_between_two_files_costs_only_the_second(chat, upstream, proxy, identifier):
    """e2b-dev/E2B #1381: the sandbox vanished; what was pushed out before is there."""
    upstream.session(identifier, {"a.csv": b"first", "b.csv": b"second"})

    def delete(path, _):
        if "/files/b.csv/content" in path:
            upstream.delete_session(identifier)

    proxy.faults = [delete]
    stored = chat.store("m", text="[a](sandbox:/mnt/data/a.csv) [b](sandbox:/mnt/data/b.csv)", source=pool(proxy, identifier))
    assert kept(chat, stored) == {"a.csv": b"first"}
    assert problems(stored) == [("b.csv", "not_captured", "gone")]
    assert "not captured" in stored["markdown"]


def test_a_session_that_came_back_empty_proves_nothing_about_its_earlier_files(chat, upstream, proxy, identifier):
    """buhlergroup/buhler-chat PR #179: only proof of absence counts. An identifier that is used again is a new, empty session."""
    upstream.session(identifier, {"a.csv": b"x"})
    upstream.delete_session(identifier)
    upstream.session(identifier, {"other.csv": b"y"})
    stored = chat.store("m", text="[a](sandbox:/mnt/data/a.csv)", source=pool(proxy, identifier))
    assert problems(stored) == [("a.csv", "not_captured", "gone")], "never 'missing', as an invented link would be"


def test_a_session_that_expired_is_still_fetched_from_a_pool_that_keeps_files(chat, upstream, proxy, identifier):
    upstream.session(identifier, {"a.csv": b"x"})
    sessions = requests.get(f"{upstream.server.url}/api/v1/sessions?limit=100", headers=upstream.http.headers, timeout=60).json()["items"]
    session = next(s["id"] for s in sessions if s["name"] == identifier)
    requests.post(f"{upstream.server.url}/api/v1/sessions/{session}/sleep", headers=upstream.http.headers, timeout=60).raise_for_status()
    assert kept(chat, chat.store("m", text="[a](sandbox:/mnt/data/a.csv)", source=pool(proxy, identifier))) == {"a.csv": b"x"}


def test_the_older_generation_of_the_api_is_asked_where_the_newer_is_not_there(chat, upstream, proxy, identifier):
    """langchain-ai/langchain-azure #256 and others speak of files by name, in a session that its identifier names."""
    upstream.session(identifier, {"out/a b.csv": b"older"})
    proxy.faults = [lambda path, _: ("status", 404, b"") if "/content?" in path and "/files/content/" not in path else None]
    stored = chat.store("m", text="[a](<sandbox:/mnt/data/out/a b.csv>)", source=pool(proxy, identifier))
    assert kept(chat, stored) == {"a b.csv": b"older"}, stored
    assert all("api-version=2024-02-02-preview" in path for path in proxy.asked("/files/content/"))


@pytest.mark.parametrize("generation", ["newer", "older"])
def test_a_file_of_the_same_name_in_another_folder_is_not_taken_for_it(chat, upstream, proxy, identifier, generation):
    """A link to a file that does not exist is flagged, never invented."""
    upstream.session(identifier, {"reports/2026/q1.csv": b"another one"})
    if generation == "older":
        proxy.faults = [fail("api-version=2025", ("status", 404, b""))]
    stored = chat.store("m", text="[a](sandbox:/mnt/data/q1.csv)", source=pool(proxy, identifier))
    assert kept(chat, stored) == {}, stored
    assert [(p["name"], p["reason"]) for p in stored["problems"]] == [("q1.csv", "gone")]


@pytest.mark.parametrize("generation", ["newer", "older"])
def test_a_file_that_is_cited_without_a_path_is_found_in_the_list(chat, upstream, proxy, identifier, generation):
    """openai/openai-java #490: where the message says too little, the list is asked."""
    upstream.session(identifier, {"reports/2026/q1.csv": b"listed", "other/x.csv": b"no"})
    if generation == "older":
        proxy.faults = [fail("api-version=2025", ("status", 404, b""))]
    answer = response("Done.", container=identifier, citations=[("", "q1.csv")])
    stored = chat.store("m", response=answer, source=pool(proxy, identifier))
    assert kept(chat, stored) == {"q1.csv": b"listed"}, stored
    assert stored["attachments"][0]["path"].endswith("/reports/2026/q1.csv")


def test_a_temporary_failure_is_retried(chat, upstream, proxy, identifier):
    """microsoft/agent-framework #7598: /content answered 500; unslothai/unsloth PR #5547: one bounded retry."""
    data = random.Random(5).randbytes(300_000)
    upstream.session(identifier, {"a.bin": data})
    for number, first in enumerate((("status", 500, error("Internal")), ("status", 429, b"{}"), ("cut", 100_000), ("status", 503, b"<html>"))):
        proxy.faults = [fail("/content", first, None)]
        proxy.seen.clear()
        stored = chat.store(f"m{number}", text="[a](sandbox:/mnt/data/a.bin)", source=pool(proxy, identifier))
        assert kept(chat, stored) == {"a.bin": data}, (first, stored["problems"])
        assert len(proxy.asked("/content")) == 2, first


def test_a_silent_pool_times_out(chat, upstream, proxy, identifier):
    upstream.session(identifier, {"a.csv": b"x"})
    proxy.faults = [fail("/content", ("slow", 5), None)]
    assert kept(chat, chat.store("m", text="[a](sandbox:/mnt/data/a.csv)", source=pool(proxy, identifier))) == {"a.csv": b"x"}, "the second attempt is quick"


def test_gone_denied_and_cannot_tell_are_told_apart(chat, upstream, proxy, identifier):
    """buhlergroup/buhler-chat PR #179, Azure/azure-sdk-for-net #54068: a refusal is shown as one, and doubt as doubt."""
    upstream.session(identifier, {"a.csv": b"x"})
    cases = {
        "denied": [fail("/files", ("status", 403, error("no role 'Session Executor'")))],
        "denied ": [fail("/files", ("status", 401, error("bad token")))],
        "cannot_tell": [fail("/files", ("status", 500, error("Internal error, key " + UPSTREAM_KEY)))],
        "cannot_tell ": [fail("/content", ("status", 404, b"{}"))],
        "gone": [fail("/files", ("status", 404, b"{}"))],
    }
    for number, (reason, faults) in enumerate(cases.items()):
        proxy.faults = faults
        stored = chat.store(f"m{number}", text="[a](sandbox:/mnt/data/a.csv)", source=pool(proxy, identifier))
        assert problems(stored) == [("a.csv", "not_captured", reason.strip())], (reason, stored)
        assert UPSTREAM_KEY not in json.dumps(stored)
    assert "Session Executor" in chat.read("m0")["problems"][0]["message"]
    proxy.faults = []
    assert kept(chat, chat.store("m2", text="[a](sandbox:/mnt/data/a.csv)", source=pool(proxy, identifier))), "storing it again fetches it"


def test_a_link_whose_session_nobody_names_is_told_as_such(chat, proxy):
    """microsoft/semantic-kernel #12984: the response lacks the container's id; the app may know it, and is told to say so."""
    stored = chat.store("m", text="[a](sandbox:/mnt/data/a.csv)", source=source(proxy, kind="azure", path="/azure/pool"))
    problem, = stored["problems"]
    assert problem["reason"] == "cannot_tell" and "source.container" in problem["message"]
    assert not proxy.seen


def test_the_key_goes_to_the_pool_and_nowhere_else(chat, here, upstream, proxy, identifier):
    upstream.session(identifier, {"a.csv": b"x"})
    chat.store("m", text="[a](sandbox:/mnt/data/a.csv)", source=pool(proxy, identifier))
    assert all(headers.get("Authorization") == f"Bearer {UPSTREAM_KEY}" for _, headers in proxy.seen) and proxy.seen
    for path in files_below(here.data):
        assert UPSTREAM_KEY.encode() not in path.read_bytes(), path
