"""A client of the REST dialect that trusts nothing: every answer is compared with the OpenAPI document, every link in it is remembered."""

import json
import re

import jsonschema
import requests

from sandkeep_server import ROOT_KEY


class Document:
    """The server's OpenAPI document, as a judge of its answers."""

    def __init__(self, document):
        self.json = document
        self.resolver = jsonschema.RefResolver.from_schema(document)
        self.operations = []
        for template, methods in document["paths"].items():
            # A literal is told apart from a parameter before it, so longer literals come first.
            pattern = re.sub(r"\{(\w+)\}", lambda m: ".*" if m.group(1) == "path" else "[^/]+", re.sub(r"\.", r"\\.", template))
            for method, operation in methods.items():
                self.operations.append((method.upper(), re.compile(pattern + "$"), template.count("{"), operation))
        self.operations.sort(key=lambda entry: entry[2])

    def find(self, method, path):
        wanted = "GET" if method == "HEAD" else method
        for known, pattern, _, operation in self.operations:
            if known == wanted and pattern.match(path):
                return operation
        return None

    def check(self, response):
        """Status, content type and JSON of an answer must be as documented."""
        method = response.request.method
        path = response.request.path_url.split("?")[0]
        operation = self.find(method, path)
        if operation is None or response.status_code in (405, 408, 431):
            return
        where = f"{method} {response.request.path_url} -> {response.status_code}"
        documented = operation["responses"].get(str(response.status_code))
        assert documented is not None, f"{where} is not documented: {response.text[:500]}"
        content = documented.get("content", {})
        if method == "HEAD" or response.status_code in (204, 304):
            assert response.content == b"", where
            return
        kind = response.headers.get("Content-Type", "").split(";")[0]
        if "application/json" in content and kind == "application/json":
            self.validate(response.json(), content["application/json"].get("schema", {}), where)
            return
        assert kind in content or "*/*" in content or kind in ("text/event-stream", "text/html"), f"{where}: {kind} is not documented"

    def validate(self, value, schema, where):
        validator = jsonschema.Draft202012Validator(schema, resolver=self.resolver)
        problems = [f"{'/'.join(map(str, error.path))}: {error.message}" for error in validator.iter_errors(value)]
        assert not problems, f"{where} is not as documented: {problems}"


class Client:
    """Speaks to a server with one key (or none)."""

    def __init__(self, server, key=ROOT_KEY):
        self.server = server
        self.key = key
        self.http = requests.Session()
        self.http.trust_env = False
        if key is not None:
            self.http.headers["Authorization"] = f"Bearer {key}"
        if server.document is None:
            server.document = Document(requests.get(server.url + "/api/v1/openapi.json", timeout=30).json())

    def send(self, method, path, expect=None, timeout=90, **options):
        """`path` from the root; `expect` is a status that the answer must have."""
        url = path if path.startswith("http") else self.server.url + path
        response = self.http.request(method, url, timeout=timeout, allow_redirects=False, **options)
        if not options.get("stream"):
            self.server.document.check(response)
            self.remember_links(response)
        if expect is not None:
            assert response.status_code == expect, f"{method} {path} -> {response.status_code}: {response.text[:1000]}"
        return response

    def get(self, path, expect=None, **options):
        return self.send("GET", path, expect, **options)

    def head(self, path, expect=None, **options):
        return self.send("HEAD", path, expect, **options)

    def put(self, path, expect=None, **options):
        return self.send("PUT", path, expect, **options)

    def post(self, path, expect=None, **options):
        return self.send("POST", path, expect, **options)

    def patch(self, path, expect=None, **options):
        return self.send("PATCH", path, expect, **options)

    def delete(self, path, expect=None, **options):
        return self.send("DELETE", path, expect, **options)

    def error(self, method, path, status, code, **options):
        """An answer that must be an error with this status and code; the error object."""
        response = self.send(method, path, expect=status, **options)
        error = response.json()["error"]
        assert error["code"] == code, error
        assert error["message"] and error["hint"] and error["request_id"], error
        assert response.headers["X-Request-Id"] == error["request_id"]
        return error

    def metric(self, name):
        """The value of a metric without labels."""
        text = requests.get(self.server.url + "/metrics", timeout=30).text
        return float(re.search(rf"^{name} (\S+)$", text, re.M).group(1))

    def remember_links(self, response):
        if "application/json" not in response.headers.get("Content-Type", "") or response.request.method == "HEAD":
            return
        try:
            body = response.json()
        except json.JSONDecodeError:
            return
        if response.request.path_url.startswith("/api/v1/openapi.json"):
            return
        if isinstance(body, dict) and "broken_links" in body:
            self.server.purged.update(broken["version_id"] for broken in body["broken_links"])
        self._walk(body)

    def _walk(self, value):
        if isinstance(value, list):
            for item in value:
                self._walk(item)
        if not isinstance(value, dict):
            return
        for name in ("link", "signed_link"):
            if value.get(name):
                self.server.minted[value[name]] = {
                    "key": None if name == "signed_link" else self.key,
                    "sha256": value.get("sha256"),
                    "workspace_id": value.get("workspace_id"),
                }
        for item in value.values():
            self._walk(item)

    # What most tests need.

    def workspace(self, name):
        return Workspace(self, self.post("/api/v1/workspaces", 201, json={"name": name}).json())

    def make_key(self, **wanted):
        """A key of the same principal; (id, client)."""
        made = self.post("/api/v1/keys", 201, json={"name": "test", **wanted}).json()
        return made["key"]["id"], Client(self.server, made["secret"])

    def make_principal(self, name):
        """Somebody else; (id, client)."""
        made = self.post("/api/v1/principals", 201, json={"name": name}).json()
        return made["id"], self.make_key(principal_id=made["id"])[1]


class Workspace:
    """One workspace, seen through a client."""

    def __init__(self, client, described):
        self.client = client
        self.id = described["id"]
        self.name = described["name"]
        self.root = f"/api/v1/workspaces/{self.id}"

    def seen_by(self, client):
        return Workspace(client, {"id": self.id, "name": self.name})

    def file(self, path):
        return f"{self.root}/files/{requests.utils.quote(path)}"

    def put(self, path, content=b"x", expect=None, **headers):
        """The change result of a PUT that must succeed. Header names: underscores for dashes."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        response = self.client.put(self.file(path), expect, data=content, headers=named)
        assert response.status_code in (200, 201), response.text
        return response.json()

    def read(self, path, **options):
        return self.client.get(self.file(path), 200, **options).content

    def entry(self, path, expect=200):
        return self.client.get(f"{self.root}/entries/{requests.utils.quote(path)}", expect).json()

    def post(self, act, expect=None, **body):
        return self.client.post(f"{self.root}/{act}", expect, json=body).json()

    def versions(self, path):
        return self.client.get(f"{self.root}/versions/{requests.utils.quote(path)}", 200).json()["items"]

    def paths(self, **query):
        """All paths, page by page."""
        found, cursor = [], None
        while True:
            page = self.client.get(f"{self.root}/list", 200, params={"recursive": "true", **query, **({"cursor": cursor} if cursor else {})}).json()
            found += [item["path"] for item in page["items"]]
            if not page["has_more"]:
                return found
            cursor = page["next_cursor"]

    def lock(self, path, expect=201, **wanted):
        return self.client.post(f"{self.root}/locks", expect, json={"path": path, **wanted}).json()

    def events(self, **query):
        return self.client.get(f"{self.root}/events", 200, params=query).json()
