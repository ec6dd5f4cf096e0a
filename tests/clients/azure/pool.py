"""The requests of four clients of Azure's dynamic sessions, written out: what they send, and what they read of the answer.

None of them can be installed here, so each class does what the client's own code does, request by request.
"""

import urllib.parse

import requests

POOL = "/azure/subscriptions/s-1/resourceGroups/g-1/sessionPools/p-1"


class Pool:
    """A pool's management endpoint and a token."""

    def __init__(self, server, key, pool=POOL):
        self.endpoint = server.url + pool + "/"
        self.headers = {"Authorization": f"Bearer {key}"}

    def call(self, method, path, expected=None, *, identifier=None, version=None, **options):
        query = {k: v for k, v in {"identifier": identifier, "api-version": version, **options.pop("query", {})}.items() if v is not None}
        headers = {**self.headers, **options.pop("headers", {})}
        answer = requests.request(method, self.endpoint + path, params=query, headers=headers, timeout=120, **options)
        if expected is not None:
            assert answer.status_code == expected, (answer.status_code, answer.text[:2000])
        return answer


class LangchainPython:
    """langchain-azure-dynamic-sessions, SessionsPythonREPLTool (api-version 2024-02-02-preview)."""

    def __init__(self, pool, session_id):
        self.pool, self.session_id = pool, session_id

    def url(self, path, version="2024-02-02-preview"):
        return f"{self.pool.endpoint}{path}?identifier={urllib.parse.quote(self.session_id)}&api-version={version}"

    def execute(self, code):
        answer = requests.post(self.url("code/execute"), headers={**self.pool.headers, "Content-Type": "application/json"}, timeout=120,
                               json={"properties": {"codeInputType": "inline", "executionType": "synchronous", "code": code}})
        answer.raise_for_status()
        return answer.json().get("properties", {})

    def upload_file(self, data, remote_file_path):
        answer = requests.request("POST", self.url("files/upload"), headers=self.pool.headers, data={}, timeout=120,
                                  files=[("file", (remote_file_path, data, "application/octet-stream"))])
        answer.raise_for_status()
        properties = answer.json()["value"][0]["properties"]
        return properties["filename"], properties["size"]

    def download_file(self, remote_file_path):
        answer = requests.get(self.url(f"files/content/{urllib.parse.quote(remote_file_path)}"), headers=self.pool.headers, timeout=120)
        answer.raise_for_status()
        return answer.content

    def list_files(self):
        answer = requests.get(self.url("files"), headers=self.pool.headers, timeout=120)
        answer.raise_for_status()
        return [(one["properties"]["filename"], one["properties"]["size"]) for one in answer.json()["value"]]

    def delete_session(self):
        answer = requests.delete(self.url("session", "2025-10-02-preview"), headers=self.pool.headers, timeout=120)
        answer.raise_for_status()


class LangchainBash:
    """langchain-azure-dynamic-sessions, SessionsBashTool (api-version 2025-02-02-preview)."""

    def __init__(self, pool, session_id):
        self.pool, self.session_id = pool, session_id

    def url(self, path):
        return f"{self.pool.endpoint}{path}?identifier={urllib.parse.quote(self.session_id)}&api-version=2025-02-02-preview"

    def run(self, command):
        answer = requests.post(self.url("executions"), headers={**self.pool.headers, "Content-Type": "application/json"}, timeout=120,
                               json={"shellCommand": command})
        answer.raise_for_status()
        body = answer.json()
        return body["result"]["stdout"], body["result"]["stderr"], int(body["status"])

    def upload_file(self, data, remote_file_path):
        answer = requests.request("POST", self.url("files") + "&path=/mnt/data", headers=self.pool.headers, data={}, timeout=120,
                                  files=[("file", (remote_file_path, data, "application/octet-stream"))])
        answer.raise_for_status()
        return answer.json()["name"], answer.json()["sizeInBytes"]

    def download_file(self, remote_file_path):
        answer = requests.get(self.url(f"files/{urllib.parse.quote(remote_file_path)}/content"), headers=self.pool.headers, timeout=120)
        answer.raise_for_status()
        return answer.content

    def list_files(self):
        answer = requests.get(self.url("files"), headers=self.pool.headers, timeout=120)
        answer.raise_for_status()
        return [(one["name"], one["sizeInBytes"]) for one in answer.json()["value"]]


class SemanticKernelPython:
    """semantic-kernel (Python), SessionsPythonTool: names uploads by their whole path, and puts the version behind the identifier."""

    def __init__(self, pool, session_id):
        self.pool, self.session_id = pool, session_id

    def url(self, endpoint):
        return f"{self.pool.endpoint}{endpoint.rstrip('/')}?identifier={self.session_id}&api-version=2024-02-02-preview"

    def execute_code(self, code):
        body = {"properties": {"identifier": self.session_id, "codeInputType": "inline", "executionType": "synchronous",
                               "code": code, "timeoutInSeconds": 100}}
        answer = requests.post(self.url("code/execute/"), headers=self.pool.headers, json=body, timeout=120)
        answer.raise_for_status()
        result = answer.json()["properties"]
        return f"Result:\n{result['result']}Stdout:\n{result['stdout']}Stderr:\n{result['stderr']}"

    def upload_file(self, data, name):
        remote = f"/mnt/data/{name}"
        answer = requests.post(self.url("files/upload"), headers=self.pool.headers, timeout=120,
                               files={"file": (remote, data, "application/octet-stream")})
        answer.raise_for_status()
        properties = answer.json()["value"][0]["properties"]
        return f"/mnt/data/{properties['filename']}", properties["size"]

    def list_files(self):
        answer = requests.get(self.url("files"), headers=self.pool.headers, timeout=120)
        answer.raise_for_status()
        return [f"/mnt/data/{one['properties']['filename']}" for one in answer.json()["value"]]

    def download_file(self, name):
        answer = requests.get(self.url(f"files/content/{name}"), headers=self.pool.headers, timeout=120)
        answer.raise_for_status()
        return answer.content


class SemanticKernelDotNet:
    """semantic-kernel (.NET), SessionsPythonPlugin (api-version 2024-10-02-preview): enums with capitals, executionResult as a string."""

    def __init__(self, pool, session_id):
        self.pool, self.session_id = pool, session_id

    def url(self, path):
        return f"{self.pool.endpoint}{path}?identifier={self.session_id}&api-version=2024-10-02-preview"

    def execute_code(self, code):
        body = {"identifier": self.session_id, "codeInputType": "Inline", "executionType": "Synchronous", "code": code, "timeoutInSeconds": 100}
        answer = requests.post(self.url("executions"), headers=self.pool.headers, json=body, timeout=120)
        answer.raise_for_status()
        body = answer.json()
        assert isinstance(body["status"], str)
        for name in ("stdout", "stderr", "executionResult"):
            assert isinstance(body["result"][name], str), f"{name} is not a string: {body['result'][name]!r}"
        return body["status"], body["result"]["executionResult"], body["result"]["stdout"], body["result"]["stderr"]

    def upload_file(self, data, name):
        answer = requests.post(self.url("files"), headers=self.pool.headers, files={"file": (name, data)}, timeout=120)
        answer.raise_for_status()
        return answer.json()["name"], answer.json()["sizeInBytes"]

    def list_files(self):
        answer = requests.get(self.url("files"), headers=self.pool.headers, timeout=120)
        answer.raise_for_status()
        for one in answer.json()["value"]:
            assert isinstance(one["name"], str) and isinstance(one["type"], str) and isinstance(one["lastModifiedAt"], str)
        return [one["name"] for one in answer.json()["value"]]

    def download_file(self, name):
        answer = requests.get(self.url(f"files/{urllib.parse.quote(name, safe='')}/content"), headers=self.pool.headers, timeout=120)
        answer.raise_for_status()
        return answer.content


class Autogen:
    """autogen-ext, ACADynamicSessionsCodeExecutor (api-version 2024-02-02-preview)."""

    def __init__(self, pool, session_id):
        self.pool, self.params = pool, {"api-version": "2024-02-02-preview", "identifier": session_id}

    def execute(self, code, timeout=60):
        """(exit code, output), as its CommandLineCodeResult has them."""
        body = {"properties": {"codeInputType": "inline", "executionType": "synchronous", "code": code, "timeoutInSeconds": timeout}}
        answer = requests.post(self.pool.endpoint + "code/execute", params=self.params, headers=self.pool.headers, json=body, timeout=120)
        answer.raise_for_status()
        data = answer.json()["properties"]
        logs = data.get("stderr", "") + data.get("stdout", "")
        if "Success" in data["status"]:
            return 0, logs + str(data["result"])
        assert "Failure" in data["status"]
        return 1, logs

    def upload_files(self, files):
        for name, data in files.items():
            form = {"file": (name, data, "application/octet-stream")}
            requests.post(self.pool.endpoint + "files/upload", params=self.params, headers=self.pool.headers, files=form, timeout=120).raise_for_status()

    def get_file_list(self):
        answer = requests.get(self.pool.endpoint + "files", params=self.params, headers=self.pool.headers, timeout=120)
        answer.raise_for_status()
        return [one["properties"]["filename"] for one in answer.json()["value"]]

    def download(self, name):
        answer = requests.get(self.pool.endpoint + f"files/content/{name}", params=self.params, headers=self.pool.headers, timeout=120)
        answer.raise_for_status()
        return answer.content
