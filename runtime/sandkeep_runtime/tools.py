"""Tools that only the client of a call has: code calls them as async functions, and the server hands the calls to the client.

Calls that are made at once (asyncio.gather) go out together: a call waits until the event loop has nothing else to start.
"""

import asyncio
import functools
import inspect
import json
import keyword
import re

import sandkeep


class ToolExecutionError(Exception):
    """The client could not run a tool."""


def offer(text, namespace):
    """Defines the tools, a JSON list of {name, description, parameters}, for the cell that follows."""
    calls = Calls()
    namespace["ToolExecutionError"] = ToolExecutionError
    for tool in json.loads(text):
        function = make_function(tool, calls)
        namespace[function.__name__] = function


def function_name(name):
    """A tool's name as Python can spell it; the client hears its own."""
    plain = re.sub(r"[^a-zA-Z0-9_]", "", re.sub(r"[-\s]", "_", name))
    if not plain or plain[0].isdigit():
        plain = "_" + plain
    return plain + "_tool" if keyword.iskeyword(plain) else plain


def parameter_names(tool):
    """Those that must be given first, as they can be given without their names."""
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

    function.__name__ = function.__qualname__ = function_name(tool["name"])
    function.__doc__ = str(tool.get("description") or "")
    return function


def plain(value):
    """What JSON does not know: numbers of NumPy as numbers, everything else as its text."""
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
            # Twice around the loop: tasks that are ready start first, and so do those that they start.
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
