"""A chat app that keeps its history here, and the answers that it gets from a model."""

import itertools
import json
import re
import urllib.parse

import requests

from rest_client import Client

_numbers = itertools.count(1)


class Chat(Client):
    """One conversation of its own. Every answer is compared with the OpenAPI document."""

    def __init__(self, server, **options):
        super().__init__(server, **options)
        self.name = f"chat {next(_numbers)}"

    @property
    def path(self):
        return f"/api/v1/conversations/{urllib.parse.quote(self.name)}"

    def session(self, **wanted):
        return self.post("/api/v1/sessions", 201, json={"name": "chat", **wanted}).json()

    def run(self, session, code):
        done = self.post(f"/api/v1/sessions/{session['id']}/executions", 200, json={"code": code}).json()
        assert done["end"] == "ok", done
        return done

    def store(self, message, expect=200, query="", **fields):
        return self.put(f"{self.path}/messages/{message}{query}", expect, json=fields).json()

    def read(self, message, query=""):
        return self.get(f"{self.path}/messages/{message}{query}", 200).json()

    def history(self):
        return self.get(f"{self.path}/messages", 200).json()["items"]

    def open(self, link):
        """What is behind a link that the server minted."""
        assert link.startswith(self.server.url + "/k/"), link
        answer = self.get(link, 200)
        return answer.content


def link_target(markdown):
    """Where the one link of a Markdown text leads."""
    targets = re.findall(r"\]\(([^)\s]+)\)", markdown)
    assert len(targets) == 1, markdown
    return targets[0]


def response(text, *, container=None, citations=(), outputs=None, **more):
    """A response of OpenAI's API, as recorded: citations cover the address, in characters, the end excluded."""
    annotations = []
    for file_id, name in citations:
        address = f"sandbox:/mnt/data/{name}"
        start = text.find(address)
        annotations.append({"type": "container_file_citation", "container_id": container, "file_id": file_id, "filename": name,
                            "start_index": max(start, 0), "end_index": start + len(address) if start >= 0 else 0})
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
               "content": [{"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}]}
    call = {"id": "ci_1", "type": "code_interpreter_call", "status": "completed", "container_id": container, "code": "…", "outputs": outputs}
    return {"id": "resp_1", "object": "response", "created_at": 1, "model": "some-model", "error": None,
            "output": [call, message] if container or outputs else [message], **more}


def events(answer):
    """The same response as it is streamed, in small pieces; its last event lacks the annotations, as some services leave them out."""
    out = []

    def emit(kind, **fields):
        out.append(f"event: {kind}\ndata: {json.dumps({'type': kind, 'sequence_number': len(out), **fields}, ensure_ascii=False)}\n\n")

    bare = json.loads(json.dumps(answer))
    for item in bare["output"]:
        for part in item.get("content", []):
            part["annotations"] = []
    emit("response.created", response={**bare, "output": [], "status": "in_progress"})
    for index, item in enumerate(answer["output"]):
        emit("response.output_item.added", output_index=index, item={**item, "content": []} if "content" in item else item)
        for number, part in enumerate(item.get("content", [])):
            place = {"item_id": item["id"], "output_index": index, "content_index": number}
            for start in range(0, len(part["text"]), 7):
                emit("response.output_text.delta", delta=part["text"][start:start + 7], **place)
            for at, annotation in enumerate(part["annotations"]):
                emit("response.output_text.annotation.added", annotation_index=at, annotation=annotation, **place)
            emit("response.output_text.done", text=part["text"], **place)
    emit("response.completed", response=bare)
    return "".join(out)


def anonymous(link):
    return requests.get(link, timeout=30)
