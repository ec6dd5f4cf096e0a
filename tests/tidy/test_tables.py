"""A table has one owner room: SQL of other rooms does not name it."""

import re

from project import ROOMS, complain, files, name, sources, text

OWNERS = {
    "identity": {"principals", "keys", "subjects"},
    "workspace": {
        "workspaces", "members", "entries", "placements", "versions", "purged_versions", "purged_workspaces", "purges", "attributes", "blobs", "workspace_blobs",
        "locks", "fences", "journals", "journal", "checkpoints", "retracted_versions", "uploads", "upload_parts",
        "workspace_usage", "principal_usage",
    },
    "conversations": {"conversations", "messages", "message_files"},
    "interpreter": {
        "sessions", "session_aliases", "session_attachments", "executions", "execution_files", "execution_outputs", "manifests", "thumbnails", "unkept",
    },
    "followers": {"followers", "follower_cursors"},
    "api": {"purposes"},
}

# Queries of one room about a table of another, by (file, table), with the reason why a function of the owner would be worse.
EXCEPTIONS = {
    **{
        (f"src/workspace/{file}", "principals"): "joins the name of an author or owner to each row of a list"
        for file in ("files.cpp", "lock_check.cpp", "locks.cpp", "workspace_rows.h", "workspaces.cpp")
    },
    **{
        ("src/api/vendor/given_files.cpp", table): "pages files with a purpose in the order of their newest versions"
        for table in ("entries", "versions", "principals")
    },
    ("src/workspace/usage.cpp", "principals"): "compares the bytes of an owner with its own quota in the lookup that every write makes",
    ("src/interpreter/records.cpp", "entries"): "leaves out unkept files that are settled, in the query that pages them",
    ("src/interpreter/records.cpp", "versions"): "leaves out unkept files that are settled, in the query that pages them",
    ("src/workspace/purge_rows.cpp", "thumbnails"): "a purge deletes the thumbnail in its own transaction, so that no picture outlives its file",
}


def migrations():
    return "\n".join(text(path) for path in files("src/catalog/migrations/*.sql"))


def kept_tables():
    sql = re.sub(r"--[^\n]*", "", migrations())
    made = re.findall(r"\bCREATE\s+(?:VIRTUAL\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)", sql, re.I)
    dropped = re.findall(r"\bDROP\s+TABLE\s+(?:IF\s+EXISTS\s+)?(\w+)", sql, re.I)
    return set(made) - set(dropped)


def sql_of(path):
    """The string literals of a source file; adjacent ones are joined, as the compiler does it."""
    code = re.sub(r"\\\n", "\n", text(path))
    code = re.sub(r"^\s*//[^\n]*$", "", code, flags=re.M)
    code = re.sub(r'"\s+"', "", code)
    return "\n".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', code))


def tables_named_in(path, tables):
    named = re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+(\w+)", sql_of(path))
    return sorted(set(named) & tables)


def uses_of_other_rooms_tables():
    for room, own in {room: OWNERS.get(room, set()) for room in ROOMS}.items():
        for path in sources(room):
            for table in tables_named_in(path, kept_tables() - own):
                if room != "catalog":  # which applies the migrations
                    yield name(path), table


def test_every_table_has_one_owner():
    owned = [table for tables in OWNERS.values() for table in tables]
    complain(kept_tables() ^ set(owned), "Give the table an owner in OWNERS, or remove it there:")
    complain((table for table in set(owned) if owned.count(table) > 1), "More than one room owns:")
    complain(OWNERS.keys() - ROOMS.keys(), "Not a room:")


def test_the_sql_of_a_room_names_only_its_own_tables():
    complain(
        (f"{file} names {table}" for file, table in uses_of_other_rooms_tables() if (file, table) not in EXCEPTIONS),
        "Call a function of the room that owns the table, or give a reason in EXCEPTIONS:",
    )


def test_every_exception_is_needed():
    complain(EXCEPTIONS.keys() - set(uses_of_other_rooms_tables()), "Remove the exception:")


def test_statements_are_found_as_the_compiler_joins_them(tmp_path):
    source = tmp_path / "one.cpp"
    source.write_text('// "FROM comments"\n#define SK_ONE "SELECT a " \\\n  "FROM " "joined j LEFT JOIN other o"\nauto two = "DELETE FROM "\n    "third";\n')
    assert tables_named_in(source, {"joined", "other", "third", "comments"}) == ["joined", "other", "third"]
