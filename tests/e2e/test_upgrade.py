"""A catalog that an older program left behind is mended when the server opens it."""

import datetime
import sqlite3
import time

import requests
from rest_client import Client
from sandkeep_server import PROJECT, ROOT_KEY

MIGRATIONS = sorted((PROJECT / "src" / "catalog" / "migrations").glob("*.sql"))


def downgrade(path, last):
    """The same rows in the schema that ended with the migration `last`; a writable connection."""
    new = sqlite3.connect(path)
    new.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    new.close()
    old_path = path.with_suffix(".old")
    path.rename(old_path)
    for leftover in path.parent.glob(path.name + "-*"):
        leftover.unlink()
    db = sqlite3.connect(path)
    # The migrations use it; this SQLite may be too old to have it.
    db.create_function("octet_length", 1, lambda value: None if value is None else len(value.encode() if isinstance(value, str) else value))
    db.execute("CREATE TABLE schema_migrations (name TEXT PRIMARY KEY)")
    for file in MIGRATIONS:
        if file.stem <= last:
            db.executescript(file.read_text().replace("/*clustered*/", "WITHOUT ROWID"))
            db.execute("INSERT INTO schema_migrations VALUES (?)", (file.stem,))
    db.execute("ATTACH ? AS newer", (str(old_path),))
    for (table,) in db.execute("SELECT name FROM main.sqlite_master WHERE type = 'table' AND name <> 'schema_migrations'").fetchall():
        still_there = {row[1] for row in db.execute(f"PRAGMA newer.table_info({table})")}
        columns = ", ".join(row[1] for row in db.execute(f"PRAGMA main.table_info({table})") if row[1] in still_there)
        db.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM newer.{table}")
    db.commit()
    return db


def test_trash_that_was_out_of_reach_comes_back_into_the_trash(make_server):
    server = make_server()
    api = Client(server)
    ws = api.workspace("w")
    for path in ("F/a", "F/b", "F/sub/deep/c", "F/sub/d", "whole/x", "G/e"):
        ws.put(path, path)
    ws.put("F/a", b"second")
    api.patch(ws.file("F/a"), 200, json={"mode": "0600"})
    ids = {path: ws.entry(path)["id"] for path in ("F", "F/sub", "F/b", "F/sub/d", "whole", "G", "G/e")}
    first = ws.versions("F/a")[-1]["id"]
    for path in ("F", "whole"):
        api.delete(ws.file(path), 200)
    server.stop()

    def raw(name):
        return bytes.fromhex(ids[name][2:])

    db = downgrade(server.data / "catalog.db", "0005_conversations")
    # As restoring as of a time left it: the root is back, the rest is not, and its names were used again.
    db.execute("UPDATE entries SET trashed_us = NULL, trash_root = NULL WHERE parent = '' AND name = 'F' OR parent = 'F' AND name = 'a'")
    db.execute("UPDATE entries SET parent = 'F', trashed_us = 5, trash_root = ? WHERE id = ?", (raw("F"), raw("G/e")))
    db.execute("DELETE FROM versions WHERE id = ?", (bytes.fromhex(first[2:]),))
    db.execute("UPDATE workspace_blobs SET refs = 0 WHERE hash NOT IN (SELECT sha256 FROM versions)")
    db.execute("DELETE FROM workspace_blobs WHERE refs = 0")
    db.execute("UPDATE blobs SET refs = 0 WHERE hash NOT IN (SELECT hash FROM workspace_blobs)")
    db.execute("UPDATE workspaces SET used_bytes = (SELECT COALESCE(SUM(b.size), 0) FROM workspace_blobs w JOIN blobs b ON b.hash = w.hash "
               "WHERE w.workspace = workspaces.id)")
    db.commit()
    db.close()

    server.start()
    api.http.close()
    found = {item["path"]: item["id"] for item in api.get(f"{ws.root}/trash", 200).json()["items"]}
    assert found == {"F/b": ids["F/b"], "F/sub": ids["F/sub"], "F/e": ids["G/e"], "whole": ids["whole"]}
    assert ws.paths() == ["F", "G", "F/a"]
    assert ws.entry("F/a")["version_count"] == 1 and ws.entry("F/a")["mode"] == "0600"
    then = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert ws.post("restore-as-of", 200, folder="F/a", time=then)["unchanged"] == 1, "a mode that was set long ago is not undone"
    assert ws.put("F/a", b"third")["version"]["number"] == 3
    for path in found:
        api.post(f"{ws.root}/trash/{found[path]}/restore", 200, json={})
    assert ws.read("F/sub/deep/c") == b"F/sub/deep/c" and ws.read("whole/x") == b"whole/x"
    assert api.post("/api/v1/verify", 200).json()["problems"] == []


def test_a_folder_of_before_nodes_and_times_goes_on_in_order(make_server):
    server = make_server()
    api = Client(server)
    ws = api.workspace("w")
    ws.put("a", b"first")
    server.stop()
    (server.data / "node").unlink()
    downgrade(server.data / "catalog.db", "0008_repeats").close()

    server.start()
    api.http.close()
    ws.put("a", b"second")
    assert ws.read("a") == b"second"
    assert [version["number"] for version in ws.versions("a")] == [2, 1]
    assert api.post("/api/v1/verify", 200).json()["problems"] == []
    server.stop()
    with sqlite3.connect(server.data / "catalog.db") as db:
        heads = db.execute("SELECT h.time_us, MAX(j.time_us) FROM journals h JOIN journal j ON j.workspace = h.workspace GROUP BY h.workspace").fetchall()
    assert heads and all(head == last for head, last in heads)
    assert len((server.data / "node").read_text().strip()) == 32


def test_an_upload_that_was_under_way_keeps_its_purpose_and_its_time(make_server):
    server = make_server()
    server.stop()
    db = downgrade(server.data / "catalog.db", "0012_followers")
    owner, workspace = db.execute("SELECT owner, id FROM workspaces").fetchone()
    now_us = int(time.time() * 1e6)
    for number, keep_s in ((1, 7200), (2, None)):
        db.execute("INSERT INTO uploads (id, owner, workspace, filename, purpose, mime, size, keep_s, status, created_us, expires_us) "
                   "VALUES (?, ?, ?, 'big.bin', 'fine-tune', '', 3, ?, 'pending', ?, ?)",
                   (bytes(15) + bytes([number]), owner, workspace, keep_s, now_us, now_us + 3_600_000_000))
    db.commit()
    db.close()

    server.start()
    for number, keep_s in ((1, 7200), (2, None)):
        upload = f"{server.url}/v1/uploads/upload_{number:032x}"
        headers = {"Authorization": f"Bearer {ROOT_KEY}"}
        part = requests.post(upload + "/parts", headers=headers, files={"data": b"abc"})
        assert part.status_code == 200, part.text
        done = requests.post(upload + "/complete", headers=headers, json={"part_ids": [part.json()["id"]]})
        assert done.status_code == 200, done.text
        assert done.json()["purpose"] == done.json()["file"]["purpose"] == "fine-tune"
        expires_at = done.json()["file"].get("expires_at")
        assert expires_at is None if keep_s is None else abs(expires_at - time.time() - keep_s) < 60


def test_rows_of_files_count_after_an_upgrade_and_lock_nobody_out(make_server):
    server = make_server("--principal-quota-bytes", "3 MiB")
    api = Client(server)
    principal, ada = api.make_principal("ada")
    full = ada.workspace("full")
    changes = [{"op": "put", "path": f"{'p' * 200}/{number}{'f' * 200}", "content": ""} for number in range(600)]
    full.post("batch", 200, changes=changes)
    api.patch(f"/api/v1/principals/{principal}", 200, json={"limits": {"quota_bytes": 1 << 30}})
    server.stop()
    db = downgrade(server.data / "catalog.db", "0018_session_records")
    raw = bytes.fromhex(principal[2:])
    db.execute("UPDATE workspaces SET quota_bytes = 100 WHERE name = 'full'")
    # The general quota, which 0018 did not know these rows to count for.
    db.execute("UPDATE principals SET quota_bytes = NULL WHERE id = ?", (raw,))
    db.execute("UPDATE principal_usage SET bytes = (SELECT h.bytes FROM principal_holdings h WHERE h.principal = principal_usage.principal)")
    (before,) = db.execute("SELECT bytes FROM principal_usage WHERE principal = ?", (raw,)).fetchone()
    db.commit()
    db.close()

    server.start()
    api.http.close()
    ada.http.close()
    seen = ada.get(f"{full.root}/usage", 200).json()
    assert seen["entries"]["count"] == 601 and seen["entries"]["bytes"] > 600 * (2 * 400 + 256 + 512)
    mine = ada.get("/api/v1/usage", 200).json()
    assert mine["bytes"] >= before + seen["entries"]["bytes"]
    assert mine["quota_bytes"] >= (3 << 20) + seen["entries"]["bytes"], "as much more as counts now"
    full.put("one more", b"x")
    assert api.post("/api/v1/verify", 200).json()["problems"] == []
