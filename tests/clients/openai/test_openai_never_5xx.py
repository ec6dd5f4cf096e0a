"""Whatever is sent to these dialects, the server answers for it: no request makes it fail, and errors keep their shape."""

import json
import os
import random

import pytest

from http_api import Api

REQUESTS = 700
BASES = ["/v1", "/v1", "/v1", "/openai/v1", "/openai", "/api/projects/p/openai/v1", "/api/projects/p",
         "/api/projects/p/agents/a/endpoint/protocols/openai"]
WORDS = ["", "x", "..", "/", "0", "-1", "1e9", "null", "%00", "%ff", "a b", "é", "数据", "🎉", "x" * 300, "asc", "desc", "purpose", "file", "[]", "'\"<", "\\"]
FIELDS = ["name", "file_ids", "expires_after", "memory_limit", "network_policy", "skills", "code", "language", "timeout_s", "file_id", "filename", "purpose",
          "bytes", "mime_type", "part_ids", "md5", "anchor", "minutes", "seconds", "type", "x"]
CODE = ["1", "print('x')", "1/0", "\x00", "open('a','w').write('b')", "é" * 100, "raise SystemExit", "\ud83d"]


CALLS = [("GET", "/containers"), ("POST", "/containers"), ("GET", "/containers/{}"), ("DELETE", "/containers/{}"), ("POST", "/containers/{}/exec"),
         ("GET", "/containers/{}/files"), ("POST", "/containers/{}/files"), ("GET", "/containers/{}/files/{}"), ("DELETE", "/containers/{}/files/{}"),
         ("GET", "/containers/{}/files/{}/content"), ("GET", "/files"), ("POST", "/files"), ("GET", "/files/{}"), ("DELETE", "/files/{}"),
         ("GET", "/files/{}/content"), ("POST", "/uploads"), ("POST", "/uploads/{}/parts"), ("POST", "/uploads/{}/complete"),
         ("POST", "/uploads/{}/cancel"), ("POST", "/{}"), ("GET", "/{}/{}")]


class Sender:
    """Makes requests that look like ones that a client could send, from real ids and from nonsense."""

    def __init__(self, server, seed):
        self.random = random.Random(seed)
        self.server = server
        api = Api(server)
        self.container = api.container()
        file = api.put(self.container, "a.txt", b"content")["id"]
        upload = {"filename": "a", "purpose": "batch", "bytes": 1, "mime_type": "text/plain"}
        self.ids = [self.container, file, "file-" + file[6:], api.post("/uploads", upload)["id"], "cntr_" + "0" * 32, "cfile_" + "f" * 32,
                    "part_" + "1" * 32, "upload_" + "0" * 32]

    def word(self):
        return self.random.choice(WORDS + self.ids)

    def value(self, depth=0):
        simple = [None, True, False, 0, -1, 20, 2 ** 63, 1.5, -1e300, self.word(), self.word(), "1g", "last_active_at", "created_at", "user_data"]
        if depth > 2 or self.random.random() < 0.6:
            return self.random.choice(simple)
        if self.random.random() < 0.5:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {self.random.choice(FIELDS): self.value(depth + 1) for _ in range(self.random.randrange(4))}

    def call(self):
        """A method and a path; mostly ones that belong together, and mostly with an id of the right kind."""
        method, shape = self.random.choice(CALLS)
        if self.random.random() < 0.15:
            method = self.random.choice(["GET", "POST", "DELETE", "PUT", "HEAD", "PATCH"])
        right = {"containers": [self.container], "files": self.ids[1:3], "uploads": [self.ids[3]]}
        path = ""
        for part in shape.split("/")[1:]:
            if part == "{}":
                likely = self.random.random() < 0.6
                part = self.random.choice(right.get(path.split("/")[-1], self.ids) if likely else self.ids + WORDS).replace("/", "%2F")
            path += "/" + part
        return method, path

    def body(self):
        kind = self.random.randrange(5)
        if kind == 0:
            return {}
        if kind == 1:
            return {"data": self.random.choice([b"", b"{", b"\xff\xfe", b"--x\r\n", json.dumps(self.value()).encode()]),
                    "headers": {"Content-Type": self.random.choice(["application/json", "multipart/form-data; boundary=x", "multipart/form-data", "text/plain", ""])}}
        if kind == 2:
            names = self.random.sample(["file", "data", "purpose", "x"], 2)
            return {"files": {name: (self.word() or "n", self.word().encode()) for name in names},
                    "data": {self.random.choice(["purpose", "file_id", "expires_after[seconds]", "expires_after[anchor]"]): self.word()}}
        body = {self.random.choice(FIELDS): self.value() for _ in range(self.random.randrange(7))}
        if "code" in body:
            body["code"] = self.random.choice(CODE)
        if kind == 3:
            body.setdefault("name", "x")
        return {"data": json.dumps(body), "headers": {"Content-Type": "application/json"}}

    def send(self):
        method, path = self.call()
        query = "&".join(f"{self.random.choice(['limit', 'order', 'after', 'name', 'purpose', 'api-version', 'x'])}={self.word()}"
                         for _ in range(self.random.randrange(3))).replace("%", "%25").replace("\\", "").replace("#", "")
        # The container that the others are about stays.
        if method == "DELETE" and path.endswith(self.container):
            method = "GET"
        return Api(self.server, self.random.choice(BASES)).send(method, path + ("?" + query if query else ""), expect=None, **self.body())


def test_no_request_makes_the_server_fail(server):
    seed = int(os.environ.get("SEED", random.randrange(2 ** 32)))
    print(f"SEED={seed}")
    sender = Sender(server, seed)
    statuses = {}
    for number in range(REQUESTS):
        answer = sender.send()
        told = f"SEED={seed}, request {number}: {answer.request.method} {answer.request.url} -> {answer.status_code} {answer.text[:500]}"
        assert answer.status_code < 500, told
        # Python's client resolves ".." itself, and so may leave the dialect.
        ours = answer.request.path_url.startswith(("/v1/", "/openai/", "/api/projects/"))
        if ours and answer.status_code >= 400 and answer.request.method != "HEAD":
            assert list(answer.json()["error"]) == ["message", "type", "param", "code"], told
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
    # It would prove little if nearly everything were refused for one reason.
    assert statuses.get(200, 0) > REQUESTS / 20 and statuses.get(400, 0) > REQUESTS / 20 and statuses.get(404, 0) > REQUESTS / 20, statuses
    # Nor does any of it leave the store in disorder.
    verified = Api(server, "/api/v1").post("/verify", {})
    assert verified["problems"] == [] and verified["ok"], verified


@pytest.mark.parametrize("base", ["/v1", "/api/projects/p/openai/v1"])
def test_without_a_sandbox_files_are_served_and_only_running_is_refused(make_server, base):
    server = make_server()
    api = Api(server, base)
    container = api.container()
    made = api.exec(container, "_ = open('made.txt', 'w').write('made')")["files"][0]
    server.stop()
    server.environment["SANDKEEP_SANDBOX"] = "off"
    server.start()
    file = api.give("a.txt", b"kept")
    assert api.get(f"/files/{file['id']}/content").content == b"kept"
    assert api.get(f"/containers/{container}").json()["id"] == container
    assert [one["id"] for one in api.get("/containers").json()["data"]] == [container]
    assert [one["id"] for one in api.files(container)] == [made["id"]]
    assert api.content(container, made["id"]).text == "made"
    assert api.put(container, "later.txt", b"later")["path"] == "/mnt/data/later.txt"
    api.send("DELETE", f"/containers/{container}/files/{made['id']}")
    for path, body in (("/containers", {"name": "x"}), (f"/containers/{container}/exec", {"code": "1"})):
        assert "--sandbox=off" in api.error("POST", path, 503, json=body)["message"]
