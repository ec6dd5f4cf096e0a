"""Every kind of key against every call of every dialect: who gets in, who is told 403, and who is not even told that there is something.

The routes come from the server's own router: one without a row here fails. MCP's tools are in test_key_scopes_mcp.py.
"""

import dataclasses
import re

import pytest

from key_scopes import NONE, OWN, READ, SECRET, WRITE, Row, body, routes, world  # noqa: F401


def send(method, path, **options):
    """A call whose address is a template: {ws} the workspace, {at} the mount, {m[...]} what was made."""
    def call(w, a, m, at):
        filled = {name: value(w, m) if callable(value) else value for name, value in options.items()}
        return a.send(method, path.format(w=w, m=m, ws=w.root, at=at), **filled)
    return call


def reading(path, prepare=lambda w: w.kept, **more):
    return Row("workspace", READ, send("GET", path), prepare, **more)


def changing(method, path, prepare=lambda w: w.file(), need=WRITE, **more):
    options = {name: more.pop(name) for name in ("json", "data", "files", "params") if name in more}
    return Row(more.pop("reach", "workspace"), need, send(method, path, **options), prepare, **more)


def listing(path, reach, word, prepare=lambda w: w.kept, **more):
    return Row("any", READ, send("GET", path), prepare, shows=(reach, word), **more)


def new_member(w):
    made = w.need(w.admin, "POST", "/api/v1/principals", json={"name": f"guest-{next(w.numbers)}"})["id"]
    w.need(w.owner, "PUT", f"{w.root}/members/{made}", json={"role": "read"})
    return made


def spare_workspace(w, trashed=False):
    """One like the guarded one: the same members, so that it can be lost."""
    made = w.need(w.owner, "POST", "/api/v1/workspaces", json={"name": f"spare-{next(w.numbers)}"})["id"]
    for name, role in (("reader", "read"), ("writer", "write"), ("co-owner", "own")):
        w.need(w.owner, "PUT", f"/api/v1/workspaces/{made}/members/{w.principals[name]}", json={"role": role})
    if trashed:
        w.need(w.owner, "DELETE", f"/api/v1/workspaces/{made}")
    return made


def own_key(w):
    return w.need(w.owner, "POST", "/api/v1/keys", json={"name": "spare"})["key"]["id"]


OPEN = Row("any", READ, None, ok=(200,), unauthorized=(200,))


def open_to_all(method, path, **options):
    return dataclasses.replace(OPEN, call=send(method, path, **options))


WS = "/api/v1/workspaces/{ws}"
SESSION = "/api/v1/sessions/{session}"
TALK = "/api/v1/conversations/{conversation}"
REST = {
    "GET /api/v1": open_to_all("GET", "/api/v1"),
    "GET /api/v1/openapi.json": open_to_all("GET", "/api/v1/openapi.json"),
    "GET /healthz": open_to_all("GET", "/healthz"),
    "GET /readyz": open_to_all("GET", "/readyz"),
    # Open to all, but a wrong key is told.
    "GET /metrics": dataclasses.replace(open_to_all("GET", "/metrics"), unauthorized=(200, 401)),
    "GET /api/v1/usage": Row("own figures", READ, send("GET", "/api/v1/usage"), hidden=(403,)),
    "GET /api/v1/top": Row("admin", READ, send("GET", "/api/v1/top"), hidden=(403,)),
    "GET /api/v1/me": Row("any", READ, send("GET", "/api/v1/me")),
    "GET /api/v1/principals": Row("admin", READ, send("GET", "/api/v1/principals"), hidden=(403,)),
    "POST /api/v1/principals": Row("admin", WRITE, send("POST", "/api/v1/principals", json=body(name="made-{n}")), hidden=(403,)),
    "PATCH /api/v1/principals/{principal}": Row("admin", WRITE, send("PATCH", "/api/v1/principals/{m}", json=body(suspended=False)), new_member, hidden=(403,)),
    "GET /api/v1/keys": Row("any", READ, send("GET", "/api/v1/keys")),
    "POST /api/v1/keys": Row("unbound", WRITE, send("POST", "/api/v1/keys", json=body(name="made"))),
    "DELETE /api/v1/keys/{key}": Row("key", WRITE, send("DELETE", "/api/v1/keys/{m}"), own_key),
    "GET /api/v1/workspaces": listing("/api/v1/workspaces", "workspace", lambda w: w.ws),
    "POST /api/v1/workspaces": Row("unbound", WRITE, send("POST", "/api/v1/workspaces", json=body(name="made-{n}"))),
    f"GET {WS}": Row("look", READ, send("GET", "{ws}")),
    f"GET {WS}/usage": Row("look", READ, send("GET", "{ws}/usage")),
    f"PATCH {WS}": changing("PATCH", "/api/v1/workspaces/{m}", spare_workspace, OWN, reach="look at spare", json=body(name="renamed-{n}")),
    f"DELETE {WS}": changing("DELETE", "/api/v1/workspaces/{m}", spare_workspace, OWN, reach="spare"),
    f"POST {WS}/restore": changing("POST", "/api/v1/workspaces/{m}/restore", lambda w: spare_workspace(w, True), OWN, reach="spare"),
    f"PUT {WS}/members/{{principal}}": changing("PUT", "{ws}/members/{m}", new_member, OWN, json={"role": "write"}),
    f"DELETE {WS}/members/{{principal}}": changing("DELETE", "{ws}/members/{m}", new_member, OWN),
    f"POST {WS}/revoke-links": changing("POST", "{ws}/revoke-links", need=OWN),
    f"GET {WS}/files/{{path...}}": reading("{ws}/files/{m[path]}?version={m[first]}"),
    f"DELETE {WS}/files/{{path...}}": changing("DELETE", "{ws}/files/{m[path]}"),
    f"PATCH {WS}/files/{{path...}}": changing("PATCH", "{ws}/files/{m[path]}", json={"mode": "0600"}),
    f"PUT {WS}/files/{{path...}}": changing("PUT", "{ws}/files/{m[path]}", data=b"new"),
    f"POST {WS}/files/{{path...}}": changing("POST", "{ws}/files/d", files={"f": ("form.txt", b"new")}),
    f"GET {WS}/entries/{{path...}}": reading("{ws}/entries/{m[path]}"),
    f"GET {WS}/list": reading("{ws}/list?recursive=true&glob=*kept*"),
    f"POST {WS}/mkdir": changing("POST", "{ws}/mkdir", json=body(path="made/{n}")),
    f"POST {WS}/move": changing("POST", "{ws}/move", json=body(from_="{m[path]}", to="moved/{n}")),
    f"POST {WS}/copy": changing("POST", "{ws}/copy", json=body(from_="{m[path]}", to="copied/{n}")),
    f"POST {WS}/restore-version": changing("POST", "{ws}/restore-version", lambda w: w.file(versions=2), json=body(version_id="{m[first]}")),
    f"POST {WS}/restore-as-of": changing("POST", "{ws}/restore-as-of", json=lambda w, m: {"time": "2999-01-01T00:00:00Z", "folder": "d"}, ok=(200, 400)),
    f"POST {WS}/batch": changing("POST", "{ws}/batch", json=body(changes=[{"op": "put", "path": "batch/{n}", "content": "new"}])),
    f"GET {WS}/versions/{{path...}}": reading("{ws}/versions/{m[path]}"),
    f"GET {WS}/version/{{version}}": reading("{ws}/version/{m[first]}"),
    f"DELETE {WS}/version/{{version}}": changing("DELETE", "{ws}/version/{m[first]}", lambda w: w.file(versions=2), OWN),
    f"GET {WS}/trash": reading("{ws}/trash"),
    f"POST {WS}/trash/{{file}}/restore": changing("POST", "{ws}/trash/{m[id]}/restore", lambda w: w.trashed(), json={}),
    f"DELETE {WS}/trash/{{file}}": changing("DELETE", "{ws}/trash/{m[id]}", lambda w: w.trashed(), OWN),
    f"DELETE {WS}/trash": changing("DELETE", "{ws}/trash", lambda w: w.trashed(), OWN),
    f"GET {WS}/locks": reading("{ws}/locks"),
    f"POST {WS}/locks": changing("POST", "{ws}/locks", json=body(path="locks/{n}")),
    f"POST {WS}/locks/renew": changing("POST", "{ws}/locks/renew", lambda w: w.lock(), json=body(token="{m[token]}")),
    f"POST {WS}/locks/release": changing("POST", "{ws}/locks/release", lambda w: w.lock(), json=body(token="{m[token]}")),
    f"DELETE {WS}/locks/{{lock}}": changing("DELETE", "{ws}/locks/{m[id]}", lambda w: w.lock(), OWN),
    f"DELETE {WS}/executions": changing("DELETE", "{ws}/executions?before=2000-01-01T00:00:00Z", need=OWN),
    f"GET {WS}/events": reading("{ws}/events"),
    "GET /api/v1/events": Row("admin", READ, send("GET", "/api/v1/events"), hidden=(403,)),
    f"GET {WS}/audit": reading("{ws}/audit"),
    "GET /api/v1/audit": Row("admin", READ, send("GET", "/api/v1/audit"), hidden=(403,)),
    "POST /api/v1/gc": Row("admin", WRITE, send("POST", "/api/v1/gc", json={}), hidden=(403,)),
    "POST /api/v1/verify": Row("admin", READ, send("POST", "/api/v1/verify", json={}), hidden=(403,)),
    "POST /blob": changing("POST", "/blob?workspace={w.ws}&folder=blob&name=b.txt", data=b"new"),
    "POST /api/v1/sessions": Row("workspace", WRITE, send("POST", "/api/v1/sessions", json=body(workspace="{w.ws}", name="made"))),
    "GET /api/v1/sessions": listing("/api/v1/sessions", "session", lambda w: w.session),
    f"GET {SESSION}": Row("session", READ, send("GET", "/api/v1/sessions/{w.session}")),
    f"GET {SESSION}/export": Row("session", READ, send("GET", "/api/v1/sessions/{w.session}/export")),
    f"POST {SESSION}/sleep": Row("session", WRITE, send("POST", "/api/v1/sessions/{m}/sleep"), lambda w: w.new_session()),
    f"GET {SESSION}/unkept": Row("session", READ, send("GET", "/api/v1/sessions/{w.session}/unkept")),
    f"POST {SESSION}/retry": Row("session", WRITE, send("POST", "/api/v1/sessions/{w.session}/retry")),
    f"DELETE {SESSION}/unkept": Row("session", WRITE, send("DELETE", "/api/v1/sessions/{w.session}/unkept")),
    f"DELETE {SESSION}": Row("session", WRITE, send("DELETE", "/api/v1/sessions/{m}"), lambda w: w.new_session()),
    f"POST {SESSION}/executions": Row("session", WRITE, send("POST", "/api/v1/sessions/{w.session}/executions", json={"code": "1"})),
    f"GET {SESSION}/executions": Row("session", READ, send("GET", "/api/v1/sessions/{w.session}/executions")),
    f"GET {SESSION}/executions/{{execution}}": Row("session", READ, send("GET", "/api/v1/sessions/{w.session}/executions/{w.execution}")),
    f"GET {SESSION}/executions/{{execution}}/kept": Row("session", READ, send("GET", "/api/v1/sessions/{w.session}/executions/{w.execution}/kept")),
    f"POST {SESSION}/executions/{{execution}}/cancel": Row(
        "session", WRITE, send("POST", "/api/v1/sessions/{w.session}/executions/{m[id]}/cancel"), lambda w: w.running()),
    f"PUT {TALK}/messages/{{message}}": changing("PUT", "/api/v1/conversations/c/messages/m?workspace={w.ws}", json={"text": "new"}),
    f"GET {TALK}/messages/{{message}}": reading("/api/v1/conversations/{w.message}/messages/1?workspace={w.ws}"),
    f"DELETE {TALK}/messages/{{message}}": changing("DELETE", "/api/v1/conversations/{m}/messages/1?workspace={w.ws}", lambda w: w.talk(f"t{next(w.numbers)}")),
    f"GET {TALK}/messages": reading("/api/v1/conversations/{w.message}/messages?workspace={w.ws}"),
    "GET /api/v1/conversations": reading("/api/v1/conversations?workspace={w.ws}"),
    f"GET {TALK}": reading("/api/v1/conversations/{w.message}?workspace={w.ws}"),
    f"DELETE {TALK}": changing("DELETE", "/api/v1/conversations/{m}?workspace={w.ws}", lambda w: w.talk(f"t{next(w.numbers)}")),
    "POST /api/v1/conversations": changing("POST", "/api/v1/conversations", json=body(
        workspace="{w.ws}", messages=[{"conversation": "c", "message": "n", "text": "new"}])),
}

CONTAINER = "/v1/containers/{container}"
OPENAI = {
    "POST /v1/containers": Row("any", WRITE, send("POST", "{at}/containers", json={"name": "made"})),
    "GET /v1/containers": listing("{at}/containers?limit=100", "session", lambda w: w.container),
    f"GET {CONTAINER}": Row("session", READ, send("GET", "{at}/containers/{w.container}")),
    f"DELETE {CONTAINER}": Row("session", WRITE, send("DELETE", "{at}/containers/{m}"), lambda w: "cntr_" + w.new_session().partition("_")[2]),
    f"POST {CONTAINER}/files": Row("session", WRITE, send("POST", "{at}/containers/{w.container}/files", files={"file": ("new.txt", b"new")})),
    f"GET {CONTAINER}/files": Row("session", READ, send("GET", "{at}/containers/{w.container}/files")),
    f"GET {CONTAINER}/files/{{file}}": Row("session", READ, send("GET", "{at}/containers/{w.container}/files/{w.container_file}")),
    f"GET {CONTAINER}/files/{{file}}/content": Row("session", READ, send("GET", "{at}/containers/{w.container}/files/{w.container_file}/content")),
    f"DELETE {CONTAINER}/files/{{file}}": Row("session", WRITE, send("DELETE", "{at}/containers/{w.container}/files/{m}"), lambda w: w.in_container(w.container)),
    f"POST {CONTAINER}/exec": Row("session", WRITE, send("POST", "{at}/containers/{w.container}/exec", json={"code": "1"})),
    "POST /v1/files": Row("any", WRITE, send("POST", "{at}/files", files={"file": ("new.txt", b"new")}, data={"purpose": "user_data"})),
    "GET /v1/files": listing("{at}/files?limit=10000", "workspace", lambda w: w.given),
    "GET /v1/files/{file}": Row("workspace", READ, send("GET", "{at}/files/{w.given}")),
    "GET /v1/files/{file}/content": Row("workspace", READ, send("GET", "{at}/files/{w.given}/content")),
    "DELETE /v1/files/{file}": Row("workspace", WRITE, send("DELETE", "{at}/files/{m}"), lambda w: w.give()),
    "POST /v1/uploads": Row("any", WRITE, send("POST", "{at}/uploads", json={"filename": "a", "purpose": "user_data", "bytes": 1, "mime_type": "text/plain"})),
    "POST /v1/uploads/{upload}/parts": Row("session", WRITE, send("POST", "{at}/uploads/{m[id]}/parts", files={"data": ("p", b"abc")}), lambda w: w.upload(False)),
    "POST /v1/uploads/{upload}/complete": Row("session", WRITE, send("POST", "{at}/uploads/{m[id]}/complete", json=body(part_ids=["{m[part]}"])), lambda w: w.upload()),
    "POST /v1/uploads/{upload}/cancel": Row("session", WRITE, send("POST", "{at}/uploads/{m[id]}/cancel"), lambda w: w.upload()),
}


def azure_execution(w):
    answer = w.bound.send("POST", "/azure/executions?identifier=reads&api-version=2024-10-02-preview", json={"code": f"print('{SECRET}')", "codeInputType": "Inline"})
    assert answer.status_code in (200, 202), answer.text
    return answer.json()["id"]


AZURE = {
    "POST /azure/code/execute": Row("any", WRITE, send("POST", "{at}/code/execute?identifier=runs", json={
        "properties": {"codeInputType": "inline", "executionType": "synchronous", "code": "1"}})),
    "POST /azure/executions": Row("any", WRITE, send("POST", "{at}/executions?identifier=runs&api-version=2024-10-02-preview", json={"code": "1", "codeInputType": "Inline"})),
    "GET /azure/executions/{execution}": Row("home", READ, send("GET", "{at}/executions/{m}?identifier=reads&api-version=2024-10-02-preview"), azure_execution),
    "POST /azure/files/upload": Row("any", WRITE, send("POST", "{at}/files/upload?identifier=runs", files=[("file", ("new.txt", b"new"))])),
    "POST /azure/files": Row("any", WRITE, send("POST", "{at}/files?identifier=runs&api-version=2024-10-02-preview", files=[("file", ("new.txt", b"new"))])),
    "GET /azure/files": Row("home", READ, send("GET", "{at}/files?identifier=reads"), hidden=(200, 404), shows=("home", lambda w: w.azure_name)),
    "GET /azure/files/{name...}": Row("home", READ, send("GET", "{at}/files/content/{m[name]}?identifier=reads"), lambda w: w.azure("reads")),
    "DELETE /azure/files/{name...}": Row("home", WRITE, send("DELETE", "{at}/files/{m[name]}?identifier=reads"), lambda w: w.azure("reads")),
    "GET /azure/session": Row("home", READ, send("GET", "{at}/session?identifier=reads")),
    "DELETE /azure/session": Row("any", WRITE, send("DELETE", "{at}/session?identifier=deleted"), lambda w: w.azure("deleted")),
    "GET /azure/listSessions": listing("{at}/listSessions", "home", lambda w: '"reads"'),
    "GET /azure/metadata": Row("any", READ, send("GET", "{at}/metadata")),
}

TOOLS = [{"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
LIBRECHAT = {
    "GET /librechat/v1/health": open_to_all("GET", "{at}/health"),
    "POST /librechat/v1/exec": Row("any", WRITE, send("POST", "{at}/exec", json={"lang": "py", "code": "1"})),
    "POST /librechat/v1/exec/programmatic": Row("any", WRITE, send("POST", "{at}/exec/programmatic", json={"code": "print(1)", "tools": TOOLS})),
    "POST /librechat/v1/upload": Row("any", WRITE, send("POST", "{at}/upload", files=[("kind", (None, "user")), ("id", (None, "u")), ("file", ("new.txt", b"new"))])),
    "POST /librechat/v1/upload/batch": Row("any", WRITE, send(
        "POST", "{at}/upload/batch", files=[("kind", (None, "user")), ("id", (None, "u")), ("file", ("new.txt", b"new"))])),
    "GET /librechat/v1/download/{session}/{file}": Row("session", READ, send("GET", "{at}/download/{m[session]}/{m[file]}"), lambda w: w.libre),
    "GET /librechat/v1/files/{session}": Row("session", READ, send("GET", "{at}/files/{m[session]}"), lambda w: w.libre),
    "GET /librechat/v1/sessions/{session}/objects": Row("session", READ, send("GET", "{at}/sessions/{m[session]}/objects"), lambda w: w.libre),
    "GET /librechat/v1/sessions/{session}/objects/{file}": Row("session", READ, send("GET", "{at}/sessions/{m[session]}/objects/{m[file]}"), lambda w: w.libre),
    "DELETE /librechat/v1/sessions/{session}/objects/{file}": Row(
        "session", WRITE, send("DELETE", "{at}/sessions/{m[session]}/objects/{m[file]}"), lambda w: w.libre_file()),
    "DELETE /librechat/v1/files/{session}/{file}": Row("session", WRITE, send("DELETE", "{at}/files/{m[session]}/{m[file]}"), lambda w: w.libre_file()),
}


def form(act, path="{m[path]}", **fields):
    """A button of the page: by cookie, with the form's token."""
    def call(w, a, m, at):
        filled = {name: value.format(m=m, n=next(w.numbers)) for name, value in fields.items()}
        return a.send("POST", f"/page/{act}/{w.ws}/{path.format(m=m)}", carry="cookie", data={"token": a.form_token or "", **filled})
    return call


def page_upload(w, a, m, at):
    return a.send("POST", f"/page/upload/{w.ws}/d", carry="cookie", files=[("token", (None, a.form_token or "")), ("file", ("page.txt", b"new"))])


def stream(w, a, m, at):
    """The event stream of an MCP session that a wider key began."""
    answer = a.send("GET", "/mcp", headers={"Mcp-Session-Id": w.bound.mcp_session or "", "Accept": "text/event-stream", "MCP-Protocol-Version": "2025-11-25"}, stream=True)
    answer.close()
    return answer


def end_session(w, a, m, at):
    return a.send("DELETE", "/mcp", headers={"Mcp-Session-Id": m, "MCP-Protocol-Version": "2025-11-25"})


def mcp_session(w):
    w.bound.begin_mcp()
    return w.bound.mcp_session


LOST = (303,)  # back to where one signs in
BUTTON = {"ok": (303,), "unauthorized": LOST}
OURS = {
    "GET /k/{version}/{name}": Row("workspace", READ, send("GET", "/k/{m[version]}/kept.txt"), lambda w: w.kept, unauthorized=(401, 404)),
    "GET /": Row("any", READ, lambda w, a, m, at: a.send("GET", "/", carry="cookie"), unauthorized=(200, 401), shows=("workspace", lambda w: "guarded")),
    "POST /login": Row("any", READ, lambda w, a, m, at: a.send("POST", "/login", carry="cookie", data={"key": a.key or ""}), ok=(303,), unauthorized=(401, 400)),
    # A form without its token: whoever is signed in is refused.
    "POST /logout": Row("any", READ, lambda w, a, m, at: a.send("POST", "/logout", carry="cookie", data={"token": "wrong"}), ok=(403, 303), unauthorized=(303, 403)),
    "POST /page/mkdir/{ws}/{path...}": Row("workspace", WRITE, form("mkdir", "d", name="made-{n}"), **BUTTON),
    "POST /page/trash/{ws}/{path...}": Row("workspace", WRITE, form("trash"), lambda w: w.file(), **BUTTON),
    "POST /page/restore-version/{ws}/{path...}": Row("workspace", WRITE, form("restore-version", version="{m[first]}"), lambda w: w.file(versions=2), **BUTTON),
    "POST /page/restore/{ws}/{path...}": Row("workspace", WRITE, form("restore", "", file="{m[id]}"), lambda w: w.trashed(), **BUTTON),
    "POST /page/upload/{ws}/{path...}": Row("workspace", WRITE, page_upload, ok=(303,)),
    "GET /w/{ws}/{path...}": Row("workspace", READ, lambda w, a, m, at: a.send("GET", f"/w/{w.ws}/{m['path']}", carry="cookie"), lambda w: w.kept, unauthorized=LOST),
    "GET /page/{name}": open_to_all("GET", "/page/style.css"),
    "POST /mcp": Row("any", READ, lambda w, a, m, at: a.ask("tools/list")),
    "GET /mcp": Row("mcp session", READ, stream),
    "DELETE /mcp": Row("mcp session", READ, end_session, mcp_session),
    "POST /azure/mcp": Row("any", READ, lambda w, a, m, at: a.ask_session("tools/list", "/azure/mcp")),
    "GET /azure/mcp": Row("any", READ, lambda w, a, m, at: a.send("GET", "/azure/mcp"), ok=(405,)),
    "DELETE /azure/mcp": Row("any", READ, lambda w, a, m, at: a.send("DELETE", "/azure/mcp"), ok=(405,)),
}
ROWS = {**REST, **OPENAI, **AZURE, **LIBRECHAT, **OURS}

def family(method, pattern):
    """The row of a route, where it is mounted, and how the key travels there: other vendors' APIs are mounted at many places."""
    if pattern.startswith("/azure/") and not pattern.startswith("/azure/mcp"):
        pool = "".join(re.findall(r"/\{p\d\}", pattern))
        return f"{method} {pattern.replace(pool, '')}", "/azure" + re.sub(r"[{}]", "", pool), "header"
    if pattern.startswith("/librechat/"):
        return f"{method} {pattern.replace('/{key}', '')}", "/librechat/v1", "path" if "{key}" in pattern else "header"
    found = re.fullmatch(r"(/v1|/openai/v1|/openai|/api/projects/\{project\}.*?)(/(?:containers|files|uploads).*)", pattern)
    if found:
        return f"{method} /v1{found.group(2)}", re.sub(r"\{(\w+)\}", r"\1-1", found.group(1)), "header"
    return f"{method} {pattern}", "", "header"


ROUTES = routes()
_seen = set()
FIRST = [route for route in ROUTES if not (family(*route)[0] in _seen or _seen.add(family(*route)[0]))]


def ask(world, actor, row, made, at, carry):
    """One call. Where the key is a part of the address, one without a key has none to put there."""
    if carry == "path":
        at = f"/librechat/{actor.key or 'none'}/v1"
        quiet = type(actor)(world, actor.name, None)
        return row.call(world, quiet, made, at)
    return row.call(world, actor, made, at)


def judge(world, actor, row, answer):
    told = f"{actor.name}: {answer.request.method} {answer.request.path_url} -> {answer.status_code} {answer.text[:300]!r}"
    assert answer.status_code in row.expected(actor), f"{told}, expected {row.expected(actor)}"
    reaches = actor.levels is not None and actor.levels[row.shows[0] if row.shows else row.reach] > NONE
    if row.shows:
        shown = row.shows[1](world) in answer.text
        assert shown == reaches, f"{told} {'shows' if shown else 'hides'} it"
    if not reaches:
        assert SECRET not in answer.text, told
    return told


def check_row(world, row, at, carry, everybody):
    """First all who change nothing in the workspace, then one after the other those who may."""
    harmless = [a for a in world.actors.values() if a.levels is None or row.expected(a) != row.ok or a.levels["workspace"] == NONE]
    allowed = [a for a in world.actors.values() if a.levels is not None and row.expected(a) == row.ok]
    made = row.prepare(world)
    before = world.last_event()
    for actor in harmless if everybody else [a for a in harmless if row.expected(a) != row.ok]:
        judge(world, actor, row, ask(world, actor, row, made, at, carry))
    assert world.last_event() == before, [event for event in world.journal() if event[0] > before]
    rest = [a for a in allowed if a not in harmless]
    for number, actor in enumerate(rest if everybody else (rest or allowed)[:1]):
        judge(world, actor, row, ask(world, actor, row, row.prepare(world) if number else made, at, carry))


def test_every_route_of_the_server_has_a_row_and_every_row_is_a_route():
    assert {family(*route)[0] for route in ROUTES} == set(ROWS)


@pytest.mark.parametrize("route", FIRST, ids=" ".join)
def test_a_key_opens_what_it_names_and_nothing_else(world, route):
    name, at, carry = family(*route)
    check_row(world, ROWS[name], at, carry, True)


@pytest.mark.parametrize("route", [route for route in ROUTES if route not in FIRST], ids=" ".join)
def test_the_same_holds_at_every_other_place_where_it_is_mounted(world, route):
    name, at, carry = family(*route)
    row = ROWS[name]
    # An Azure session belongs to its pool: what lies in another one is nobody's here.
    if row.reach == "home" and at != "/azure":
        row = dataclasses.replace(row, reach="nothing", shows=None)
    check_row(world, row, at, carry, False)


PURGE = changing("DELETE", "/api/v1/workspaces/{m}?purge=true", lambda w: spare_workspace(w, True), OWN, reach="trashed spare", ok=(200,))


def test_a_trashed_workspace_is_purged_by_owners_and_administrators_only(world):
    for actor in world.actors.values():
        made = PURGE.prepare(world)
        told = judge(world, actor, PURGE, ask(world, actor, PURGE, made, "", "header"))
        trashed = [item["id"] for item in world.need(world.owner, "GET", "/api/v1/workspaces?trashed=true")["items"]]
        assert (made in trashed) == (PURGE.expected(actor) != PURGE.ok), told


def test_nobody_purges_a_workspace_that_is_not_in_the_trash(world):
    row = dataclasses.replace(PURGE, prepare=spare_workspace, ok=(409,))
    made = row.prepare(world)
    for actor in world.actors.values():
        answer = ask(world, actor, row, made, "", "header")
        assert answer.status_code in (401, 404, 409), answer.text
    assert world.need(world.owner, "GET", f"/api/v1/workspaces/{made}")["id"] == made
