"""Audit, collection and verification."""

import json
import os
import pathlib
import subprocess

import pytest

from rest_client import Client
from sandkeep_server import binary


def export(api, path, file):
    answer = api.get(path, 200)
    assert answer.headers["Content-Type"].startswith("application/x-ndjson")
    file.write_bytes(answer.content)
    return [json.loads(line) for line in answer.content.splitlines()]


def verify(file):
    return subprocess.run([str(binary()), "audit", "verify", str(file)], capture_output=True, text=True, timeout=60,
                          env={"PATH": os.environ["PATH"], "HOME": str(file.parent)}, check=False)


def test_an_export_is_valid_and_names_every_entry(api, ws, tmp_path):
    for number in range(5):
        ws.put("a.txt", str(number))
    lines = export(api, f"{ws.root}/audit", tmp_path / "audit.jsonl")
    entries = [line["entry"] for line in lines if "entry" in line]
    assert [entry["seq"] for entry in entries] == list(range(1, 7))
    checked = verify(tmp_path / "audit.jsonl")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    export(api, "/api/v1/audit", tmp_path / "server.jsonl")
    assert verify(tmp_path / "server.jsonl").returncode == 0


def test_an_export_with_a_byte_changed_or_a_line_missing_is_rejected(api, ws, tmp_path):
    for number in range(5):
        ws.put("a.txt", str(number))
    file = tmp_path / "audit.jsonl"
    export(api, f"{ws.root}/audit", file)
    good = file.read_bytes()
    lines = good.splitlines(keepends=True)
    forged = [good.replace(b"a.txt", b"b.txt", 1), b"".join(lines[:-1]), b"".join(lines[:2] + lines[3:]), b"".join(lines[:1]), b""]
    step = max(1, len(good) // 60)
    forged += [good[:at] + bytes([good[at] ^ 1]) + good[at + 1:] for at in range(0, len(good), step) if good[at:at + 1] != b"\n"]
    for number, content in enumerate(forged):
        file.write_bytes(content)
        checked = verify(file)
        assert checked.returncode != 0, (number, checked.stdout)


def test_verification_finds_nothing_wrong_and_collection_takes_only_what_is_unneeded(make_server):
    api = Client(make_server())
    ws = api.workspace("w")
    kept, gone = os.urandom(3_000_000), os.urandom(2_000_000)
    ws.put("kept.bin", kept)
    ws.put("gone.bin", gone)
    api.delete(ws.file("gone.bin"), 200)
    api.delete(f"{ws.root}/trash", 200)
    collected = api.post("/api/v1/gc", 200).json()
    assert collected["freed_bytes"] >= 2_000_000
    assert api.post("/api/v1/gc", 200).json()["freed_bytes"] == 0
    checked = api.post("/api/v1/verify", 200).json()
    assert checked["ok"] and checked["problems"] == [] and checked["bytes"] >= 3_000_000 and checked["versions"] == 1
    assert ws.read("kept.bin") == kept


def test_verification_finds_a_flipped_byte_and_reads_refuse_it(make_server):
    one = make_server()
    api = Client(one)
    ws = api.workspace("w")
    ws.put("a.bin", os.urandom(500_000))
    one.stop()
    blobs = [path for path in (one.data / "blobs").rglob("*") if path.is_file() and path.stat().st_size >= 400_000]
    assert blobs
    for path in blobs:
        os.chmod(path, 0o600)
        content = bytearray(path.read_bytes())
        content[1234] ^= 1
        pathlib.Path(path).write_bytes(content)
    one.start()
    api = Client(one)
    api.server.document.json["paths"]["/api/v1/workspaces/{ws}/files/{path}"]["get"]["responses"]["500"] = {"content": {"application/json": {}}}
    assert api.error("GET", ws.file("a.bin"), 500, "corrupt")
    checked = api.post("/api/v1/verify", 200).json()
    assert not checked["ok"] and checked["problems"]


@pytest.mark.parametrize("path", ["/api/v1/gc", "/api/v1/verify"])
def test_maintenance_calls_take_no_fields(api, path):
    api.error("POST", path, 400, "bad_request", json={"deep": True})
