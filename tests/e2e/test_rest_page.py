"""The script-free page: signing in, looking around, uploading, restoring; and what keeps others out."""

import html
import html.parser
import re

import pytest
import requests

from sandkeep_server import ROOT_KEY

NASTY = "<script>alert('x')<b>\"&.txt"


class Checker(html.parser.HTMLParser):
    """Balanced tags, no scripts, no handlers, no styles of its own, labelled fields."""

    VOID = {"meta", "link", "input", "img", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.labels, self.fields, self.forms = [], set(), [], []
        self.feed(text)
        assert self.open == [], self.open
        assert all(field in self.labels for field in self.fields), (self.fields, self.labels)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        assert tag not in ("script", "style", "iframe", "object", "embed"), tag
        assert not [name for name in named if name.startswith("on") or name == "style"], named
        for name in ("href", "src", "action"):
            assert not (named.get(name) or "").lower().startswith(("javascript:", "data:", "http")), named
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "label":
            self.labels.add(named["for"])
        if tag == "input" and named.get("type") != "hidden":
            self.fields.append(named["id"])
        if tag == "img":
            assert "alt" in named
        if tag == "form":
            self.forms.append(named["action"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


class Browser:
    def __init__(self, server):
        self.server = server
        self.http = requests.Session()
        self.http.trust_env = False

    def get(self, path, expect=200):
        page = self.http.get(self.server.url + path, timeout=30)
        assert page.status_code == expect, page.text
        if "text/html" in page.headers["Content-Type"]:
            self.check(page)
        return page

    def check(self, page):
        Checker(page.text)
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "form-action 'self'" in policy and "unsafe" not in policy and "script-src" not in policy
        assert page.headers["X-Content-Type-Options"] == "nosniff" and page.headers["Cache-Control"] == "no-store"

    def sign_in(self, key=ROOT_KEY, **fields):
        return self.http.post(self.server.url + "/login", data={"key": key, **fields}, allow_redirects=False, timeout=30)

    def token(self, path="/"):
        return html.unescape(re.search(r'name="token" value="([^"]+)"', self.get(path).text).group(1))

    def submit(self, path, expect=303, token=None, **fields):
        answer = self.http.post(self.server.url + path, data={"token": token or self.token(), **fields}, allow_redirects=False, timeout=30)
        assert answer.status_code == expect, answer.text
        return answer


@pytest.fixture
def browser(server):
    one = Browser(server)
    assert one.sign_in().status_code == 303
    return one


def test_who_is_not_signed_in_sees_a_form_for_the_key(server):
    page = Browser(server).get("/")
    assert 'type="password"' in page.text and "Workspaces</h1>" not in page.text


def test_a_wrong_key_is_told_and_gets_no_session(server):
    one = Browser(server)
    answer = one.sign_in("wrong-key-wrong-key")
    assert answer.status_code == 401 and "Set-Cookie" not in answer.headers and "unknown" in answer.text
    one.check(answer)


def test_signing_in_sets_a_cookie_that_is_not_the_key(server):
    one = Browser(server)
    answer = one.sign_in()
    cookie = answer.headers["Set-Cookie"]
    assert answer.status_code == 303 and answer.headers["Location"] == "/"
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie and ROOT_KEY not in cookie and "Secure" not in cookie
    assert "default" in one.get("/").text


def test_behind_https_the_cookie_is_secure(make_server):
    one = Browser(make_server("--public-url", "https://files.example"))
    assert "Secure" in one.sign_in().headers["Set-Cookie"]


@pytest.mark.parametrize("next_path, expected", [
    ("/w/default/", "/w/default/"), ("/k/v_1/x", "/k/v_1/x"), ("https://evil.example", "/"), ("//evil.example", "/"), ("/\\evil.example", "/"),
    ("/w/\r\nSet-Cookie: a=b", "/"), ("javascript:alert(1)", "/"),
])
def test_after_signing_in_one_only_goes_to_pages_of_this_server(server, next_path, expected):
    assert Browser(server).sign_in(next=next_path).headers["Location"] == expected


def test_a_page_that_needs_signing_in_leads_there_and_back(server, ws):
    one = Browser(server)
    sent = one.http.get(server.url + f"/w/{ws.name}/", allow_redirects=False, timeout=30)
    assert sent.status_code == 303 and sent.headers["Location"].startswith("/?next=%2Fw%2F")


def test_signing_out_ends_the_session(browser):
    cookie = browser.http.cookies["sandkeep_session"]
    browser.submit("/logout")
    assert 'type="password"' in browser.get("/").text
    browser.http.cookies.set("sandkeep_session", cookie)
    assert 'type="password"' in browser.get("/").text


def test_a_revoked_key_ends_its_sessions(api, server):
    key_id, client = api.make_key()
    one = Browser(server)
    one.sign_in(client.key)
    one.get("/")
    api.delete(f"/api/v1/keys/{key_id}", 204)
    assert 'type="password"' in one.get("/", 401).text


def test_folders_and_files_are_shown_with_names_escaped(browser, ws):
    ws.put(f"folder/{NASTY}", b"<b>bold</b>")
    ws.put(f"folder/{NASTY}", b"<b>bolder</b>")
    top = browser.get(f"/w/{ws.name}/").text
    assert "folder/" in top
    listed = browser.get(f"/w/{ws.name}/folder").text
    assert html.escape(NASTY).replace("&#x27;", "&#39;") in listed and "<script>" not in listed
    shown = browser.get(f"/w/{ws.name}/folder/{requests.utils.quote(NASTY)}").text
    assert "&lt;b&gt;bolder&lt;/b&gt;" in shown and shown.count(">Restore</button>") == 1 and "current" in shown


def test_every_link_of_every_page_works(browser, ws):
    ws.put("a/b ü.txt", b"x")
    ws.put("a/plot.png", b"\x89PNG\r\n\x1a\n" + b"0" * 50)
    ws.put("100% #1?.txt", b"x")
    seen, todo = set(), ["/"]
    while todo:
        path = todo.pop()
        if path in seen or (path.startswith("/w/") and not path.startswith((f"/w/{ws.name}/",))):
            continue
        seen.add(path)
        page = browser.get(path)
        if "text/html" in page.headers["Content-Type"]:
            todo += [html.unescape(link) for link in re.findall(r'(?:href|src)="([^"#]+)"', page.text)]
    assert {path.split("/")[1] for path in seen} == {"", "w", "k", "page"} and len(seen) > 8


def test_files_are_uploaded_and_folders_made(browser, ws):
    token = browser.token()
    answer = browser.http.post(f"{browser.server.url}/page/upload/{ws.name}/in", timeout=30, allow_redirects=False,
                               files=[("token", (None, token)), ("files", ("ä.txt", b"one")), ("files", ("b.bin", b"\0" * 200_000))])
    assert answer.status_code == 303 and answer.headers["Location"] == f"/w/{ws.name}/in"
    assert ws.read("in/ä.txt") == b"one" and ws.read("in/b.bin") == b"\0" * 200_000
    browser.submit(f"/page/mkdir/{ws.name}/in", name="sub folder")
    assert ws.entry("in/sub folder")["kind"] == "folder"
    browser.submit(f"/page/mkdir/{ws.name}/in", 400, name="../up")


def test_old_versions_and_the_trash_are_restored_by_a_button(browser, ws):
    first = ws.put("a.txt", b"one")["version"]["id"]
    ws.put("a.txt", b"two")
    answer = browser.submit(f"/page/restore-version/{ws.name}/a.txt", version=first)
    assert answer.headers["Location"] == f"/w/{ws.name}/a.txt" and ws.read("a.txt") == b"one"
    browser.submit(f"/page/trash/{ws.name}/a.txt")
    trash = browser.get(f"/w/{ws.name}/?show=trash").text
    file_id = re.search(r'name="file" value="(f_[0-9a-f]+)"', trash).group(1)
    browser.submit(f"/page/restore/{ws.name}/", file=file_id)
    assert ws.read("a.txt") == b"one"


def test_a_form_without_the_sessions_token_does_nothing(browser, server, ws):
    ws.put("a.txt", b"x")
    other = Browser(server)
    other.sign_in()
    for token in ("wrong", other.token()):
        browser.submit(f"/page/trash/{ws.name}/a.txt", 403, token=token)
        refused = browser.http.post(f"{server.url}/page/upload/{ws.name}/", timeout=30, files=[("token", (None, token)), ("files", ("b", b"x"))])
        assert refused.status_code == 403
        browser.check(refused)
    late = browser.http.post(f"{server.url}/page/upload/{ws.name}/", timeout=30, files=[("files", ("b", b"x")), ("token", (None, browser.token()))])
    assert late.status_code == 403
    nobody = requests.post(f"{server.url}/page/trash/{ws.name}/a.txt", data={"token": browser.token()}, allow_redirects=False, timeout=30)
    assert nobody.status_code == 303 and nobody.headers["Location"] == "/"
    assert ws.paths() == ["a.txt"]


def test_the_cookie_reads_the_api_but_writes_nothing_there(browser, server, ws):
    ws.put("a.txt", b"x")
    assert browser.http.get(server.url + ws.file("a.txt"), timeout=30).content == b"x"
    for method, path in (("PUT", ws.file("b.txt")), ("DELETE", ws.file("a.txt")), ("POST", f"{ws.root}/mkdir"), ("POST", "/api/v1/keys")):
        assert browser.http.request(method, server.url + path, data=b"{}", timeout=30).status_code == 403
    assert ws.paths() == ["a.txt"]


def test_a_form_of_another_site_cannot_sign_in(server):
    answer = requests.post(server.url + "/login", data={"key": ROOT_KEY}, headers={"Sec-Fetch-Site": "cross-site"}, allow_redirects=False, timeout=30)
    assert answer.status_code == 403 and "Set-Cookie" not in answer.headers


def test_a_read_only_key_sees_no_buttons_and_cannot_press_them(api, server, ws):
    ws.put("a.txt", b"x")
    ws.put("a.txt", b"y")
    _, reader = api.make_key(read_only=True)
    one = Browser(server)
    one.sign_in(reader.key)
    assert "Upload" not in one.get(f"/w/{ws.name}/").text
    page = one.get(f"/w/{ws.name}/a.txt").text
    assert "Restore" not in page and "Move to trash" not in page
    one.submit(f"/page/trash/{ws.name}/a.txt", 403)


def test_what_is_not_there_is_a_page_that_says_so(browser, ws, api, unique):
    assert "there is nothing at" in html.unescape(browser.get(f"/w/{ws.name}/missing", 404).text)
    browser.get("/w/nowhere/", 404)
    browser.get(f"/w/{ws.name}/%2e%2e/x", 400)
    name = unique("stranger")
    principal, stranger = api.make_principal(name)
    theirs = stranger.workspace("theirs")
    browser.get(f"/w/{theirs.id}/", 404)


def test_long_folders_are_shown_page_by_page(browser, ws):
    ws.post("batch", 200, changes=[{"op": "put", "path": f"f{n:04}", "content": "x"} for n in range(450)])
    found, path = [], f"/w/{ws.name}/"
    while path:
        page = browser.get(path).text
        found += re.findall(r">(f\d{4})</a>", page)
        more = re.search(r'href="([^"]+)">More</a>', page)
        path = html.unescape(more.group(1)) if more else None
    assert found == [f"f{n:04}" for n in range(450)]


def test_text_and_pictures_are_previewed_and_other_bytes_are_not(browser, ws):
    ws.put("a.csv", b"a,b\n1,2\n")
    ws.put("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    ws.put("a.bin", b"\0\1\2" * 100)
    ws.put("long.txt", "ä".encode() * 100_000)
    ws.put("latin.txt", b"caf\xe9", Content_Type="text/plain")
    assert "a,b\n1,2" in browser.get(f"/w/{ws.name}/a.csv").text
    assert '<img src="/k/v_' in browser.get(f"/w/{ws.name}/a.svg").text
    assert "<pre" not in browser.get(f"/w/{ws.name}/a.bin").text
    assert "64.0 KiB" in browser.get(f"/w/{ws.name}/long.txt").text
    assert "<pre" not in browser.get(f"/w/{ws.name}/latin.txt").text


def test_a_file_that_diverged_says_so(browser, ws):
    base = ws.put("a.txt", b"base")["version"]["id"]
    ws.put("a.txt", b"one")
    ws.put("a.txt", b"two", X_Sandkeep_Base=base)
    assert "diverged" in browser.get(f"/w/{ws.name}/").text and "Two clients" in browser.get(f"/w/{ws.name}/a.txt").text
