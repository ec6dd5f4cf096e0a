"""Walks through folders that others change meanwhile. Path.glob and Path.rglob raise when a folder goes between its listing and its opening."""

import os
from pathlib import Path


def control_groups(pid):
    """Folders of control groups that this server made, and below them those of its sessions."""
    own = f"sandkeep-{pid}-"
    found = []
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        parent = os.path.basename(folder)
        found += [f"{folder}/{name}" for name in names if parent.startswith(own) or name.startswith(own)]
    return sorted(found)


def session_groups(pid):
    return [path for path in control_groups(pid) if not os.path.basename(path).startswith(f"sandkeep-{pid}-")]


def files_below(folder):
    return [path for at, _, names in os.walk(folder) for path in (Path(at, name) for name in names) if path.is_file()]
