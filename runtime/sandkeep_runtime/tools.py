"""Tools provided by the client of a call: code calls them, and the server forwards the calls to the client.

In Python they are async functions. Concurrent calls (asyncio.gather) are sent together: a call waits until the event loop has nothing
else to start. In bash they are functions that take a JSON object and print the result of the tool: x=$(tool '{"a": 1}').
"""

import asyncio
import errno
import functools
import inspect
import json
import os
import select
import threading
import time

import sandkeep
from sandkeep_runtime.bash import Around


class ToolExecutionError(Exception):
    """The client could not run a tool."""


MISSING = object()


class Offer:
    """Defines the tools, a JSON list of {name, function, description, parameters}, for one cell. Then puts back what had their names before."""

    def __init__(self, text, namespace):
        calls = Calls()
        self.namespace = namespace
        self.offered = {tool["function"]: make_function(tool, calls) for tool in json.loads(text)}
        self.offered["ToolExecutionError"] = ToolExecutionError

    def __enter__(self):
        self.before = {name: self.namespace.get(name, MISSING) for name in self.offered}
        self.namespace.update(self.offered)

    def __exit__(self, *_):
        for name, value in self.before.items():
            if self.namespace.get(name, MISSING) is not self.offered[name]:
                continue  # the code gave the name another meaning
            if value is MISSING:
                del self.namespace[name]
            else:
                self.namespace[name] = value


def parameter_names(tool):
    """Returns the parameter names, required ones first, because arguments may be positional."""
    schema = tool.get("parameters")
    schema = schema if isinstance(schema, dict) else {}
    known = list(schema.get("properties") or {})
    required = [name for name in schema.get("required") or [] if name in known]
    return required + [name for name in known if name not in required]


def make_function(tool, calls):
    names = parameter_names(tool)

    async def function(*args, **kwargs):
        if len(args) > len(names):
            raise TypeError(f"{tool['name']} takes {len(names)} arguments, not {len(args)}")
        given = {**dict(zip(names, args)), **kwargs}
        return await calls.call(tool["name"], {name: value for name, value in given.items() if value is not None})

    function.__name__ = function.__qualname__ = tool["function"]
    function.__doc__ = str(tool.get("description") or "")
    return function


def plain(value):
    """Converts values that JSON does not support: NumPy numbers to numbers, everything else to text."""
    item = getattr(value, "item", None)
    return item() if callable(item) and not inspect.isclass(value) else str(value)


class Calls:
    def __init__(self):
        self.waiting = []

    async def call(self, name, arguments):
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self.waiting.append(({"name": name, "input": json.loads(json.dumps(arguments, default=plain))}, future))
        if len(self.waiting) == 1:
            # Two loop iterations: ready tasks start first, and so do the tasks that they start.
            loop.call_soon(functools.partial(loop.call_soon, self.send))
        return await future

    def send(self):
        waiting, self.waiting = self.waiting, []
        try:
            results = sandkeep._ask("tools", {"calls": [call for call, _ in waiting]})
        except Exception as error:
            results = [{"ok": False, "error": str(error)}] * len(waiting)
        for (_, future), result in zip(waiting, results):
            if future.done():
                continue
            if result.get("ok"):
                future.set_result(result.get("value"))
            else:
                future.set_exception(ToolExecutionError(result.get("error")))


# Bash. A call is a folder with the files `name` and `input`. The shell writes its path to a common pipe and waits for a line on the folder's own
# pipe. That line says whether `output` is a result (0) or an error (1). Paths are short, so writes of several processes do not interleave.

CALLS_PIPE = "/tmp/.home/.sandkeep-tools"
AT_ONCE_MS = 50  # calls of background processes within this time are sent together

# "builtin" and "command", because a tool may be named "read" or "cat".
SHELL_FUNCTION = f"""
__sandkeep_tool() {{
  local folder status
  folder=$(command mktemp -d /tmp/.home/.tool-XXXXXXXX) && command mkfifo "$folder/reply" || return 1
  builtin printf '%s' "$1" > "$folder/name"
  builtin printf '%s' "$2" > "$folder/input"
  builtin printf '%s\\n' "$folder" > {CALLS_PIPE}
  IFS= builtin read -r status < "$folder/reply"
  if builtin [ "$status" = 0 ]; then command cat "$folder/output"; else command cat "$folder/output" >&2; fi
  command rm -rf "$folder"
  return "$status"
}}
"""


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def run_bash(text, code, bash):
    """Runs a script in the session's shell, with the tools as functions. Returns its status and exit code."""
    offered = json.loads(text)
    names = " ".join(tool["function"] for tool in offered)
    stubs = "".join(f'function {tool["function"]} {{ __sandkeep_tool {quote(tool["name"])} "${{1:-}}"; }}\n' for tool in offered)
    before = f"__sandkeep_before=$(declare -f {names}) || builtin true\n{SHELL_FUNCTION}{stubs}"
    after = f'unset -f {names} __sandkeep_tool\neval "$__sandkeep_before"\nunset -v __sandkeep_before\n'
    with ShellCalls():
        return bash.run(code, Around(before, after))


class ShellCalls:
    """Serves the calls of a script while it runs."""

    def __enter__(self):
        if os.path.exists(CALLS_PIPE):
            os.unlink(CALLS_PIPE)
        os.mkfifo(CALLS_PIPE)
        self.pipe = os.open(CALLS_PIPE, os.O_RDWR | os.O_CLOEXEC)  # also for writing, so it never reaches end-of-file between calls
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def __exit__(self, *_):
        os.write(self.pipe, b"\n")

    def serve(self):
        incoming = b""
        while True:
            incoming += os.read(self.pipe, 65536)
            while select.select([self.pipe], [], [], AT_ONCE_MS / 1000)[0]:
                incoming += os.read(self.pipe, 65536)
            *lines, incoming = incoming.split(b"\n")
            folders = [line.decode() for line in lines if line]
            if folders:
                self.answer(folders)
            if b"" in lines:  # the script has ended
                os.close(self.pipe)
                return

    def answer(self, folders):
        calls = [read_call(folder) for folder in folders]
        good = [call for call in calls if isinstance(call, dict)]
        try:
            results = iter(sandkeep._ask("tools", {"calls": good}) if good else [])
        except Exception as error:
            results = iter([{"ok": False, "error": str(error)}] * len(good))
        for folder, call in zip(folders, calls):
            write_reply(folder, next(results) if isinstance(call, dict) else {"ok": False, "error": call})


def read_call(folder):
    """Returns {name, input}, or an error message."""
    try:
        with open(f"{folder}/name") as name, open(f"{folder}/input") as given:
            arguments = json.loads(given.read() or "{}")
            return {"name": name.read(), "input": arguments} if isinstance(arguments, dict) else "a tool takes one JSON object"
    except (OSError, ValueError) as error:
        return f"a tool takes one JSON object: {error}"


def write_reply(folder, result):
    value = result.get("value") if result.get("ok") else result.get("error")
    try:
        with open(f"{folder}/output", "w") as output:
            output.write(value if isinstance(value, str) else json.dumps(value))
            output.write("" if result.get("ok") else "\n")
        reply = open_for_reader(f"{folder}/reply")
        os.write(reply, b"0\n" if result.get("ok") else b"1\n")
        os.close(reply)
    except OSError:
        pass  # the calling process is gone


def open_for_reader(path, patience_s=5.0):
    """Opens a pipe for writing once it has a reader. Does not block, so a killed reader cannot delay other calls."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.ENXIO or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
