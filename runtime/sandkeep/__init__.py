"""What code in a session can ask of the workspace that its files are kept in.

    import sandkeep
    sandkeep.keep("report.pdf")        # keep this version now, without waiting for the end of the cell
    sandkeep.link("report.pdf")        # a permanent link to it
    sandkeep.fetch("/data/prices.csv") # bring a file of the workspace here; returns its path
    sandkeep.versions("report.pdf")    # the versions that were kept, newest first

Paths of files here are those that open() takes. Each call acts with the session's own rights.
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
    """The path relative to /mnt/data, as JSON can carry it. Links are not followed: the server decides about them."""
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
    """Keeps the file as it is now, and returns a dict that describes the kept version."""
    return _ask("keep", _local(path))


def link(path):
    """A permanent link to the file as it is now; keeps it first if needed."""
    return _ask("link", _local(path))


def fetch(workspace_path, to=None):
    """Copies a file of the workspace into /mnt/data (to `to`, or under its own name) and returns its path here."""
    params = {"workspace_path": str(workspace_path)}
    if to is not None:
        params.update(_local(to))
    return _ask("fetch", params)


def versions(path):
    """The kept versions of the file, newest first, as a list of dicts."""
    return _ask("versions", _local(path))
