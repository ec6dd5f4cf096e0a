"""OpenAI's API without a client in between, for what a client hides."""

import requests

from sandkeep_server import ROOT_KEY


class Api:
    """One key's view of one mount."""

    def __init__(self, server, base="/v1", key=ROOT_KEY, header=None):
        self.server = server
        self.url = server.url + base
        self.http = requests.Session()
        self.http.trust_env = False
        if key is not None:
            self.http.headers.update(header(key) if header else {"Authorization": f"Bearer {key}"})

    def send(self, method, path, expect=200, **options):
        url = path if path.startswith("http") else self.url + path
        answer = self.http.request(method, url, timeout=120, **options)
        assert expect is None or answer.status_code == expect, f"{method} {path} -> {answer.status_code}: {answer.text[:1000]}"
        return answer

    def get(self, path, expect=200, **options):
        return self.send("GET", path, expect, **options)

    def post(self, path, body=None, expect=200, **options):
        return self.send("POST", path, expect, json=body, **options).json()

    def delete(self, path, expect=200):
        return self.send("DELETE", path, expect).json()

    def error(self, method, path, status, **options):
        """An answer that must be an error of this status, in OpenAI's envelope."""
        answer = self.send(method, path, status, **options)
        error = answer.json()["error"]
        assert list(answer.json()) == ["error"] and list(error) == ["message", "type", "param", "code"], error
        assert error["message"] and error["type"]
        return error

    # What most tests need.

    def container(self, **wanted):
        return self.post("/containers", {"name": "test", **wanted})["id"]

    def put(self, container, name, content):
        return self.send("POST", f"/containers/{container}/files", files={"file": (name, content)}).json()

    def exec(self, container, code, **more):
        return self.post(f"/containers/{container}/exec", {"code": code, **more})

    def files(self, container):
        return self.get(f"/containers/{container}/files?limit=100").json()["data"]

    def content(self, container, file, **options):
        return self.get(f"/containers/{container}/files/{file}/content", **options)

    def give(self, name, content, purpose="user_data"):
        return self.send("POST", "/files", files={"file": (name, content)}, data={"purpose": purpose}).json()
