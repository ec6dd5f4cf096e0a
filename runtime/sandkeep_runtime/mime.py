"""Encodes rich displays for frames: one text per MIME type. Bytes become base64 and JSON becomes text, so the frame stays flat."""

import base64
import json


def as_json(value):
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(repr(value), ensure_ascii=False)


def encode_bundle(data, metadata):
    """Encodes the values by MIME type. What cannot be shown becomes a line of text that says so."""
    texts, binary, notes, odd = {}, [], [], []
    for kind, value in (data or {}).items():
        kind = str(kind)
        if len(kind) > KIND_CHARACTERS_MAX:
            notes.append(f"[not shown: a MIME type of {len(kind)} characters]")
        elif len(texts) >= KINDS_MAX:
            notes.append(f"[not shown: {len(data) - KINDS_MAX} of {len(data)} MIME types; a display has at most {KINDS_MAX}]")
            break
        elif kind in BINARY_KINDS or isinstance(value, (bytes, bytearray, memoryview)):
            content = bytes_of(value)
            if content is None:
                odd.append((f"{kind} that is not base64", value))
            elif not begins_like(kind, content):
                notes.append(f"[not shown: {len(content)} bytes that are not {kind}]")
            else:
                texts[kind] = base64.b64encode(content).decode("ascii")
                binary.append(kind)
        elif isinstance(value, str):
            texts[kind] = value
        elif kind in TEXT_KINDS:
            odd.append((f"{kind} that is not text", value))
        else:
            texts[kind] = as_json(value)
    for what, value in odd:
        text = value if isinstance(value, str) else repr(value)
        if "text/plain" in texts:
            notes.append(f"[not shown: {what}] {excerpt(text)}")
        else:
            texts["text/plain"] = text
    if notes:
        texts["text/plain"] = "\n".join(([texts["text/plain"]] if texts.get("text/plain") else []) + notes[:NOTES_MAX])
    return {"data": texts, "base64": binary, "metadata": as_json(metadata or {})}


def excerpt(text):
    return text if len(text) <= EXCERPT_CHARACTERS_MAX else text[:EXCERPT_CHARACTERS_MAX] + "…"


def bytes_of(value):
    """Returns the bytes of a value, or None if it has none. IPython's own formatters return base64 text, with line breaks."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    try:
        return base64.b64decode("".join(value.split()), validate=True) if isinstance(value, str) else None
    except ValueError:
        return None


def begins_like(kind, content):
    """Returns whether the bytes can be of this type. Clients show images without a look at their bytes."""
    if kind == "image/webp":
        return content[:4] == b"RIFF" and content[8:12] == b"WEBP"
    return content.startswith(BEGINNINGS.get(kind, b""))


BINARY_KINDS = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"))
TEXT_KINDS = frozenset(("image/svg+xml",))
BEGINNINGS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff", "image/gif": (b"GIF87a", b"GIF89a")}
KINDS_MAX = 100  # the server refuses a frame with more than 1,000 fields
KIND_CHARACTERS_MAX = 200
NOTES_MAX = 10
EXCERPT_CHARACTERS_MAX = 1000
