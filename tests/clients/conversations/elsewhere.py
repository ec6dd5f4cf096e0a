"""An interpreter elsewhere, which is a Sandkeep of its own, and how messages say that their files are there."""

import json

import requests

UPSTREAM_KEY = "sk-of-the-other-system-0123456789"


class Upstream:
    """It has OpenAI's API and Azure's."""

    def __init__(self, server):
        self.server = server
        self.http = requests.Session()
        self.http.headers["Authorization"] = f"Bearer {UPSTREAM_KEY}"

    def call(self, method, path, **options):
        answer = self.http.request(method, self.server.url + path, timeout=120, **options)
        assert answer.status_code in (200, 204), answer.text
        return answer.json() if answer.content else None

    def container(self, files):
        """A container that wrote these files; its id, and the ids of the files by name."""
        made = self.call("POST", "/v1/containers", json={"name": "chat"})["id"]
        done = self.call("POST", f"/v1/containers/{made}/exec", json={"code": writing(files)})
        return made, {file["path"].removeprefix("/mnt/data/"): file["id"] for file in done["files"]}

    def session(self, identifier, files):
        """A dynamic session that wrote these files."""
        done = self.call("POST", f"/azure/pool/executions?api-version=2025-02-02-preview&identifier={identifier}",
                         json={"codeInputType": "inline", "executionType": "synchronous", "code": writing(files)})
        assert done["status"] == "Succeeded", done
        return identifier

    def delete_session(self, identifier):
        self.call("DELETE", f"/azure/pool/session?api-version=2025-10-02-preview&identifier={identifier}")


def writing(files):
    """Code that writes them."""
    return "import pathlib\n" + "\n".join(
        f"p = pathlib.Path({name!r}); p.parent.mkdir(parents=True, exist_ok=True); _ = p.write_bytes({content!r})" for name, content in files.items())


def source(proxy, kind="openai", path="/v1", **more):
    return {"kind": kind, "base_url": proxy.url + path, "key": UPSTREAM_KEY, **more}


def fail(part, *actions):
    """Fails calls whose path has `part`: the first time with the first action, and so on; the last one for ever, None for no longer."""
    return lambda path, before: actions[min(before, len(actions) - 1)] if part in path else None


def error(message):
    return json.dumps({"error": {"message": message, "type": "server_error", "param": None, "code": None}}).encode()
