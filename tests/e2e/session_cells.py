"""Random cells that write, overwrite, append, replace, rename, truncate and delete files, and what the folder must look like after each of them.

The model of a folder is a dictionary of paths and bytes. It knows nothing of versions, copies or events.
"""

import random
from dataclasses import dataclass, field

# Prints every regular file below the folder with its hash, as code in the session sees it.
INVENTORY = """
import os as _os, hashlib as _hashlib, json as _json
print('INVENTORY' + _json.dumps({_os.path.relpath(_os.path.join(d, n), '.'): _hashlib.sha256(open(_os.path.join(d, n), 'rb').read()).hexdigest()
                                 for d, _, names in _os.walk('.') for n in names}))
"""


@dataclass
class Cell:
    """`after` is the folder once it ran; `states` has, for each path it touches, every content that the path has on the way (None: no file)."""

    code: str
    after: dict
    states: dict = field(default_factory=dict)
    removed: set = field(default_factory=set)  # paths that it deletes, moves away or replaces


def content(seed, size):
    return random.Random(seed).randbytes(size)


def make_cell(rng, before, sizes=(0, 5, 3000, 3000, 200_000)):
    """A cell for a folder that looks like `before`."""
    files, lines = dict(before), ["import os, random"]
    cell = Cell("", files)

    def touch(path, *contents):
        cell.states.setdefault(path, [before.get(path)]).extend(contents)

    def put(path, made):
        files[path] = made
        touch(path, made)

    for _ in range(rng.randint(1, 5)):
        size, seed = rng.choice(sizes), rng.randrange(1 << 40)
        path = f"{rng.choice(['', '', 'd/', 'd/e/'])}f{rng.randrange(8)}"
        made, text = content(seed, size), f"random.Random({seed}).randbytes({size})"
        kind = "write" if path not in files else rng.choice(["write", "in place", "append", "replace", "rename", "delete", "truncate", "recreate"])
        lines.append(f"os.makedirs(os.path.dirname('{path}') or '.', exist_ok=True)")
        if kind == "write":
            lines.append(f"open('{path}', 'wb').write({text})")
            touch(path, b"")
            put(path, made)
        elif kind == "in place":
            lines.append(f"with open('{path}', 'r+b') as f: f.write({text})")
            put(path, made + files[path][len(made):])
        elif kind == "append":
            lines.append(f"with open('{path}', 'ab') as f: f.write({text})")
            put(path, files[path] + made)
        elif kind == "truncate":
            lines.append(f"os.truncate('{path}', {size // 2})")
            put(path, files[path][:size // 2].ljust(size // 2, b"\0"))
        elif kind == "replace":
            lines.append(f"open('temporary', 'wb').write({text}); os.replace('temporary', '{path}')")
            touch("temporary", b"", made, None)
            files.pop("temporary", None)  # a cell that was cut before may have left one
            put(path, made)
            cell.removed |= {path, "temporary"}
        elif kind == "recreate":
            lines.append(f"os.remove('{path}'); open('{path}', 'wb').write({text})")
            touch(path, None, b"")
            put(path, made)
            cell.removed.add(path)
        elif kind == "rename":
            target = f"r{rng.randrange(8)}"
            lines.append(f"os.replace('{path}', '{target}')")
            put(target, files.pop(path))
            touch(path, None)
            cell.removed |= {path, target}
        else:
            lines.append(f"os.remove('{path}')")
            del files[path]
            touch(path, None)
            cell.removed.add(path)
    cell.code = "\n".join(lines)
    return cell
