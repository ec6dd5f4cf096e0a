"""Lists and answers of one tenant: whatever it asks for, another's requests and the health check take their usual time."""

import statistics
import time

import requests

from flood import Flood
from neighbour import MEDIAN_RATIO_MAX, Neighbour, tenant

FLOOR_S = 0.05  # the median may take this long: each of four threads on its way waits for a processor, on all of which the attack computes
SLOWEST_S = 1  # no single request of another may take longer
IDLE_ROUNDS = 20
ROUNDS = 40  # that are measured once the attack has fully begun


def key_of(keep):
    return keep.http.headers["Authorization"].removeprefix("Bearer ")


def fill(keep, count):
    for start in range(0, count, 10_000):
        changes = [{"op": "put", "path": f"folder-{number // 1000}/file-{number}.txt", "content": ""} for number in range(start, min(count, start + 10_000))]
        keep.call("POST", f"/api/v1/workspaces/{keep.workspace}/batch", json={"changes": changes})


class Probe:
    """Small requests of another tenant, each on a new connection, as a health check is."""

    def __init__(self, server):
        self.keep = tenant(server, "other")
        files = f"{server.url}/api/v1/workspaces/{self.keep.workspace}/files/note"
        self.asked = {"healthz": lambda: requests.get(f"{server.url}/healthz", timeout=60),
                      "put": lambda: requests.put(files, data=str(time.monotonic()), headers=self.keep.http.headers, timeout=60),
                      "get": lambda: requests.get(files, headers=self.keep.http.headers, timeout=60)}
        self.round()  # the first one makes the file, and caches what the others use
        idle = [self.round() for _ in range(IDLE_ROUNDS)]
        self.idle_s = {name: statistics.median(one[name] for one in idle) for name in self.asked}
        self.rounds = []

    def round(self):
        times_s = {}
        for name, ask in self.asked.items():
            began = time.monotonic()
            ask().raise_for_status()
            times_s[name] = time.monotonic() - began
        return times_s

    def measure_during(self, flood):
        """From the first connection of the attack on, and for some rounds after the last one."""
        left = ROUNDS
        while left > 0:
            self.rounds.append(self.round())
            if flood.asked.is_set():
                left -= 1

    def check(self):
        for name in self.asked:
            times_s = [one[name] for one in self.rounds]
            median_s, slowest_s = statistics.median(times_s), max(times_s)
            print(f"{name}: idle {self.idle_s[name]:.4f} s; median of {len(times_s)} during the attack {median_s:.4f} s, slowest {slowest_s:.3f} s")
            assert median_s <= max(MEDIAN_RATIO_MAX * self.idle_s[name], FLOOR_S), name
            assert slowest_s <= max(MEDIAN_RATIO_MAX * self.idle_s[name], SLOWEST_S), name


def test_lists_that_match_nothing_end_and_leave_the_readers_to_others(make_server):
    """Such a list walked the whole workspace in one request, and those of one tenant held all readers of the catalog."""
    server = make_server("--sandbox", "off")
    greedy = tenant(server, "greedy")
    fill(greedy, 50_000)
    probe = Probe(server)
    path = f"/api/v1/workspaces/{greedy.workspace}/list?recursive=true&glob=*.nothing"
    began = time.monotonic()
    page = greedy.call("GET", path).json()
    print(f"one page of a list that matches nothing: {time.monotonic() - began:.3f} s")
    assert page["items"] == [] and page["has_more"]
    with Flood(server, key_of(greedy), 32, "repeat", path) as flood:
        probe.measure_during(flood)
    assert flood.answers >= 10, "the attack was none"
    probe.check()


def test_lists_that_match_nothing_do_not_delay_cells_of_others(make_user_server):
    """Another tenant's `1+1` took 3.3 s."""
    server = make_user_server()
    greedy = tenant(server, "greedy")
    fill(greedy, 50_000)
    neighbour = Neighbour(server)
    with neighbour, Flood(server, key_of(greedy), 32, "repeat", f"/api/v1/workspaces/{greedy.workspace}/list?recursive=true&glob=*.nothing") as flood:
        flood.asked.wait()
        while len(neighbour.times_s) < ROUNDS and neighbour.failure is None:
            time.sleep(0.1)  # the neighbour measures
    neighbour.check(has_shares=False)
    assert statistics.median(neighbour.times_s) <= max(MEDIAN_RATIO_MAX * neighbour.idle_s, FLOOR_S)
    assert max(neighbour.times_s) <= max(MEDIAN_RATIO_MAX * neighbour.idle_s, SLOWEST_S)


def test_answers_that_nobody_reads_do_not_delay_others(make_server):
    """1,500 connections that asked for 300 KB each and read nothing: a health check took 4.4 s."""
    server = make_server("--sandbox", "off")
    greedy = tenant(server, "greedy")
    fill(greedy, 1000)
    path = f"/api/v1/workspaces/{greedy.workspace}/list?recursive=true&limit=1000"
    assert len(greedy.call("GET", path, headers={"Accept-Encoding": "identity"}).content) > 250_000
    probe = Probe(server)
    with Flood(server, key_of(greedy), 1500, "unread", path) as flood:
        probe.measure_during(flood)
    probe.check()
