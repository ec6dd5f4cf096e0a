"""A plain client for tests that look at the wire: one message at a time, both eras."""

import json

import requests

from sandkeep_server import ROOT_KEY

MODERN = "2026-07-28"


class Plain:
    """Legacy by default: initialize on first use."""

    def __init__(self, server, key=ROOT_KEY, path="/mcp", version="2025-11-25"):
        self.url, self.key, self.version = server.url + path, key, version
        self.session = None
        self.next_id = 0
        self.http = requests.Session()

    def headers(self, **more):
        out = {"Authorization": f"Bearer {self.key}", "Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        if self.session:
            out |= {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": self.version}
        return out | {name.replace("_", "-"): value for name, value in more.items()}

    def post(self, body, **headers):
        data = body if isinstance(body, (bytes, str)) else json.dumps(body)
        return self.http.post(self.url, data=data, headers=self.headers(**headers), timeout=120)

    def begin(self):
        answer = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": self.version, "capabilities": {}, "clientInfo": {"name": "plain", "version": "1"}}})
        assert answer.status_code == 200, answer.text
        self.session = answer.headers.get("Mcp-Session-Id")
        assert self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status_code == 202
        return answer.json()["result"]

    def ask(self, method, **params):
        """The whole message that answers."""
        self.next_id += 1
        answer = self.post({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params})
        return self.message(answer, self.next_id)

    @staticmethod
    def message(answer, wanted):
        if "text/event-stream" not in answer.headers.get("Content-Type", ""):
            return answer.json()
        for message in events(answer.text):
            if message.get("id") == wanted and "method" not in message:
                return message
        raise AssertionError("no answer on the stream: " + answer.text)

    def tool(self, name, /, **arguments):
        """The result of a tool's call."""
        message = self.ask("tools/call", name=name, arguments=arguments)
        assert "result" in message, message
        return message["result"]

    def works(self, name, /, **arguments):
        """The structured content of a call that must not fail."""
        result = self.tool(name, **arguments)
        assert not result["isError"], result["content"][0]["text"]
        return result["structuredContent"]


class Modern(Plain):
    """Every request alone."""

    def ask(self, method, capabilities=None, meta=None, **params):
        self.next_id += 1
        params["_meta"] = {"io.modelcontextprotocol/protocolVersion": MODERN,
                           "io.modelcontextprotocol/clientCapabilities": capabilities or {}, **(meta or {})}
        headers = {"MCP_Protocol_Version": MODERN, "Mcp_Method": method}
        for field in ("name", "uri", "taskId"):
            if field in params:
                headers["Mcp_Name"] = params[field]
        return self.message(self.post({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}, **headers), self.next_id)


def events(text):
    """The messages of an event stream."""
    return [json.loads(line[5:]) for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]


def new_principal(server, name):
    """A principal of its own: its key, and a way to make further ones."""
    root = requests.Session()
    root.headers["Authorization"] = f"Bearer {ROOT_KEY}"
    made = root.post(f"{server.url}/api/v1/principals", json={"name": name, "kind": "agent"})
    assert made.status_code == 201, made.text
    key = root.post(f"{server.url}/api/v1/keys", json={"name": "for tests", "principal_id": made.json()["id"]})
    assert key.status_code == 201, key.text
    return made.json()["id"], key.json()["secret"], key.json()["key"]
