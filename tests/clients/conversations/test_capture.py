"""Files of containers elsewhere: a second Sandkeep is the upstream, seen through a proxy that fails as other people's services do."""

import json
import threading

import pytest
import requests

from chat import Chat, events, link_target, response
from elsewhere import UPSTREAM_KEY, error, fail, source
from faulty import Faulty
from moving_trees import files_below
from sandkeep_server import ROOT_KEY


@pytest.fixture
def chat(here):
    return Chat(here)


def test_cited_files_are_fetched_at_once_and_outlive_their_container(chat, upstream, proxy):
    """pydantic/pydantic-ai #7461: after the container expires, every later turn replays a dead id. LibreChat PR #11362: outputs died
    after a day."""
    container, ids = upstream.container({"a.csv": b"1,2\n"})
    answer = response("[a](sandbox:/mnt/data/a.csv)", container=container, citations=[(ids["a.csv"], "a.csv")])
    stored = chat.store("m", response=answer, source=source(proxy))
    assert not stored["problems"], stored
    assert chat.open(link_target(stored["markdown"])) == b"1,2\n"
    upstream.call("DELETE", f"/v1/containers/{container}")
    assert chat.open(chat.read("m")["attachments"][0]["link"]) == b"1,2\n"
    # A later turn cites the dead container again: what was kept is found.
    for name, more in (("later", {"source": source(proxy)}), ("without", {})):
        again = chat.store(name, response=answer, **more)
        assert again["attachments"][0]["version_id"] == stored["attachments"][0]["version_id"]


def test_both_kinds_of_annotations_are_fetched(chat, upstream, proxy):
    """vercel/ai #9175, #9135: container_file_citation unsupported, "hence files generated were getting lost"."""
    container, ids = upstream.container({"a.csv": b"cited", "b.csv": b"by path"})
    answer = response("Done.", container=container, citations=[(ids["a.csv"], "a.csv")])
    file_id = "file-" + ids["b.csv"].removeprefix("cfile_")
    answer["output"][1]["content"][0]["annotations"].append({"type": "file_path", "file_id": file_id, "index": 0})
    stored = chat.store("m", response=answer, source=source(proxy))
    assert [chat.open(a["link"]) for a in stored["attachments"]] == [b"cited", b"by path"], stored


def test_a_citation_without_a_name_is_found_in_the_list(chat, upstream, proxy):
    """openai/openai-java #490: the citation type was missing, then its filename."""
    container, ids = upstream.container({"out/a.csv": b"x"})
    answer = response("Done.", container=container, citations=[(ids["out/a.csv"], "out/a.csv")])
    annotation = answer["output"][1]["content"][0]["annotations"][0]
    for field in ("filename", "start_index", "end_index"):
        del annotation[field]
    proxy.faults.append(fail("/content", ("status", 500, error("Internal error")), ("status", 500, b""), ("status", 500, b""), None))
    stored = chat.store("m", response=answer, source=source(proxy))
    kept, = stored["attachments"]
    assert kept["name"] and kept["path"].endswith("/out/a.csv") and chat.open(kept["link"]) == b"x"


def test_a_link_without_any_citation_is_found_in_the_list(chat, upstream, proxy):
    """microsoft/semantic-kernel #12984: the response lacks the container's id; the app may know it."""
    container, _ = upstream.container({f"file {n}.txt": str(n).encode() for n in range(130)})
    stored = chat.store("m", text="[x](sandbox:/mnt/data/file%20117.txt) [y](sandbox:/mnt/data/invented.txt)",
                        source=source(proxy, container=container))
    assert [chat.open(a["link"]) for a in stored["attachments"]] == [b"117"]
    problem, = stored["problems"]
    assert (problem["state"], problem["name"]) == ("missing", "invented.txt"), "only an invented link may be called one"
    assert "invented.txt" in stored["markdown"] and "sandbox:" not in stored["markdown"]


def test_streamed_annotations_are_fetched(chat, upstream, proxy):
    """microsoft/semantic-kernel #10482, #11411: file references of streams were dropped."""
    container, ids = upstream.container({"a.csv": b"x"})
    answer = response("[a](sandbox:/mnt/data/a.csv)", container=container, citations=[(ids["a.csv"], "a.csv")])
    stored = chat.store("m", events=events(answer), source=source(proxy))
    assert stored["attachments"][0]["original_file_id"] == ids["a.csv"], stored


def test_a_temporary_failure_is_retried(chat, upstream, proxy):
    """microsoft/agent-framework #7598: /content answered 500; unslothai/unsloth PR #5547: one bounded retry."""
    container, ids = upstream.container({"a.csv": b"x" * 100_000})
    answer = response("[a](sandbox:/mnt/data/a.csv)", container=container, citations=[(ids["a.csv"], "a.csv")])
    for first in (("status", 500, error("Internal")), ("status", 429, b"{}"), ("cut", 1000), ("status", 503, b"<html>")):
        proxy.faults = [fail("/content", first, None)]
        proxy.seen.clear()
        other = Chat(chat.server)
        # Fetched for another workspace, so that nothing is known of it yet.
        home = other.post("/api/v1/workspaces", 201, json={"name": f"w {other.name}"}).json()["name"]
        stored = other.store("m", response=answer, source=source(proxy), query=f"?workspace={home}")
        assert len(other.open(stored["attachments"][0]["link"])) == 100_000, (first, stored)
        assert len(proxy.asked("/content")) == 2, first


def test_a_permanent_failure_ends_as_cannot_tell_and_can_be_fetched_later(chat, upstream, proxy):
    """microsoft/agent-framework #7598: persistent 500: mark "not captured", never lose silently."""
    container, ids = upstream.container({"a.csv": b"x"})
    answer = response("[a](sandbox:/mnt/data/a.csv)", container=container, citations=[(ids["a.csv"], "a.csv")])
    proxy.faults = [fail("/content", ("status", 500, error("Internal error, key " + UPSTREAM_KEY)))]
    stored = chat.store("m", response=answer, source=source(proxy))
    problem, = stored["problems"]
    assert (problem["state"], problem["reason"]) == ("not_captured", "cannot_tell"), problem
    assert "500" in problem["message"] and UPSTREAM_KEY not in json.dumps(stored)
    assert "not captured" in stored["markdown"]
    proxy.faults = []
    assert chat.store("m", response=answer, source=source(proxy))["attachments"], "storing it again fetches it"


def test_gone_denied_and_cannot_tell_are_told_apart(chat, upstream, proxy):
    """buhlergroup/buhler-chat PR #179: a probe must separate gone, alive and cannot tell; only proof of absence counts."""
    container, ids = upstream.container({"a.csv": b"x"})
    answer = response("[a](sandbox:/mnt/data/a.csv)", container=container, citations=[(ids["a.csv"], "a.csv")])
    expired = ("status", 400, error("Container is expired."))
    cases = {
        "gone": [fail("/containers/", ("status", 404, error("Container not found")))],
        "gone ": [fail("/containers/", expired)],
        "denied": [fail("/containers/", ("status", 403, error("get-container not supported for CheckAccess")))],
        "denied ": [fail("/containers/", ("status", 401, error("bad key")))],
        "cannot_tell": [fail("/content", ("status", 404, b"{}")), fail("/files", ("status", 500, b""))],
        "cannot_tell ": [fail("/content", ("status", 404, b"{}"))],
        "cannot_tell  ": [fail("/content", ("status", 500, b"")), fail("/files", ("status", 200, b'{"data": [{"id": "other"}], "has_more": true}'))],
    }
    for number, (reason, faults) in enumerate(cases.items()):
        proxy.faults = faults
        problem, = chat.store(f"m{number}", response=answer, source=source(proxy))["problems"]
        assert problem["reason"] == reason.strip(), (reason, problem)
    denied = chat.read("m2")["problems"][0]["message"]
    assert "CheckAccess" in denied, "Azure/azure-sdk-for-net #54068: a permission error is shown as such"


def test_a_container_that_dies_between_two_files_costs_only_the_second(chat, upstream, proxy):
    """e2b-dev/E2B #1381: the sandbox vanished; what was pushed out before is there."""
    container, ids = upstream.container({"a.csv": b"first", "b.csv": b"second"})
    answer = response("[a](sandbox:/mnt/data/a.csv) [b](sandbox:/mnt/data/b.csv)", container=container,
                      citations=[(ids["a.csv"], "a.csv"), (ids["b.csv"], "b.csv")])

    def expire(path, _):
        # At OpenAI an expired container serves nothing any more; a Sandkeep does, so the proxy has to be stricter.
        if f"{ids['b.csv']}/content" in path:
            dead.set()
        return ("status", 400, error("Container is expired.")) if dead.is_set() else None

    dead = threading.Event()
    proxy.faults = [expire]
    stored = chat.store("m", response=answer, source=source(proxy))
    assert [a["name"] for a in stored["attachments"]] == ["a.csv"]
    assert [(p["name"], p["reason"]) for p in stored["problems"]] == [("b.csv", "gone")]


def test_a_container_that_expired_upstream_is_still_fetched_from_one_that_keeps_files(chat, upstream, proxy):
    made = upstream.call("POST", "/v1/containers", json={"name": "short", "expires_after": {"anchor": "last_active_at", "minutes": 1}})
    done = upstream.call("POST", f"/v1/containers/{made['id']}/exec", json={"code": "open('a.csv', 'w').write('x')"})
    session = "s_" + made["id"].removeprefix("cntr_")
    requests.post(f"{upstream.server.url}/api/v1/sessions/{session}/sleep", headers={"Authorization": f"Bearer {UPSTREAM_KEY}"}, timeout=60).raise_for_status()
    answer = response("[a](sandbox:/mnt/data/a.csv)", container=made["id"], citations=[(done["files"][0]["id"], "a.csv")])
    assert chat.store("m", response=answer, source=source(proxy))["attachments"]


def test_a_silent_server_times_out(chat, upstream, proxy):
    container, ids = upstream.container({"a.csv": b"x"})
    answer = response("[a](sandbox:/mnt/data/a.csv)", container=container, citations=[(ids["a.csv"], "a.csv")])
    proxy.faults = [fail("/content", ("slow", 5), None)]
    assert chat.store("m", response=answer, source=source(proxy))["attachments"], "the second attempt is quick"


def test_redirects_do_not_take_the_key_along(chat, upstream, proxy):
    container, ids = upstream.container({"a.csv": b"x"})
    answer = response("[a](sandbox:/mnt/data/a.csv)", container=container, citations=[(ids["a.csv"], "a.csv")])
    thief = Faulty(upstream.server.url)
    thief.faults = [lambda path, before: ("status", 200, b"from elsewhere")]
    try:
        for kind, path in (("openai", "/v1"), ("foundry", "/openai/v1")):
            thief.seen.clear()
            proxy.faults = [fail("/content", ("redirect", thief.url + "/blob?sig=1"))]
            other = Chat(chat.server)
            home = other.post("/api/v1/workspaces", 201, json={"name": f"w {other.name}"}).json()["name"]
            stored = other.store("m", response=answer, source=source(proxy, kind=kind, path=path), query=f"?workspace={home}")
            assert other.open(stored["attachments"][0]["link"]) == b"from elsewhere", stored
            for _, headers in thief.seen:
                assert UPSTREAM_KEY not in json.dumps(headers), "the key went to another host"
            assert any(UPSTREAM_KEY in json.dumps(headers) for _, headers in proxy.seen)
    finally:
        thief.close()


def test_foundry_is_asked_through_project_and_account(chat, upstream, proxy):
    """microsoft/agent-framework #3081: "not found" through one address although the other has it."""
    container, ids = upstream.container({"a.csv": b"x"})
    answer = response("[a](sandbox:/mnt/data/a.csv)", container=container, citations=[(ids["a.csv"], "a.csv")])
    proxy.faults = [fail("/api/projects/", ("status", 404, error("Container not found")))]
    stored = chat.store("m", response=answer, source=source(proxy, kind="foundry", path="/api/projects/p"))
    assert chat.open(stored["attachments"][0]["link"]) == b"x", stored


def test_foundry_is_asked_in_the_form_of_its_toolbox_too(chat, upstream, proxy):
    """Azure/azure-sdk-for-net #61869: cfile ids that the OpenAI-like addresses do not serve."""
    container, ids = upstream.container({"a.csv": b"x"})
    answer = response("[a](sandbox:/mnt/data/a.csv)", container=container, citations=[(ids["a.csv"], "a.csv")])
    proxy.faults = [fail("/openai/v1", ("status", 404, error("Container not found")))]
    stored = chat.store("m", response=answer, source=source(proxy, kind="foundry", path="/api/projects/p"))
    assert chat.open(stored["attachments"][0]["link"]) == b"x", stored
    assert all("api-version=v1" in path for path in proxy.asked("/api/projects/p/containers/"))


def test_azure_sessions_are_asked_by_name_in_both_generations_of_their_api(chat, proxy):
    """langchain-ai/langchain-azure #256 and others speak of files by name, in a session that its identifier names."""
    def azure(path, _):
        if "identifier=user%2F1" not in path:
            return ("status", 400, b"{}")
        if path.startswith("/pool/files/new%20one.csv/content?") and "path=%2Fmnt%2Fdata%2Fout" in path:
            return ("status", 200, b"newer")
        if path.startswith("/pool/files/content/old.csv?api-version=2024-02-02-preview"):
            return ("status", 200, b"older")
        return ("status", 404, json.dumps({"error": {"code": "FileNotFound", "message": "no such file"}}).encode())

    proxy.faults = [azure]
    stored = chat.store("m", text="[a](sandbox:/mnt/data/out/new one.csv) [b](sandbox:/mnt/data/old.csv) [c](sandbox:/mnt/data/none.csv)",
                        source=source(proxy, kind="azure", path="/pool", container="user/1"))
    assert [(a["name"], chat.open(a["link"])) for a in stored["attachments"]] == [("new one.csv", b"newer"), ("old.csv", b"older")]
    assert [(p["name"], p["reason"]) for p in stored["problems"]] == [("none.csv", "gone")]


def test_names_and_extensions_are_kept(chat, upstream, proxy):
    """openai/openai-dotnet PR #792: every file was saved as .xlsx. QwenLM/Qwen3 #1614: a percent-encoded Chinese path."""
    names = ["销售报告.csv", "résumé final.txt", "plot.png", "data"]
    container, ids = upstream.container({name: name.encode() for name in names})
    text = "[a](sandbox:/mnt/data/%E9%94%80%E5%94%AE%E6%8A%A5%E5%91%8A.csv)"
    answer = response(text, container=container, citations=[(ids[name], name) for name in names])
    stored = chat.store("m", response=answer, source=source(proxy))
    assert sorted(a["name"] for a in stored["attachments"]) == sorted(names), stored
    for attachment in stored["attachments"]:
        assert attachment["path"].endswith("/" + attachment["name"])
        assert chat.open(attachment["link"]).decode() == attachment["name"]


def test_old_transcripts_are_backfilled_in_one_call(chat, upstream, proxy):
    """supercorp-ai/superinterface PR #24: "no historical backfill, no persistence"."""
    container, ids = upstream.container({f"{n}.txt": str(n).encode() for n in range(5)})
    messages = [{"conversation": chat.name, "message": f"m{n}", "time": f"2026-01-01T00:00:{n:02}Z",
                 "response": response(f"[f](sandbox:/mnt/data/{n}.txt)", container=container, citations=[(ids[f"{n}.txt"], f"{n}.txt")])}
                for n in range(5)]
    messages.insert(2, {"conversation": chat.name, "message": "bad", "response": {}})
    messages.append({"conversation": chat.name, "message": "text", "text": "[x](sandbox:/mnt/data/none.txt)"})
    done = chat.post("/api/v1/conversations", 200, json={"messages": messages, "source": source(proxy)}).json()["items"]
    assert [d["stored"] for d in done] == [True, True, False, True, True, True, True]
    assert [d["kept"] for d in done] == [1, 1, 0, 1, 1, 1, 0] and done[-1]["missing"] == 1
    assert done[2]["error"]["code"] == "bad_request"
    for n, message in enumerate(chat.history()[:5]):
        assert chat.open(message["attachments"][0]["link"]) == str(n).encode()


def test_private_addresses_are_not_called_unless_allowed(server, upstream, proxy):
    chat = Chat(server)
    for base in (proxy.url.replace("http:", "https:"), "https://localhost:1", "https://[::1]:1", "https://169.254.169.254"):
        answer = response("x", container="cntr_1", citations=[("cfile_1", "a.csv")])
        stored = chat.store("m", response=answer, source={"kind": "openai", "base_url": base + "/v1", "key": UPSTREAM_KEY})
        problem, = stored["problems"]
        assert problem["reason"] == "cannot_tell" and "public internet" in problem["message"], problem
    assert not proxy.seen


def test_keys_of_others_are_stored_nowhere(chat, here, upstream, proxy):
    container, ids = upstream.container({"a.csv": b"x"})
    answer = response("[a](sandbox:/mnt/data/a.csv)", container=container, citations=[(ids["a.csv"], "a.csv")])
    chat.store("m", response=answer, source=source(proxy))
    for path in files_below(here.data):
        assert UPSTREAM_KEY.encode() not in path.read_bytes(), path


def test_a_server_that_dies_while_fetching_says_so_after_its_restart(make_server, upstream, proxy):
    server = make_server("--bridge-allow-private")
    chat = Chat(server)
    container, ids = upstream.container({"a.csv": b"x"})
    answer = response("[a](sandbox:/mnt/data/a.csv)", container=container, citations=[(ids["a.csv"], "a.csv")])
    reached = threading.Event()

    def stall(path, _):
        if "/content" in path:
            reached.set()
            return ("slow", 3)
        return None

    proxy.faults = [stall]

    def store():
        try:
            chat.store("m", response=answer, source=source(proxy))
        except requests.ConnectionError:
            pass

    storing = threading.Thread(target=store)
    storing.start()
    assert reached.wait(30)
    assert Chat.read(_same(chat), "m")["problems"][0]["state"] == "pending"
    server.kill()
    storing.join()
    server.start()
    proxy.faults = []
    problem, = chat.read("m")["problems"]
    assert (problem["state"], problem["reason"]) == ("not_captured", "cannot_tell")
    assert chat.store("m", response=answer, source=source(proxy))["attachments"]


def _same(chat):
    """Another connection to the same conversation."""
    other = Chat(chat.server, key=ROOT_KEY)
    other.name = chat.name
    return other
