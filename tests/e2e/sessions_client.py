"""Sessions over HTTP, for the tests of the interpreter."""

import os
import shutil
import subprocess
import tempfile
import time

import requests

from sandkeep_server import ROOT_KEY, Server

ORDINARY = 65534


class Keep:
    """Who runs code: a session for one, its executions for another."""

    def __init__(self, server, key=ROOT_KEY):
        self.server = server
        self.http = requests.Session()
        self.http.headers["Authorization"] = f"Bearer {key}"

    def call(self, method, path, status=200, **options):
        answer = self.http.request(method, self.server.url + path, timeout=180, **options)
        assert answer.status_code == status, answer.text
        return answer

    def create(self, **wanted):
        return self.call("POST", "/api/v1/sessions", 201, json=wanted).json()

    def get(self, session):
        return self.call("GET", f"/api/v1/sessions/{session['id']}").json()

    def run(self, session, code, status=200, **more):
        return self.call("POST", f"/api/v1/sessions/{session['id']}/executions", status, json={"code": code, **more}).json()

    def start(self, session, code, **more):
        """Runs in the background; the execution's address."""
        path = f"/api/v1/sessions/{session['id']}/executions"
        return path + "/" + self.call("POST", path, 202, json={"code": code, "wait": False, **more}).json()["id"]

    def wait(self, execution):
        return self.call("GET", f"{execution}?wait=true").json()

    def printed_until(self, execution, word):
        """Follows the output of an execution until it has printed `word`."""
        with self.http.get(self.server.url + execution, stream=True, timeout=60, headers={"Accept": "text/event-stream"}) as answer:
            for line in answer.iter_lines(decode_unicode=True):
                if line.startswith("data:") and word in line:
                    return
        raise AssertionError(f"it ended without printing {word}")

    def put(self, path, content, status=201, workspace="default", **headers):
        """The file's entry."""
        return self.call("PUT", f"/api/v1/workspaces/{workspace}/files/{path}", status, data=content, headers=headers).json()["entry"]

    def read(self, path, workspace="default"):
        return self.call("GET", f"/api/v1/workspaces/{workspace}/files/{path}").content

    def files(self, folder, workspace="default"):
        """Paths below a folder of the workspace, without it."""
        found, cursor = [], ""
        while True:
            query = {"folder": folder, "recursive": "true", **({"cursor": cursor} if cursor else {})}
            page = self.call("GET", f"/api/v1/workspaces/{workspace}/list", params=query).json()
            found += [item["path"].removeprefix(folder + "/") for item in page["items"] if item["kind"] == "file"]
            cursor = page.get("next_cursor") or ""
            if not cursor:
                return sorted(found)

    def events(self, kinds, after=0, wait=0):
        query = {"kinds": kinds, "after": after, **({"wait": wait} if wait else {})}
        return self.call("GET", "/api/v1/workspaces/default/events", params=query).json()["items"]


class UserServer(Server):
    """A server that runs as a given user, in a folder that is that user's."""

    def __init__(self, uid, *flags, environment=None):
        folder = tempfile.mkdtemp(prefix="sandkeep-e2e-")
        limits = {} if uid == 0 else {"SANDKEEP_LIMITS": "approximate"}  # an ordinary user may have no control groups
        super().__init__(*flags, environment={"SANDKEEP_SANDBOX": "required", **limits, **(environment or {})}, folder=folder)
        self.uid = uid
        os.chown(folder, uid, uid)

    def launch(self):
        if self.uid == os.geteuid():
            return super().launch()
        whole = subprocess.Popen

        def as_user(command, **options):
            return whole(["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", *command], **options)

        subprocess.Popen = as_user
        try:
            super().launch()
        finally:
            subprocess.Popen = whole

    def remove(self):
        super().remove()
        shutil.rmtree(self.folder, ignore_errors=True)


USERS = [0, ORDINARY] if os.geteuid() == 0 else [os.geteuid()]


def text_of(done):
    """Everything that an execution printed."""
    return "".join(output.get("text", "") for output in done["outputs"] if output["type"] in ("stdout", "stderr"))


def wait_for(what, timeout_s=60):
    deadline = time.monotonic() + timeout_s
    while not (found := what()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found
