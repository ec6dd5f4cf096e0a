"""The world of test_key_scopes.py: one server, a workspace with one of everything in it, and every kind of key that may or may not reach it."""

import dataclasses
import itertools
import subprocess
import time
import typing

import pytest
import requests

from sandkeep_server import ROOT_KEY, Server, binary

# Stands in every content, every output and every text of the workspace that is guarded. Nobody else may ever be shown it.
SECRET = "guarded-bytes-7d1f"
MODERN = "2026-07-28"
NONE, READ, WRITE, OWN = range(4)
# What a key reaches: of the workspace, of its owner's sessions, and of what lies in a key's default workspace ("home").
LEVELS = {
    "owner": {"workspace": OWN, "session": OWN, "home": NONE, "any": OWN, "admin": NONE, "unbound": OWN},
    "owner, read-only": {"workspace": READ, "session": READ, "home": NONE, "any": READ, "admin": NONE, "unbound": READ},
    "bound to it": {"workspace": OWN, "session": OWN, "home": OWN, "any": OWN, "admin": NONE, "unbound": READ},
    "bound to it, read-only": {"workspace": READ, "session": READ, "home": READ, "any": READ, "admin": NONE, "unbound": READ},
    "bound elsewhere": {"workspace": NONE, "session": NONE, "home": NONE, "any": OWN, "admin": NONE, "unbound": READ},
    "member: read": {"workspace": READ, "session": NONE, "home": NONE, "any": OWN, "admin": NONE, "unbound": OWN},
    "member: write": {"workspace": WRITE, "session": NONE, "home": NONE, "any": OWN, "admin": NONE, "unbound": OWN},
    "member: own": {"workspace": OWN, "session": NONE, "home": NONE, "any": OWN, "admin": NONE, "unbound": OWN},
    "former member": {"workspace": NONE, "session": NONE, "home": NONE, "any": OWN, "admin": NONE, "unbound": OWN},
    "stranger": {"workspace": NONE, "session": NONE, "home": NONE, "any": OWN, "admin": NONE, "unbound": OWN},
    "administrator": {"workspace": NONE, "session": NONE, "home": NONE, "any": OWN, "admin": OWN, "unbound": OWN},
    "administrator, read-only": {"workspace": NONE, "session": NONE, "home": NONE, "any": READ, "admin": READ, "unbound": READ},
}
INVALID = ("no key", "unknown key", "revoked key", "expired key")


class Actor:
    """One key, as a client."""

    def __init__(self, world, name, key):
        self.world, self.name, self.key = world, name, key
        self.levels = LEVELS.get(name)  # None: not a valid key
        self.cookie = self.form_token = None
        self.mcp_session = None

    @property
    def headers(self):
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    def send(self, method, path, **options):
        """`carry`: how the key travels: "header" unless given, "cookie", or not at all ("path")."""
        carry = options.pop("carry", "header")
        headers = {**(self.headers if carry == "header" else {}), **options.pop("headers", {})}
        if carry == "cookie" and self.cookie:
            headers["Cookie"] = f"sandkeep_session={self.cookie}"
        self.world.http.cookies.clear()
        return self.world.http.request(method, self.world.server.url + path, headers=headers, timeout=120, allow_redirects=False, **options)

    def sign_in(self):
        answer = self.send("POST", "/login", carry="cookie", data={"key": self.key or ""})
        cookie = answer.headers.get("Set-Cookie", "")
        if answer.status_code == 303 and "sandkeep_session=" in cookie:
            self.cookie = cookie.partition("sandkeep_session=")[2].partition(";")[0]
            page = self.send("GET", "/", carry="cookie").text
            self.form_token = page.partition('name="token" value="')[2].partition('"')[0]

    def ask(self, method, path="/mcp", **params):
        """One message of MCP's newest version, which needs no session."""
        params["_meta"] = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {
            "extensions": {"io.modelcontextprotocol/tasks": {}} if method.startswith("tasks/") else {}}}
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, "Accept": "application/json, text/event-stream"}
        for field in ("name", "uri", "taskId"):
            if field in params:
                headers["Mcp-Name"] = params[field]
        return self.send("POST", path, headers=headers, json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

    def ask_session(self, method, path, **params):
        """One message of the versions before, in a session where the endpoint has them."""
        headers = {"Accept": "application/json, text/event-stream"}
        if self.mcp_session and path == "/mcp":
            headers["Mcp-Session-Id"] = self.mcp_session
        return self.send("POST", path, headers=headers, json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

    def begin_mcp(self):
        answer = self.ask_session("initialize", "/mcp", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "table", "version": "1"})
        self.mcp_session = answer.headers.get("Mcp-Session-Id")


class World:
    """The server, the guarded workspace `ws`, and everybody who asks for it."""

    def __init__(self):
        self.http = requests.Session()
        self.http.trust_env = False
        self.numbers = itertools.count(1)
        self.server = Server(environment={"SANDKEEP_SANDBOX": "required", "SANDKEEP_SESSIONS_PER_PRINCIPAL_MAX": "200"}).start()
        try:
            self._fill()
        except BaseException:
            self.server.remove()
            raise

    def close(self):
        self.http.close()
        code = self.server.stop()
        log = self.server.log()
        self.server.remove()
        assert code == 0 and "fatal" not in log, log

    # Who asks.

    def _fill(self):
        admin = Actor(self, "administrator", ROOT_KEY)
        self.admin = admin
        self.principals = {name: self.need(admin, "POST", "/api/v1/principals", json={"name": name})["id"]
                           for name in ("owner", "reader", "writer", "co-owner", "former", "stranger")}
        owner = self.key_of("owner", "owner")
        self.owner = owner
        self.ws = self.need(owner, "POST", "/api/v1/workspaces", json={"name": "guarded"})["id"]
        self.other = self.need(owner, "POST", "/api/v1/workspaces", json={"name": "elsewhere"})["id"]
        self.root = f"/api/v1/workspaces/{self.ws}"
        for name, role in (("reader", "read"), ("writer", "write"), ("co-owner", "own"), ("former", "write")):
            self.need(owner, "PUT", f"{self.root}/members/{self.principals[name]}", json={"role": role})
        self.bound = self.key_of("bound to it", "owner", workspace=self.ws)
        everybody = [
            owner, self.key_of("owner, read-only", "owner", read_only=True), self.bound,
            self.key_of("bound to it, read-only", "owner", workspace=self.ws, read_only=True),
            self.key_of("bound elsewhere", "owner", workspace=self.other),
            self.key_of("member: read", "reader"), self.key_of("member: write", "writer"), self.key_of("member: own", "co-owner"),
            self.key_of("former member", "former"), self.key_of("stranger", "stranger"), admin,
            self.key_of("administrator, read-only", None, read_only=True),
        ]
        revoked = self.key_of("revoked key", "owner")
        expired = self.key_of("expired key", "owner", expires_in_s=1)
        invalid = [Actor(self, "no key", None), Actor(self, "unknown key", "skey_" + "x" * 43), revoked, expired]
        self.former = next(a for a in everybody if a.name == "former member")
        self._make_objects()
        for actor in (*everybody, revoked, expired):
            actor.sign_in()
            actor.begin_mcp()
        # What a member made while it was one.
        self.former_session = self.need(self.former, "POST", "/api/v1/sessions", json={"workspace": self.ws, "name": "former"})["id"]
        self.need(owner, "DELETE", f"{self.root}/members/{self.principals['former']}")
        self.need(owner, "DELETE", f"/api/v1/keys/{revoked.key_id}")
        deadline = time.monotonic() + 30
        while expired.send("GET", "/api/v1/me").status_code != 401:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        self.actors = {actor.name: actor for actor in (*invalid, *everybody)}
        assert set(self.actors) == {*LEVELS, *INVALID}

    def key_of(self, name, principal, **scope):
        """A key of a principal (None: the administrator). Its scope is set by the principal itself: workspaces are named as it sees them."""
        body = {"name": "table"}
        if principal:
            body["principal_id"] = self.principals[principal]
        made = self.need(self.admin, "POST", "/api/v1/keys", json={**body, **scope})
        actor = Actor(self, name, made["secret"])
        actor.key_id = made["key"]["id"]
        return actor

    def need(self, actor, method, path, **options):
        answer = actor.send(method, path, **options)
        assert answer.status_code < 300, f"{method} {path} -> {answer.status_code}: {answer.text[:500]}"
        return answer.json() if answer.content and "json" in answer.headers.get("Content-Type", "") else answer

    # What they ask for.

    def _make_objects(self):
        """Those that no call of the table changes."""
        self.kept = self.file("kept.txt", versions=2)
        self.message = f"conversation-{next(self.numbers)}"
        self.talk(self.message)
        self.session = self.new_session()
        self.execution = self.run(self.session, f"print('{SECRET}')")
        self.given = self.give()
        self.container_file = self.in_container(self.container)
        self.azure_name = self.azure("reads")["name"]
        self.libre = self.libre_file()
        self.mcp_file = self.file("mcp.txt")

    def file(self, name=None, versions=1):
        """A file of the workspace: its path, id, version and first version."""
        path = f"d/{name or next(self.numbers)}"
        for number in range(versions):
            made = self.need(self.owner, "PUT", f"{self.root}/files/{path}", data=f"{SECRET} {path} {number}".encode())
            if number == 0:
                first = made["version"]["id"]
        return {"path": path, "id": made["entry"]["id"], "version": made["version"]["id"], "first": first}

    def trashed(self):
        file = self.file()
        self.need(self.owner, "DELETE", f"{self.root}/files/{file['path']}")
        return file

    def lock(self, ttl_s=3600):
        return self.need(self.owner, "POST", f"{self.root}/locks", json={"path": f"locked/{next(self.numbers)}", "ttl_s": ttl_s})

    def talk(self, conversation):
        self.need(self.bound, "PUT", f"/api/v1/conversations/{conversation}/messages/1", json={"text": SECRET})
        return conversation

    def new_session(self):
        return self.need(self.owner, "POST", "/api/v1/sessions", json={"workspace": self.ws, "name": "guarded"})["id"]

    @property
    def container(self):
        return "cntr_" + self.session.partition("_")[2]

    @property
    def task(self):
        """The same execution, as MCP calls it."""
        return "task_" + self.session.partition("_")[2] + self.execution.partition("_")[2]

    def running(self):
        """An execution that goes on until it is cancelled."""
        execution = self.run(self.session, "import time; time.sleep(600)", wait=False)
        return {"id": execution, "task": "task_" + self.session.partition("_")[2] + execution.partition("_")[2]}

    def run(self, session, code, **more):
        return self.need(self.owner, "POST", f"/api/v1/sessions/{session}/executions", json={"code": code, **more})["id"]

    def give(self):
        return self.need(self.bound, "POST", "/v1/files", files={"file": ("given.txt", SECRET.encode())}, data={"purpose": "user_data"})["id"]

    def in_container(self, container):
        return self.need(self.owner, "POST", f"/v1/containers/{container}/files", files={"file": (f"in{next(self.numbers)}.txt", SECRET.encode())})["id"]

    def upload(self, parts=True):
        made = self.need(self.bound, "POST", "/v1/uploads", json={"filename": "a.bin", "purpose": "user_data", "bytes": 3, "mime_type": "text/plain"})["id"]
        part = self.need(self.bound, "POST", f"/v1/uploads/{made}/parts", files={"data": ("p", b"abc")})["id"] if parts else None
        return {"id": made, "part": part}

    def azure(self, identifier, pool=""):
        name = f"a{next(self.numbers)}.txt"
        self.need(self.bound, "POST", f"/azure{pool}/files/upload?identifier={identifier}", files=[("file", (name, SECRET.encode()))])
        return {"identifier": identifier, "name": name}

    def libre_file(self):
        form = [("kind", (None, "user")), ("id", (None, "u")), ("file", (f"l{next(self.numbers)}.txt", SECRET.encode()))]
        made = self.need(self.bound, "POST", "/librechat/v1/upload", files=form)
        return {"session": made["storage_session_id"], "file": made["files"][0]["fileId"]}

    def journal(self):
        """All that happened in the guarded workspace: what a refused call must not add to."""
        items, after = [], 0
        while True:
            page = self.need(self.owner, "GET", f"{self.root}/events", params={"after": after, "limit": 1000})
            items += page["items"]
            if not page["items"]:
                return [(item["seq"], item["kind"]) for item in items]
            after = page["cursor"]

    def last_event(self):
        return self.need(self.owner, "GET", f"{self.root}/events", params={"after": "now"})["cursor"]


def routes():
    """Every route of the server, as (method, pattern), from the server's own router."""
    listed = subprocess.run([str(binary().parent / "list_routes")], check=True, capture_output=True, text=True, timeout=60).stdout
    return [tuple(line.split(" ", 1)) for line in listed.splitlines()]


@dataclasses.dataclass
class Row:
    """One call. `call(w, a, m, at)`: the actor `a` asks for what `prepare(w)` made, below the mount `at`."""

    reach: str  # which of an actor's levels counts
    need: int
    call: typing.Callable
    prepare: typing.Callable = lambda w: None
    ok: tuple = (200, 201, 202, 204)
    hidden: tuple = (404,)  # for those who reach nothing
    denied: tuple = (403,)  # for those who reach too little
    unauthorized: tuple = (401,)
    # Lists are there for every valid key; `shows(w, answer)` is whether what lies in the workspace is in it, by (reach, predicate).
    shows: tuple = None

    def expected(self, actor):
        if actor.levels is None:
            return self.unauthorized
        level = actor.levels[self.reach]
        if level == NONE:
            # A read-only key may be told that it cannot write before anybody looks what it asks for.
            return self.hidden + (self.denied if actor.levels["any"] < self.need else ())
        return self.denied if level < self.need else self.ok


def body(**fields):
    """A JSON body with templates in it."""
    def fill(value, w, m):
        if isinstance(value, str):
            return value.format(w=w, m=m, n=next(w.numbers))
        if isinstance(value, list):
            return [fill(one, w, m) for one in value]
        return {name: fill(one, w, m) for name, one in value.items()} if isinstance(value, dict) else value
    return lambda w, m: fill({name.rstrip("_"): value for name, value in fields.items()}, w, m)


def with_mcp_session(w):
    w.bound.begin_mcp()
    return w.kept


# Levels that only a row or two ask for.
MORE_LEVELS = {
    # One's own keys; a bound key sees only those bound like itself, an administrator all.
    "key": {"owner": OWN, "owner, read-only": READ, "bound to it": NONE, "bound to it, read-only": READ, "bound elsewhere": NONE,
            "administrator": OWN, "administrator, read-only": READ},
    # Administrators see a workspace's figures, and nothing in it.
    "look": {**{name: levels["workspace"] for name, levels in LEVELS.items()}, "administrator": READ, "administrator, read-only": READ},
    # A workspace that a bound key does not name.
    "spare": {**{name: levels["workspace"] for name, levels in LEVELS.items()}, "bound to it": NONE, "bound to it, read-only": NONE},
    "look at spare": {**{name: levels["workspace"] for name, levels in LEVELS.items()}, "bound to it": NONE, "bound to it, read-only": NONE,
                      "administrator": READ, "administrator, read-only": READ},
    # Administrators may purge what others have put into the trash.
    "trashed spare": {**{name: levels["workspace"] for name, levels in LEVELS.items()}, "bound to it": NONE, "bound to it, read-only": NONE,
                      "administrator": OWN, "administrator, read-only": READ},
    # What belongs to all workspaces of a principal together, a bound key does not learn.
    "own figures": {name: NONE if name.startswith("bound") else READ for name in LEVELS if LEVELS[name] is not None},
    # An MCP session belongs to the key that began it.
    "mcp session": {"bound to it": OWN},
    "nothing": {},
}
for name, levels in LEVELS.items():
    levels.update({reach: table.get(name, NONE) for reach, table in MORE_LEVELS.items()})


@pytest.fixture(scope="module")
def world():
    one = World()
    yield one
    one.close()
