"""A reverse proxy that stands before a server and fails as other people's services do: errors, slowness, cut bodies, redirects."""

import http.client
import http.server
import threading
import time
import urllib.parse


class Faulty:
    """`faults` is a list of functions of (request path, how often it was asked for before); the first that returns an action decides.
    Actions: ("status", code, body), ("cut", bytes), ("slow", seconds), ("redirect", url), None: pass on."""

    def __init__(self, upstream):
        self.upstream = urllib.parse.urlsplit(upstream)
        self.faults = []
        self.seen = []  # (path, headers) of every request
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_GET(self):
                outer.handle(self)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def asked(self, part):
        return [path for path, _ in self.seen if part in path]

    def handle(self, request):
        before = len([path for path, _ in self.seen if path == request.path])
        self.seen.append((request.path, dict(request.headers)))
        action = next((found for found in (fault(request.path, before) for fault in self.faults) if found), None)
        if action and action[0] == "status":
            return self.answer(request, action[1], {"Content-Type": "application/json"}, action[2])
        if action and action[0] == "redirect":
            return self.answer(request, 302, {"Location": action[1]}, b"")
        status, headers, body = self.ask_upstream(request)
        if action and action[0] == "slow":
            time.sleep(action[1])
        if action and action[0] == "cut":
            request.send_response(status)
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body[:action[1]])
            request.close_connection = True
            return None
        return self.answer(request, status, headers, body)

    def ask_upstream(self, request):
        connection = http.client.HTTPConnection(self.upstream.hostname, self.upstream.port, timeout=60)
        headers = {k: v for k, v in request.headers.items() if k.lower() not in ("host", "connection")}
        connection.request("GET", request.path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        kept = {k: v for k, v in answer.getheaders() if k.lower() in ("content-type", "location", "retry-after")}
        connection.close()
        return answer.status, kept, body

    def answer(self, request, status, headers, body):
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
