"""The command line in tests: runs the real program against a server, with a home of its own."""

import json
import os
import subprocess

from sandkeep_server import ROOT_KEY, binary


class Ran:
    """How a call ended."""

    def __init__(self, done):
        self.code = done.returncode
        self.raw = done.stdout
        self.out = done.stdout.decode(errors="replace")
        self.err = done.stderr.decode(errors="replace")

    @property
    def lines(self):
        return self.out.splitlines()

    @property
    def json(self):
        """The one object that was printed."""
        return json.loads(self.out)

    @property
    def json_lines(self):
        return [json.loads(line) for line in self.lines]

    @property
    def error(self):
        """The error object of a call with --json; progress and notes never mix with it."""
        return json.loads(self.err)["error"]


class Cli:
    """Calls of `sandkeep`. `workspace` is what a bare path means."""

    def __init__(self, folder, server=None, key=ROOT_KEY, workspace=None):
        self.folder = folder
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8",
                            **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}}
        if server is not None:
            self.environment["SANDKEEP_SERVER"] = server if isinstance(server, str) else server.url
        if key is not None:
            self.environment["SANDKEEP_KEY"] = key
        if workspace is not None:
            self.environment["SANDKEEP_WORKSPACE"] = workspace

    def command(self, *words):
        return [str(binary()), *(word if isinstance(word, bytes) else str(word) for word in words)]

    def __call__(self, *words, code=0, stdin=b"", cwd=None, timeout=120, **variables):
        """Runs it; `code` is the exit code it must have."""
        done = Ran(subprocess.run(self.command(*words), input=stdin, capture_output=True, cwd=cwd or self.folder, timeout=timeout,
                                  env={**self.environment, **variables}, check=False))
        assert done.code == code, f"{words} ended with {done.code}:\n{done.out[-2000:]}\n{done.err[-2000:]}"
        return done

    def start(self, *words, **options):
        """Runs it in the background."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen(self.command(*words), cwd=self.folder, env=self.environment, **options)
