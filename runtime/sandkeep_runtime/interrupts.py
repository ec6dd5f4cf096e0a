"""Interrupts: SIGINT becomes KeyboardInterrupt in user code, and never tears a message to or from the server apart."""

import signal
import threading


class Interrupts:
    """As a context manager, it puts interrupts off while the main thread is inside; one that came meanwhile is raised at the end.

    The handlers are Python's own wherever one may raise, so that no frame of ours shows up in a traceback.
    """

    def __init__(self):
        self.running = False  # user code is
        self.depth = 0
        self.pending = False
        self.set_aside = None  # the handler that counts outside

    def begin(self):
        """User code starts. The last cell may have set a handler of its own."""
        self.pending = False
        self.running = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def end(self):
        """It has ended: whatever comes now comes too late."""
        signal.signal(signal.SIGINT, self._note)
        self.running = False

    def _note(self, _number, _frame):
        self.pending = True

    def __enter__(self):
        if threading.current_thread() is not threading.main_thread():
            return
        if self.depth == 0:
            self.set_aside = signal.signal(signal.SIGINT, self._note)
        self.depth += 1

    def __exit__(self, *_):
        if threading.current_thread() is not threading.main_thread():
            return
        self.depth -= 1
        if self.depth > 0:
            return
        pending, self.pending = self.pending, False
        if self.set_aside is not None:
            signal.signal(signal.SIGINT, self.set_aside)
        if pending and self.running:
            signal.raise_signal(signal.SIGINT)
