"""Interrupts: SIGINT becomes KeyboardInterrupt in user code, and never tears a message to or from the server apart."""

import signal
import threading


class Interrupts:
    """As a context manager, it puts interrupts off while the main thread is inside; one that came meanwhile is raised at the end."""

    def __init__(self):
        self.running = False  # user code is
        self.depth = 0
        self.pending = False
        self.main_thread = threading.main_thread()

    def listen(self):
        """Again before each cell, since the last one may have set a handler of its own."""
        self.pending = False
        signal.signal(signal.SIGINT, self._on_signal)

    def _on_signal(self, _number, _frame):
        if not self.running:
            return
        if self.depth > 0:
            self.pending = True
            return
        raise KeyboardInterrupt

    def __enter__(self):
        if threading.current_thread() is self.main_thread:
            self.depth += 1

    def __exit__(self, *_):
        if threading.current_thread() is not self.main_thread:
            return
        self.depth -= 1
        if self.depth == 0 and self.pending:
            self.pending = False
            if self.running:
                raise KeyboardInterrupt
