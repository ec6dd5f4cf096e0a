"""LibreChat's requests to its code interpreter, in both generations of the protocol: what it sends, and what it reads of the answer."""

import re

import requests

ID = re.compile(r"^[A-Za-z0-9_-]{21}$")  # LibreChat's own download route accepts nothing else


class LibreChat:
    """One address and one way of saying who asks."""

    def __init__(self, url, headers=None):
        self.base, self.headers = url, {"User-Agent": "LibreChat/1.0", **(headers or {})}

    def call(self, method, path, expected=200, **options):
        headers = {**self.headers, **options.pop("headers", {})}
        answer = requests.request(method, self.base + path, headers=headers, timeout=120, **options)
        assert answer.status_code == expected, (answer.status_code, answer.text[:2000])
        return answer

    def exec(self, code, lang="py", expected=200, **fields):
        result = self.call("POST", "/exec", expected, json={"lang": lang, "code": code, **fields}).json()
        if expected == 200:
            assert ID.match(result["session_id"]) and isinstance(result["stdout"], str) and isinstance(result["stderr"], str)
            for file in result["files"]:
                assert ID.match(file["id"]) and file["name"]
        return result


class Legacy(LibreChat):
    """LibreChat before the end of April 2026 with @librechat/agents up to 3.1.63: X-API-Key, session_id, entity_id."""

    def __init__(self, server, key):
        super().__init__(server.url + "/librechat/v1", {"X-API-Key": key})

    def upload(self, name, data, entity_id=""):
        """The file's identifier, "session/file"."""
        form = [("entity_id", (None, entity_id))] if entity_id else []
        result = self.call("POST", "/upload", files=[*form, ("file", (name, data))], headers={"User-Id": "66f0"}).json()
        assert result["message"] == "success"
        assert ID.match(result["session_id"]) and ID.match(result["files"][0]["fileId"])
        return f"{result['session_id']}/{result['files'][0]['fileId']}"

    def refs(self, session_id):
        """What the tool of that generation asks before each run."""
        files = self.call("GET", f"/files/{session_id}", params={"detail": "full"}).json()
        return [{"session_id": session_id, "id": one["name"].split("/")[1].split(".")[0], "name": one["metadata"]["original-filename"]}
                for one in files]

    def download(self, identifier):
        return self.call("GET", f"/download/{identifier}").content


class Current(LibreChat):
    """LibreChat with @librechat/agents from 3.1.86 on: storage_session_id, kind and id."""

    WHO = {"kind": "user", "id": "66f0"}

    def upload(self, name, data, **who):
        form = [(field, (None, value)) for field, value in {**self.WHO, **who}.items()]
        result = self.call("POST", "/upload", files=[*form, ("file", (name, data))], headers={"User-Id": "66f0"}).json()
        assert result["message"] == "success"
        return self.ref(result["storage_session_id"], result["files"][0]["fileId"], name, **who)

    def ref(self, session, file, name, **who):
        assert ID.match(session) and ID.match(file)
        who = {**self.WHO, **who}
        return {"id": file, "resource_id": who["id"], "storage_session_id": session, "name": name, "kind": who["kind"]}

    def refs(self, result):
        """The files of an answer, as they are sent along with the next run."""
        return [self.ref(file.get("storage_session_id", result["session_id"]), file["id"], file["name"]) for file in result["files"]]

    def download(self, ref, **options):
        return self.call("GET", f"/download/{ref['storage_session_id']}/{ref['id']}", params=self.WHO, **options)

    def probe(self, ref, expected=200):
        return self.call("GET", f"/sessions/{ref['storage_session_id']}/objects/{ref['id']}", expected, params=self.WHO)
