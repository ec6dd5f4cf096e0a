"""Sessions, beside a Jupyter kernel: how soon, how fast, and what it costs to keep the files."""

import contextlib
import subprocess
import time

from tools import Api, Row, median

PANDAS = "import pandas; pandas.DataFrame([1]).sum()"
ONE_FILE = "import os; _ = open('plot.bin', 'wb').write(os.urandom(100_000))"
MANY_FILES = """import os
os.makedirs('many', exist_ok=True)
for i in range({count}):
    with open(f'many/{{i:04d}}.bin', 'wb') as out: out.write(os.urandom(4096))
"""


class OurSession:
    """A session, over HTTP."""

    def __init__(self, api):
        self.api = api
        self.path = f"/api/v1/sessions/{api.call('POST', '/api/v1/sessions', {})['id']}"

    def run(self, code, kept=0):
        done = self.api.call("POST", f"{self.path}/executions", {"code": code})
        if done["end"] != "ok" or len(done["kept"]) != kept:
            raise RuntimeError(f"{code!r}: {str(done)[:2000]}")

    def end(self):
        self.api.send("DELETE", self.path)


class JupyterSession:
    """A kernel of our own, over its sockets."""

    def __init__(self, folder):
        from jupyter_client.manager import KernelManager

        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(cwd=str(folder), stderr=subprocess.DEVNULL)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def run(self, code, kept=0):
        del kept  # it keeps nothing
        reply = self.client.execute_interactive(code, output_hook=lambda message: None, timeout=120)
        if reply["content"]["status"] != "ok":
            raise RuntimeError(f"{code!r}: {reply['content']}")

    def end(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def seconds_each(count, action):
    seconds = []
    for _ in range(count):
        start = time.monotonic()
        action()
        seconds.append(time.monotonic() - start)
    return seconds


def first_result(bench, make):
    """From nothing to the first answer that needs pandas, one session after the other."""
    seconds = []
    for _ in range(bench.scaled(8, 2)):
        start = time.monotonic()
        session = make()
        session.run(PANDAS)
        seconds.append(time.monotonic() - start)
        session.end()
        time.sleep(1)  # people do not come one on the other's heels
    return seconds


def in_turns(rounds, ours, theirs):
    """Both in each round, so that whatever else the machine does meets both."""
    results = [], []
    for _ in range(rounds):
        for into, action in zip(results, (ours, theirs)):
            into.extend(action())
    return results


def milliseconds(seconds):
    return f"{median(seconds) * 1e3:.1f} ms"


def sessions(bench):
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(bench.server(environment={"SANDKEEP_SANDBOX": "required"}))
        folder = stack.enter_context(bench.room("jupyter"))
        api = Api(server)
        ours = first_result(bench, lambda: OurSession(api))
        theirs = first_result(bench, lambda: JupyterSession(folder))
        yield Row("new session to first pandas result", milliseconds(ours), f"Jupyter: {milliseconds(theirs)}", median(theirs) / median(ours),
                  "", None, f"slowest: {max(ours) * 1e3:.0f} ms, Jupyter {max(theirs) * 1e3:.0f} ms")

        session, kernel = OurSession(api), JupyterSession(folder)
        stack.callback(kernel.end)
        for warm in (session, kernel):
            seconds_each(10, lambda: warm.run("1+1"))
        yield compare(bench, "warm `1+1`, p50", "1+1", 0, bench.scaled(100, 10), session, kernel)
        yield compare(bench, "a file of 100 KB written, p50", ONE_FILE, 1, bench.scaled(30, 5), session, kernel, "ours is durable and versioned")

        count = bench.scaled(1000, 20)
        code = MANY_FILES.format(count=count)
        ours, theirs = in_turns(bench.rounds, lambda: seconds_each(1, lambda: session.run(code, kept=count)),
                                lambda: seconds_each(1, lambda: kernel.run(code)))
        bench.say(f"{count} files: {ours}, Jupyter {theirs}")
        yield Row(f"{count:,} files of 4 KiB in one cell", f"{median(ours) / count * 1e6:.0f} µs per file",
                  f"Jupyter: {median(theirs) / count * 1e6:.0f} µs per file", median(theirs) / median(ours), "", None,
                  "ours are durable and versioned")
        session.end()


def compare(bench, figure, code, kept, count, session, kernel, beside=""):
    ours, theirs = in_turns(bench.rounds, lambda: seconds_each(count, lambda: session.run(code, kept)),
                            lambda: seconds_each(count, lambda: kernel.run(code)))
    return Row(figure, milliseconds(ours), f"Jupyter: {milliseconds(theirs)}", median(theirs) / median(ours), "", None, beside)
