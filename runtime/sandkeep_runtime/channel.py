"""The channel to the server: length-prefixed JSON frames over one stream socket."""

import json
import select
import socket
import struct
import threading

LENGTH = struct.Struct("<I")
FRAME_BYTES_MAX = 16 << 20  # the server refuses more
READ_BYTES = 256 << 10


class Closed(Exception):
    """The server closed the channel."""


class TooLarge(ValueError):
    """A message does not fit into a frame."""


def encode(message):
    # Python strings may contain lone surrogates, which are not valid UTF-8: replace them with '?'.
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
    if len(body) > FRAME_BYTES_MAX:
        raise TooLarge(f"an output of {len(body)} bytes")
    return LENGTH.pack(len(body)) + body


class Channel:
    """Any thread may send. Any thread may wait for a reply; the first waiting thread reads and distributes messages to the others."""

    def __init__(self, fd, interrupts, write_mark):
        self.socket = socket.socket(fileno=fd)
        self.interrupts = interrupts
        self.write_mark = write_mark
        self.frames = 0
        self.sending = threading.Lock()
        self.incoming = bytearray()
        self.reading = threading.Condition()  # guards all below
        self.someone_reads = False
        self.commands = []
        self.replies = {}
        self.requests = 0

    def send(self, message):
        with self.interrupts, self.sending:
            frame = encode({**message, "mark": self.frames + 1})
            self.frames += 1
            self.write_mark(self.frames)
            self.socket.sendall(frame)

    def next_command(self):
        return self._wait_for(lambda: self.commands.pop(0) if self.commands else None)

    def request(self, method, params):
        """Sends a request to the server and waits for its reply."""
        with self.reading:
            self.requests += 1
            number = self.requests
        self.send({"t": "request", "id": number, "method": method, "params": params})
        return self._wait_for(lambda: self.replies.pop(number, None))

    def _wait_for(self, take):
        while True:
            mine = False
            try:
                with self.reading:
                    found = take()
                    if found is not None:
                        return found
                    if self.someone_reads:
                        self.reading.wait()
                        continue
                    self.someone_reads = mine = True
                self._read_some()
            finally:
                if mine:
                    with self.reading:
                        self.someone_reads = False
                        self.reading.notify_all()

    def _read_some(self):
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        poll.poll()
        with self.interrupts:
            try:
                piece = self.socket.recv(READ_BYTES, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            if not piece:
                raise Closed
            self.incoming += piece
            while (message := self._next_message()) is not None:
                with self.reading:
                    if message.get("t") == "reply":
                        self.replies[message.get("id")] = message
                    else:
                        self.commands.append(message)

    def _next_message(self):
        if len(self.incoming) < LENGTH.size:
            return None
        (length,) = LENGTH.unpack_from(self.incoming)
        end = LENGTH.size + length
        if len(self.incoming) < end:
            return None
        message = json.loads(self.incoming[LENGTH.size:end])
        del self.incoming[:end]
        return message
