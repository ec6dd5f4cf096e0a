"""Standard output and error of a session: pipes that the server reads, with marks that order their content relative to frames.

Before frame n is sent, a mark with the number n is written to both pipes (src/sandbox/marked_output.h describes how the server uses it).
When Python code switches from one stream to the other, an empty frame keeps the two streams in order.
"""

import fcntl
import io
import os
import sys

SPARE_FDS = 200  # high numbers, to avoid those that code opens


class Pipe(io.FileIO):
    def __init__(self, fd, streams):
        super().__init__(fd, "w", closefd=False)
        self.streams = streams

    def write(self, data):
        self.streams.turn_to(self)
        return super().write(data)


class Streams:
    def __init__(self, send_order):
        self.send_order = send_order  # sends a frame that contains only a mark
        self.word = None
        self.last = None
        self.mark_fds = ()
        for name, fd in (("stdout", 1), ("stderr", 2)):
            pipe = io.BufferedWriter(Pipe(fd, self))
            text = io.TextIOWrapper(pipe, encoding="utf-8", errors="backslashreplace", line_buffering=True)
            text.mode = "w"
            setattr(sys, name, text)
            setattr(sys, f"__{name}__", text)

    def open(self):
        """Duplicates the pipes, so marks reach them whatever code does with descriptors 1 and 2."""
        self.mark_fds = tuple(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, SPARE_FDS) for fd in (1, 2))

    def turn_to(self, stream):
        if self.last is not stream:
            if self.last is not None and self.word is not None:
                self.send_order()
            self.last = stream

    def write_mark(self, number):
        self.last = None
        if self.word is None:
            return
        mark = b"\0%s:%d\0" % (self.word, number)
        for fd in self.mark_fds:
            try:
                os.write(fd, mark)
            except OSError:
                pass  # code closed it and loses the order of its output

    def flush(self):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass  # code may have closed or replaced it

    def leave(self):
        """Detaches a child that code forked: it may print, but writes no marks."""
        self.word = None
        for fd in self.mark_fds:
            os.close(fd)
        self.mark_fds = ()
