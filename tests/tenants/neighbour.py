"""A second tenant, whose `1+1` is measured while the first one attacks."""

import itertools
import os
import statistics
import threading
import time

from rest_client import Client
from sessions_client import Keep

MEDIAN_RATIO_MAX = 3  # of the median cell during an attack to the one before it, in the same run
MEDIAN_FLOOR_S = 0.02 if os.environ.get("SK_LONG") == "1" else 0.05  # it may take this long: a few turns of the scheduler
RATIO_MAX = 20  # of the slowest cell during an attack to the median before it
FLOOR_S = 3  # a single cell may take this long on a busy machine
_numbers = itertools.count(1)


def tenant(server, name):
    """A principal with a key and a workspace of its own."""
    keep = Keep(server, Client(server).make_principal(f"{name}-{next(_numbers)}")[1].key)
    keep.workspace = keep.call("POST", "/api/v1/workspaces", 201, json={"name": f"{name}-{next(_numbers)}"}).json()["id"]
    return keep


class Neighbour:
    """Runs `1+1` again and again on a thread of its own. `with neighbour.watch():` around the attack."""

    def __init__(self, server, idle_runs=10):
        self.keep = tenant(server, "neighbour")
        self.session = self.keep.create(workspace=self.keep.workspace, folder="calm")
        self.keep.run(self.session, "1+1")
        self.idle_s = statistics.median(self.cell() for _ in range(idle_runs))
        self.times_s = []

    def cell(self):
        began = time.monotonic()
        assert self.keep.run(self.session, "1+1")["end"] == "ok"
        return time.monotonic() - began

    def __enter__(self):
        self.ended = threading.Event()
        self.failure = None
        self.thread = threading.Thread(target=self._measure)
        self.thread.start()
        return self

    def _measure(self):
        try:
            while not self.ended.is_set():
                self.times_s.append(self.cell())
                time.sleep(0.05)
        except Exception as error:  # told by __exit__, on the test's own thread
            self.failure = error

    def __exit__(self, kind, error, trace):
        self.ended.set()
        self.thread.join()
        if self.failure is not None:
            raise self.failure

    def check(self, has_shares=True):
        """`has_shares`: control groups give each tenant its part of the processor. Without them, all sessions compete, and only the slowest is bounded."""
        median_s, slowest_s = statistics.median(self.times_s), max(self.times_s)
        print(f"1+1: idle {self.idle_s:.4f} s; median of {len(self.times_s)} during the attack {median_s:.4f} s, slowest {slowest_s:.3f} s")
        assert slowest_s <= max(RATIO_MAX * self.idle_s, FLOOR_S)
        assert not has_shares or median_s <= max(MEDIAN_RATIO_MAX * self.idle_s, MEDIAN_FLOOR_S)
