"""Access from code in a session to the workspace that stores its files.

    import sandkeep
    sandkeep.keep("report.pdf")        # save this version now, without waiting for the end of the cell
    sandkeep.link("report.pdf")        # a permanent link to it
    sandkeep.fetch("/data/prices.csv") # copy a file of the workspace here; returns its path
    sandkeep.versions("report.pdf")    # the saved versions, newest first

Local paths are those that open() takes. Each call uses the session's own permissions. Errors are raised as sandkeep.Error.
"""

import base64
import os

__all__ = ["Error", "fetch", "keep", "link", "versions"]

_DATA = "/mnt/data"
_request = None  # set by the kernel


class Error(Exception):
    """The server refused; `code` is the machine-readable reason."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def _ask(method, params):
    if _request is None:
        raise Error("unavailable", "only code in the session's own process can do this, not programs that it starts")
    reply = _request(method, params)
    if reply.get("ok"):
        return reply.get("value")
    error = reply.get("error") or {}
    raise Error(error.get("code", "internal"), error.get("message", "the server gave no reason"))


def _local(path):
    """Returns the path relative to /mnt/data, encoded for JSON. Does not follow links; the server decides how to treat them."""
    full = os.path.normpath(os.path.join(os.getcwd(), os.fsdecode(path)))
    if full != _DATA and not full.startswith(_DATA + "/"):
        raise Error("bad_request", f"{path!r} is not in {_DATA}: only files there are kept")
    relative = full[len(_DATA) + 1:]
    try:
        relative.encode("utf-8")
        return {"path": relative}
    except UnicodeEncodeError:
        return {"path_base64": base64.b64encode(os.fsencode(relative)).decode("ascii")}


def keep(path):
    """Saves the current version of the file. Returns a dict that describes it."""
    return _ask("keep", _local(path))


def link(path):
    """Returns a permanent link to the current version of the file, with the server's address. Saves it first if needed."""
    return _ask("link", _local(path))


def fetch(workspace_path, to=None):
    """Copies a file of the workspace into /mnt/data (to `to`, or under its own name). Returns its local path."""
    params = {"workspace_path": str(workspace_path)}
    if to is not None:
        params.update(_local(to))
    return _ask("fetch", params)


def versions(path):
    """Returns the saved versions of the file, newest first, as a list of dicts."""
    return _ask("versions", _local(path))
