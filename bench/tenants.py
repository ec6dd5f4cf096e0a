"""Many tenants at once: how long the calm ones wait while others are busy, how equally the busy ones are served, and what a tenant costs."""

import multiprocessing
import random
import threading
import time

from tools import Api, Row, median, percentile

TENANTS, BUSY = 200, 50
GREEDY_SESSIONS = 3  # at once, of every second busy tenant; the others use one
BURN = "n = 0\nfor i in range(400_000): n += i\n"
FIGURES = ("1+1", "put of 4 KiB", "list of 100 files")


class Tenant:
    """A principal with a key, a workspace, a hundred files and a session."""

    def __init__(self, server, number):
        root = Api(server)
        self.server = server
        principal = root.call("POST", "/api/v1/principals", {"name": f"tenant-{number}"})["id"]
        self.key = root.call("POST", "/api/v1/keys", {"name": f"tenant-{number}", "principal_id": principal})["secret"]
        self.connect()
        self.workspace = self.api.call("POST", "/api/v1/workspaces", {"name": f"tenant-{number}"})["id"]
        self.files = f"/api/v1/workspaces/{self.workspace}/files"
        writes = [{"op": "put", "path": f"all/{i}.txt", "content": f"{number} {i}"} for i in range(100)]
        self.api.call("POST", f"/api/v1/workspaces/{self.workspace}/batch", {"changes": writes})
        self.session = self.make_session("one")

    def connect(self):
        """A connection of its own for each thread and process that uses the tenant."""
        self.api = Api(self.server, self.key)
        return self

    def make_session(self, folder):
        path = f"/api/v1/sessions/{self.api.call('POST', '/api/v1/sessions', {'workspace': self.workspace, 'folder': folder})['id']}"
        self.run(path, "1")
        return path

    def run(self, session, code):
        done = self.api.call("POST", f"{session}/executions", {"code": code})
        if done["end"] != "ok":
            raise RuntimeError(str(done)[:1000])

    def put(self):
        self.api.send("PUT", f"{self.files}/put.json", {"padding": "x" * 4000, "random": random.random()})

    def list(self):
        self.api.send("GET", f"/api/v1/workspaces/{self.workspace}/list?folder=all")

    def seconds(self):
        """Of each of FIGURES, once."""
        seconds = []
        for action in (lambda: self.run(self.session, "1+1"), self.put, self.list):
            began = time.monotonic()
            action()
            seconds.append(time.monotonic() - began)
        return seconds


def work(tenant, sessions, ended, counts, index):
    """One busy tenant: each of its sessions burns processor time, then a file is put and a folder listed, without a pause."""

    def one(session):
        mine = Tenant.__new__(Tenant)
        mine.__dict__.update(tenant.__dict__)
        mine.connect()
        while not ended.is_set():
            mine.run(session, BURN)
            mine.put()
            mine.list()
            with counts.get_lock():
                counts[index] += 1

    threads = [threading.Thread(target=one, args=(session,), daemon=True) for session in sessions]
    for thread in threads:
        thread.start()
    return threads


def load(busy, ready, ended, counts):
    """In a process of its own, so that its threads do not delay the client that measures."""
    threads = [thread for index, (tenant, sessions) in enumerate(busy) for thread in work(tenant, sessions, ended, counts, index)]
    ready.set()
    for thread in threads:
        thread.join(timeout=60)


def visit(bench, calm):
    """Calm tenants come by one after the other, in any order: the seconds of each figure."""
    random.seed(7)
    visits = [random.choice(calm).seconds() for _ in range(bench.scaled(400, 20))]
    return list(zip(*visits))


def fairness(values):
    """Jain's index: 1 when all are served alike, 1/n when one has everything."""
    return sum(values) ** 2 / (len(values) * sum(value * value for value in values))


def memory_bytes(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS:"))


def tenants(bench):
    count, busy_count = bench.scaled(TENANTS, 8), bench.scaled(BUSY, 2)
    flags = ["--sessions-max", "2000", "--sessions-per-principal-max", "16", "--session-idle-s", "2h", "--idle-timeout-s", "1h"]
    with bench.server(*flags, environment={"SANDKEEP_SANDBOX": "required"}) as server:
        Api(server).call("GET", "/api/v1/workspaces")
        before = memory_bytes(server)
        all_of_them = [Tenant(server, number) for number in range(count)]
        memory = memory_bytes(server) - before
        busy = [(tenant, [tenant.session] + [tenant.make_session(f"more-{i}") for i in range(1, GREEDY_SESSIONS if number % 2 else 1)])
                for number, tenant in enumerate(all_of_them[:busy_count])]
        calm = all_of_them[busy_count:]
        idle = visit(bench, calm)
        ready, ended = multiprocessing.Event(), multiprocessing.Event()
        counts = multiprocessing.Array("q", busy_count)
        process = multiprocessing.Process(target=load, args=(busy, ready, ended, counts))
        process.start()
        ready.wait()
        began, first = time.monotonic(), list(counts)
        beside = visit(bench, calm)
        served = [after - before for before, after in zip(first, counts)]
        seconds = time.monotonic() - began
        ended.set()
        process.join()
        for name, alone, loaded in zip(FIGURES, idle, beside):
            yield Row(f"{name} of one of {len(calm)} calm tenants beside {busy_count} busy ones",
                      f"p50 {median(loaded) * 1e3:.1f} ms, p99 {percentile(loaded, 0.99) * 1e3:.0f} ms",
                      f"idle: p50 {median(alone) * 1e3:.1f} ms, p99 {percentile(alone, 0.99) * 1e3:.0f} ms",
                      median(alone) / median(loaded), "p50 ≤ 3 × idle, p99 ≤ 1 s",
                      median(loaded) <= 3 * median(alone) and percentile(loaded, 0.99) <= 1, "")
        yield Row(f"{busy_count} busy tenants, every second one with {GREEDY_SESSIONS} sessions", f"fairness index {fairness(served):.3f}", "", None, "",
                  None, f"{sum(served) / seconds:.0f} rounds per second; of one tenant {min(served)} to {max(served)} rounds")
        yield Row("memory of the server per tenant", f"{memory / count / 1024:.0f} KiB", "", None, "", None, f"{count} tenants, each with a session awake")
