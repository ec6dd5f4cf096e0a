"""Many connections of one tenant, in a process of their own, so that they do not slow down the one that measures.

    flood.py PORT KEY CONNECTIONS repeat PATH     reads each answer and asks again
    flood.py PORT KEY CONNECTIONS unread PATH     asks once and reads nothing

Prints `asked` when all connections have asked once, and at the end of its input the number of answers that it has read. As a reproducer by hand:

    flood.py 8420 "$SANDKEEP_KEY" 1500 unread "/api/v1/workspaces/default/list?recursive=true&limit=1000" < /dev/tty
    while true; do curl -s -o /dev/null -w '%{time_total}\\n' http://127.0.0.1:8420/healthz; done"""

import re
import resource
import selectors
import socket
import subprocess
import sys
import threading


class Asker:
    """One connection. It asks for a page, and for the next one when the answer has arrived."""

    def __init__(self, port, request):
        self.request = request
        self.answers = 0
        self.arrived = b""
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(request)

    def read(self):
        """False when the server has closed the connection."""
        piece = self.socket.recv(1 << 20)
        self.arrived += piece
        head, blank, body = self.arrived.partition(b"\r\n\r\n")
        if blank and len(body) >= int(re.search(rb"(?i)content-length: *(\d+)", head)[1]):
            self.answers += 1
            self.arrived = b""
            self.socket.sendall(self.request)
        return bool(piece)


def main(port, key, connections, how, path):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    request = f"GET {path} HTTP/1.1\r\nHost: flood\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
    askers = [Asker(int(port), request) for _ in range(int(connections))]
    print("asked", flush=True)
    with selectors.DefaultSelector() as ready:
        ready.register(sys.stdin, selectors.EVENT_READ)
        if how == "repeat":
            for asker in askers:
                ready.register(asker.socket, selectors.EVENT_READ, asker)
        while True:
            for event, _ in ready.select():
                if event.data is None:
                    print(sum(asker.answers for asker in askers), flush=True)
                    return
                try:
                    is_open = event.data.read()
                except OSError:
                    is_open = False
                if not is_open:
                    ready.unregister(event.fileobj)


class Flood:
    """Runs this program: `with Flood(server, key, 1500, "unread", path) as flood:`. `answers` is known afterwards."""

    def __init__(self, server, key, connections, how, path):
        self.command = [sys.executable, __file__, str(server.port), key, str(connections), how, path]
        self.asked = threading.Event()
        self.answers = 0

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self._await)
        self.thread.start()
        return self

    def _await(self):
        if self.process.stdout.readline().strip() == "asked":
            self.asked.set()

    def __exit__(self, kind, error, trace):
        self.thread.join()
        self.process.stdin.close()
        self.answers = int(self.process.stdout.read() or 0)
        self.process.wait()
        assert kind is not None or self.asked.is_set(), "the connections could not be opened"


if __name__ == "__main__":
    main(*sys.argv[1:])
