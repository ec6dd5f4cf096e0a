"""Mounts that a test may count: its own. Others come and go on a machine that is used for other things as well."""

from pathlib import Path


def _lines(pid):
    """(root, mount point, type, source) of each mount that a process sees."""
    found = []
    for line in Path(f"/proc/{pid}/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        left, _, right = line.partition(" - ")
        root, point = left.split()[3:5]
        kind, source = right.split()[:2]
        found.append((root, point, kind, source))
    return found


# A sandbox's mounts, and those that the probes try, have these sources; the places are where they would appear if they came into sight.
SOURCES = ("sandkeep", "tmp", "mnt", "none")
PLACES = ("/", "/tmp", "/var", "/usr", "/mnt", "/mnt/data", "/proc")


def mounts_of(folders, pid="self"):
    """Mounts of or below `folders`, and a sandbox's mounts in the machine's own tree."""
    folders = tuple(str(folder).rstrip("/") + "/" for folder in folders)
    return sorted(line for line in _lines(pid)
                  if (line[1] in PLACES and line[3] in SOURCES) or (folders and any((part + "/").startswith(folders) for part in line[:2])))


def mounts_beside(pid):
    """Mounts that only a process in a mount namespace of its own sees. What others mount on the machine arrives there, too."""
    before = set(_lines("self"))
    own = _lines(pid)
    return sorted(set(own) - before - set(_lines("self")))
