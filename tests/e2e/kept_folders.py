"""What a workspace has in a session's folder, beside what code in the session sees."""

import json
from pathlib import Path

from session_cells import INVENTORY
from sessions_client import text_of


def copy_of(server, session):
    return Path(server.data) / "copies" / session["id"].removeprefix("s_")


def sleep(keep, session):
    keep.call("POST", f"/api/v1/sessions/{session['id']}/sleep")


def entries(keep, folder, workspace="default"):
    """Files below a folder of the workspace: path without the folder -> entry."""
    found, cursor = {}, None
    while True:
        query = {"folder": folder, "recursive": "true", **({"cursor": cursor} if cursor else {})}
        page = keep.call("GET", f"/api/v1/workspaces/{workspace}/list", params=query).json()
        found.update({item["path"].removeprefix(folder).lstrip("/"): item for item in page["items"] if item["kind"] == "file"})
        cursor = page.get("next_cursor")
        if not cursor:
            return found


def entries_if_any(keep, folder):
    """As entries; of a folder that is not there: none."""
    there = keep.http.get(f"{keep.server.url}/api/v1/workspaces/default/entries/{folder}", timeout=60).status_code == 200
    return entries(keep, folder) if there else {}


def in_trash(keep, folder, workspace="default"):
    """Paths at or below the folder that are in the trash, without it."""
    found, cursor = [], None
    while True:
        page = keep.call("GET", f"/api/v1/workspaces/{workspace}/trash", params={"cursor": cursor} if cursor else {}).json()
        found += [item["path"] for item in page["items"]]
        cursor = page.get("next_cursor")
        if not cursor:
            return sorted(path.removeprefix(folder).lstrip("/") for path in found if path == folder or path.startswith(folder + "/"))


def versions(keep, path):
    return keep.call("GET", f"/api/v1/workspaces/default/versions/{path}").json()["items"]


def kept_paths(keep, session, done):
    """All files that an execution kept, page by page, without the session's folder."""
    found, after = [], None
    while True:
        query = {"cursor": after} if after else {}
        page = keep.call("GET", f"/api/v1/sessions/{session['id']}/executions/{done['id']}/kept", params=query).json()
        found += [item["path"].removeprefix(session["folder"]).lstrip("/") for item in page["items"]]
        after = page.get("next_cursor")
        if not after:
            return sorted(found)


def assert_same_on_both_sides(keep, session, workspace="default"):
    """The workspace's folder has what code sees, byte for byte; the inventory."""
    inventory = json.loads(text_of(keep.run(session, INVENTORY)).split("INVENTORY")[1])
    kept = {path: entry["sha256"] for path, entry in entries(keep, session["folder"], workspace).items()}
    assert inventory == kept, {"only in the copy": set(inventory) - set(kept), "only in the workspace": set(kept) - set(inventory),
                               "other bytes": {path for path in inventory if inventory[path] != kept.get(path, inventory[path])}}
    return inventory
