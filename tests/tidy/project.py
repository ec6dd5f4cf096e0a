"""The project's files, as the tidy tests look at them."""

import re
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"

# Folders of src/ and the rooms that each may include. Everybody may use base. This is the table of ARCHITECTURE.md.
ROOMS = {
    "base": set(),
    "http": set(),
    "blobs": {"http"},
    "catalog": set(),
    "identity": {"catalog"},
    "workspace": {"catalog", "blobs", "identity"},
    "conversations": {"catalog", "workspace", "http"},
    "sandbox": set(),
    "interpreter": {"catalog", "sandbox", "workspace"},
    "followers": {"catalog", "identity", "workspace", "conversations", "interpreter"},
    "bridge": {"workspace", "conversations", "http"},
    "api": {"http", "blobs", "catalog", "identity", "workspace", "conversations", "sandbox", "interpreter", "followers", "bridge"},
    "server": {"http", "blobs", "catalog", "identity", "workspace", "conversations", "sandbox", "interpreter", "followers", "bridge", "api"},
    "cli": {"http", "server"},
}

# Parts of a room that another may use although it may not use the rest.
ONLY = {
    ("blobs", "http"): {"http/client/client.h", "http/message.h"},
    ("conversations", "http"): {"http/event_reader.h"},
    ("cli", "server"): {"server/server.h"},
}

# The folders of cli, and what each may include beside base and itself.
CLI = {
    "frame": set(),
    "client": {"http", "cli/frame"},
    "commands": {"http", "cli/frame", "cli/client", "server"},
}

# The commands that use the server's modules; all others talk HTTP.
SERVER_COMMANDS = {"serve", "settings", "doctor", "audit"}

# A third-party header belongs to one room, or to a folder of it; the others see our own header in front of it.
OWNERS = {
    "nlohmann/": {"base"},
    "toml++/": {"base"},
    "openssl/": {"base", "http", "identity"},  # http makes and loads TLS certificates, identity checks signatures of tokens
    "microhttpd": {"http/mhd"},
    "curl/": {"http/client"},
    "zlib": {"http"},
    "zstd": {"blobs"},
    "sqlite3": {"catalog"},
    "libpq": {"catalog"},
    "postgresql/": {"catalog"},
    "magic": {"base"},
    "utf8proc": {"workspace"},
    "md4c": {"conversations"},
    "seccomp": {"sandbox"},
    "histedit": {"cli"},
}


@lru_cache
def files(*patterns):
    """Tracked files, and new ones that are not ignored, so that a mistake shows before it is committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout
    return sorted(ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file())


def name(path):
    return path.relative_to(ROOT).as_posix()


def text(path):
    return path.read_text(encoding="utf-8", errors="replace")


def text_files():
    """All that people read and write: not images, not what tools generate."""
    return [path for path in files() if b"\0" not in path.read_bytes()[:4096] and path.name != "package-lock.json"]


@dataclass(frozen=True)
class Include:
    file: Path
    line: int
    target: str

    def __str__(self):
        return f"{name(self.file)}:{self.line}: includes {self.target}"


def includes_of(path):
    for number, line in enumerate(text(path).splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield Include(path, number, found.group(2))


def sources(room=None):
    folder = f"src/{room}/" if room else "src/"
    return files(*(f"{folder}*.{ending}" for ending in ("h", "cpp", "c", "def")))


def lines_that_match(paths, pattern, flags=0):
    expression = re.compile(pattern, flags)
    for path in paths:
        for number, line in enumerate(text(path).splitlines(), 1):
            if expression.search(line):
                yield f"{name(path)}:{number}: {line.strip()[:140]}"


def complain(problems, advice):
    """Fails with one line per problem, when there are any."""
    problems = [str(problem) for problem in problems]
    assert not problems, advice + "\n  " + "\n  ".join(problems[:40]) + ("\n  …" if len(problems) > 40 else "")
