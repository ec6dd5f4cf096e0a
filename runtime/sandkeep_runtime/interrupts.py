"""Interrupts: SIGINT becomes KeyboardInterrupt in user code, but never splits a message to or from the server."""

import signal
import threading


class Interrupts:
    """Context manager that defers interrupts while the main thread is inside. A deferred interrupt is raised on exit.

    Wherever a handler may raise, it is Python's own, so no frame of this module appears in a traceback.
    """

    def __init__(self):
        self.running = False  # user code is running
        self.depth = 0
        self.pending = False
        self.set_aside = None  # the handler in effect outside

    def begin(self):
        """Call before user code runs. Resets the handler, because the last cell may have set its own."""
        self.pending = False
        self.running = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def end(self):
        """Call after user code has ended. Later interrupts are ignored."""
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
