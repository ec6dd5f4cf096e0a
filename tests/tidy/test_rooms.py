"""Arrows between rooms point one way, and third-party headers stay in their room."""

import pytest
from project import CLI, ONLY, OWNERS, ROOMS, ROOT, SERVER_COMMANDS, complain, files, includes_of, name, sources


def test_every_folder_of_src_is_a_room():
    folders = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
    complain(folders - ROOMS.keys(), "Add the room to ROOMS here, to CMakeLists.txt and to ARCHITECTURE.md:")


def test_rooms_do_not_use_each_other_in_a_circle():
    order = list(ROOMS)
    complain(
        (f"{room} uses {used}" for room, uses in ROOMS.items() for used in uses if order.index(used) >= order.index(room)),
        "A room may only use rooms above it in the table:",
    )


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_includes_only_rooms_that_it_may_use(room):
    def is_allowed(include):
        used = include.target.split("/")[0]
        if used not in ROOMS or used in (room, "base"):
            return True
        return used in ROOMS[room] and include.target in ONLY.get((room, used), {include.target})

    includes = [include for path in sources(room) for include in includes_of(path)]
    complain((i for i in includes if not is_allowed(i)), f"{room} may use: {', '.join(sorted(ROOMS[room])) or 'only base'}.")


@pytest.mark.parametrize("room", ROOMS)
def test_a_third_party_header_is_included_by_the_room_it_belongs_to(room):
    def is_owned(include):
        owners = next((folders for start, folders in OWNERS.items() if include.target.startswith(start)), {room})
        return any(name(include.file).startswith(f"src/{owner}/") for owner in owners)

    # The precompiled header is parsed for all rooms at once, to save time; it gives no room a right.
    own = [path for path in sources(room) if name(path) != "src/base/pch.h"]
    includes = [include for path in own for include in includes_of(path)]
    complain((i for i in includes if not is_owned(i)), "Use the owner's own header in front of it:")


def test_the_protocol_of_http_knows_neither_the_server_nor_the_client_below_it():
    """Values and pure protocol stay apart from libmicrohttpd and libcurl. The server's own header is the way in."""
    includes = [include for path in files("src/http/*") if len(path.relative_to(ROOT / "src/http").parts) == 1 for include in includes_of(path)]
    assert includes
    complain((i for i in includes if i.target.startswith(("http/mhd/", "http/client/"))), "Move it into src/http/mhd or src/http/client:")


def test_nobody_else_includes_what_knows_libmicrohttpd():
    outside = [path for path in sources() if not name(path).startswith("src/http/")]
    complain((i for path in outside for i in includes_of(path) if i.target.startswith("http/mhd/")), "Include http/server.h:")


def test_a_dialect_does_not_include_another_dialect():
    """src/api/common is what all dialects share, src/api/vendor what foreign APIs share; files directly in src/api put the dialects together."""
    foreign = {"openai", "foundry", "azure", "librechat"}

    def problems():
        for path in files("src/api/*/*"):
            own = name(path).split("/")[2]
            shared = {"common", "vendor"} if own in foreign else {"common"}
            for include in includes_of(path):
                parts = include.target.split("/")
                if parts[0] == "api" and len(parts) > 2 and parts[1] not in shared | {own}:
                    yield include

    complain(problems(), "What two dialects need belongs into workspace or interpreter, or into src/api/common; what only foreign APIs need, into src/api/vendor:")


@pytest.mark.parametrize("folder, above", [("copy", {"run", "sessions"}), ("run", {"sessions"})])
def test_a_folder_of_the_interpreter_includes_none_above_it(folder, above):
    includes = [include for path in files(f"src/interpreter/{folder}/*") for include in includes_of(path)]
    assert includes
    complain(
        (i for i in includes if i.target.startswith(tuple(f"interpreter/{one}/" for one in above))),
        "A working copy knows nothing of what runs, and what runs nothing of the registry:",
    )


@pytest.mark.parametrize("folder", CLI)
def test_a_folder_of_cli_includes_only_what_is_below_it(folder):
    def is_allowed(include):
        parts = include.target.split("/")
        used = "/".join(parts[:2]) if parts[0] == "cli" else parts[0]
        return parts[0] not in ROOMS or used in ("base", f"cli/{folder}") or used in CLI[folder]

    includes = [include for path in files(f"src/cli/{folder}/*") for include in includes_of(path)]
    complain((i for i in includes if not is_allowed(i)), f"cli/{folder} may use: {', '.join(sorted(CLI[folder])) or 'only base'}.")


def test_only_some_commands_use_the_modules_of_the_server():
    users = {path.stem for path in files("src/cli/*") for include in includes_of(path) if include.target.startswith("server/")}
    complain(users - SERVER_COMMANDS, "A command talks HTTP to a server; these include its modules:")
