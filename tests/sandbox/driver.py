"""Sessions for the tests of this folder, behind an interface that another server of sandboxes could have too.

Driver starts `sandbox_run` as a given user and speaks JSON lines with it. Several sessions may run cells at once: run() waits for one,
start_cell() and wait() let them overlap.
"""

import json
import os
import queue
import subprocess
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120
# In the server's environment, and nowhere in a session.
SECRET = "canary-" + os.urandom(12).hex()


def program(name="sandbox_run"):
    built = Path(os.environ.get("SK_PROGRAM", ROOT / "build/release/sandkeep")).parent / name
    if not built.exists():
        raise FileNotFoundError(f"{built}: run script/build first")
    return built


def as_user(uid, command):
    if uid == os.geteuid():
        return list(command)
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *command]


class Driver:
    def __init__(self, uid, *arguments):
        self.uid = uid
        self.process = subprocess.Popen(
            as_user(uid, [str(program()), *arguments]),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd="/",
            env={"PATH": "/usr/bin:/bin", "SANDKEEP_CANARY": SECRET, **{k: v for k, v in os.environ.items() if k == "TMPDIR"}},
        )
        # A queue is there before anything is asked: the thread that reads answers must not make another one of that name.
        self.answers = {"": queue.Queue()}
        self.count = 0
        threading.Thread(target=self._read, daemon=True).start()
        assert self._next("")["ok"], "Python did not start in the sandbox"

    def _read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            self.answers[answer.get("session", "")].put(answer)

    def _next(self, session, timeout_s=PATIENCE_S):
        return self.answers[session].get(timeout=timeout_s)

    def send(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")

    def ask(self, op, session="", **more):
        self.send(op=op, session=session, **more)
        return self._next(session)

    def start(self, **options):
        self.count += 1
        name = f"s{self.count}"
        self.answers[name] = queue.Queue()
        answer = self.ask("start", name, **options)
        assert answer["op"] == "started", answer
        return Session(self, name, answer["folder"])

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(PATIENCE_S) == 0


class Session:
    def __init__(self, driver, name, folder):
        self.driver, self.name, self.folder = driver, name, Path(folder)
        self.patience_s = PATIENCE_S

    def start_cell(self, code, language="python", timeout_s=60):
        self.patience_s = timeout_s + 60
        self.driver.send(op="run", session=self.name, code=code, language=language, timeout_ms=int(timeout_s * 1000))

    def wait(self):
        """How the cell went: `status` when it is done, `end` when the session has ended."""
        return self.driver._next(self.name, self.patience_s)

    def run(self, code, **options):
        self.start_cell(code, **options)
        return self.wait()

    def ask(self, op, **more):
        return self.driver.ask(op, self.name, **more)

    def stop(self):
        self.ask("stop")
