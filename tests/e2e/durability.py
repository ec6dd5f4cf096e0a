"""What the tests of durability share: a bare client, and a ledger of what was promised to it.

A `Wire` is one connection, quick enough to press a server. A `Ledger` remembers every version that an answer acknowledged, and every content that
was ever sent; after a crash it asks the server for all of them.
"""

import hashlib
import http.client
import json
import os
import random
import threading
import urllib.parse
from dataclasses import dataclass

from sandkeep_server import ROOT_KEY

# A server that is alive answers within this time, also on a machine that is busy with other things.
ANSWER_S = 60

LONG = os.environ.get("SK_LONG") == "1"


class Lost(Exception):
    """The connection ended before the answer: whether the request was carried out is not known."""


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self):
        return json.loads(self.body)

    def ok(self):
        """For requests that must succeed."""
        assert self.status in (200, 201, 204), f"{self.status}: {self.body[:1000]}"
        return self


class Wire:
    """One connection to a server, made again when the server closed it. Not for two threads."""

    def __init__(self, server, key=ROOT_KEY):
        self.server = server
        self.headers = {"Authorization": f"Bearer {key}"}
        self.connection = None

    def call(self, method, path, body=None, headers=None):
        """Lost when the server goes away; a TimeoutError when it is there and does not answer."""
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            headers = {"Content-Type": "application/json", **(headers or {})}
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=ANSWER_S)
            self.connection.request(method, path, body, {**self.headers, **(headers or {})})
            answer = self.connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        except TimeoutError as error:
            self.close()
            raise TimeoutError(f"{method} {path}: no answer in {ANSWER_S} s; {self.server.state()}") from error
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Lost(f"{method} {path}: {error!r}; {self.server.state()}") from error

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def at(path, workspace="default"):
    return f"/api/v1/workspaces/{workspace}/files/{urllib.parse.quote(path)}"


def form(files):
    """A multipart body of {name: content}, and its headers."""
    boundary = "b" + os.urandom(12).hex()
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="f"; filename="{name}"\r\n\r\n'.encode() + content + b"\r\n"
             for name, content in files.items()]
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def make_random():
    """A generator whose seed stands in the output of a test that fails; SK_SEED repeats it."""
    seed = int(os.environ.get("SK_SEED", 0)) or random.SystemRandom().randrange(1, 1 << 32)
    print(f"SK_SEED={seed}")
    return random.Random(seed)


def all_pages(wire, path, **query):
    cursor = None
    while True:
        text = urllib.parse.urlencode({**query, **({"cursor": cursor} if cursor else {})})
        page = wire.call("GET", f"{path}?{text}").ok().json()
        yield from page["items"]
        if not page["has_more"]:
            return
        cursor = page["next_cursor"]


class Ledger:
    """What was promised, by whichever thread. Everything here is safe to call from all of them."""

    def __init__(self):
        self._lock = threading.Condition()
        self._kept = {}  # version id -> sha256
        self._unchecked = []
        self._purging = set()  # a purge was asked for
        self._purged = set()  # and acknowledged
        self._sent = set()  # sha256 of every content ever sent
        self._listed = {}  # version ids that a listing showed and that were read
        self._acknowledged = 0

    def __len__(self):
        return len(self._kept)

    def has_kept(self, digest):
        """Whether a version with these bytes was acknowledged."""
        with self._lock:
            return digest in self._kept.values()

    def sending(self, content):
        """Before a content goes out, so that it is known when it turns up though nobody acknowledged it."""
        digest = sha256(content)
        with self._lock:
            self._sent.add(digest)
        return digest

    def acknowledged(self, changes=()):
        """An answer came; `changes` are the change results in it."""
        with self._lock:
            self._acknowledged += 1
            for change in changes:
                version = change["version"]
                known = self._kept.setdefault(version["id"], version["sha256"])
                assert known == version["sha256"], f"{version['id']} stands for two contents"
                self._unchecked.append(version["id"])
            self._lock.notify_all()

    def wait_for(self, more, alive):
        """Until so many more answers came, or `alive()` is false."""
        with self._lock:
            target = self._acknowledged + more
            while self._acknowledged < target and alive():
                self._lock.wait(0.05)

    def purging(self, versions):
        with self._lock:
            self._purging.update(versions)

    def purged(self, versions):
        with self._lock:
            self._purged.update(versions)

    def check_versions(self, wire):
        """Every version that was acknowledged, byte for byte."""
        return self._check_versions(wire, set(self._kept))

    def check_new_versions(self, wire, rng, older):
        """Those that were acknowledged since the last check, and a few older ones."""
        chosen = rng.sample(sorted(self._kept), min(older, len(self._kept)))
        return self._check_versions(wire, set(self._unchecked) | set(chosen))

    def _check_versions(self, wire, wanted):
        self._unchecked.clear()
        for version in sorted(wanted):
            self._check_version(wire, version)
        return len(wanted)

    def _check_version(self, wire, version):
        answer = wire.call("GET", f"/k/{version}/x")
        if answer.status == 410 and version in self._purging:
            return
        assert version not in self._purged, f"{version} was purged and is back: {answer.status}"
        assert answer.status == 200, f"the acknowledged {version} is lost: {answer.status} {answer.body[:500]}"
        assert sha256(answer.body) == self._kept[version], f"the acknowledged {version} has other bytes"

    def check_listing(self, wire, workspace="default"):
        """Whatever is listed has its bytes, and they are bytes that somebody sent. The listed files by path."""
        listed = {}
        for entry in all_pages(wire, f"/api/v1/workspaces/{workspace}/list", recursive="true"):
            if entry["kind"] != "file":
                continue
            listed[entry["path"]] = entry
            if self._listed.get(entry["version_id"]) == entry["sha256"]:
                continue
            assert entry["sha256"] in self._sent, f"nobody ever sent what is listed: {entry}"
            answer = wire.call("GET", at(entry["path"], workspace))
            assert answer.status == 200, f"{entry['path']} is listed and cannot be read: {answer.status} {answer.body[:500]}"
            assert sha256(answer.body) == entry["sha256"] and len(answer.body) == entry["size"], f"torn: {entry}"
            assert answer.headers["ETag"].strip('"') == entry["version_id"]
            self._listed[entry["version_id"]] = entry["sha256"]
        return listed


def verify(wire):
    """The server's own verification of every byte and reference must find nothing."""
    answer = wire.call("POST", "/api/v1/verify")
    assert answer.status == 200, answer.body
    found = answer.json()
    assert found["ok"] and found["problems"] == [], found
    return found
