"""Encodes rich displays for frames: one text per MIME type. Bytes become base64 and JSON becomes text, so the frame stays flat."""

import base64
import json


def as_json(value):
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(repr(value), ensure_ascii=False)


def encode_bundle(data, metadata):
    texts, binary = {}, []
    for kind, value in (data or {}).items():
        kind = str(kind)
        if isinstance(value, (bytes, bytearray, memoryview)):
            texts[kind] = base64.b64encode(bytes(value)).decode("ascii")
            binary.append(kind)
        elif kind in BINARY_KINDS and not isinstance(value, str):
            texts.setdefault("text/plain", repr(value))
        elif isinstance(value, str):
            if kind in BINARY_KINDS:
                # IPython's own formatters return these already encoded, with line breaks.
                try:
                    content = base64.b64decode("".join(value.split()), validate=True)
                except ValueError:
                    texts.setdefault("text/plain", value)
                    continue
                texts[kind] = base64.b64encode(content).decode("ascii")
                binary.append(kind)
            else:
                texts[kind] = value
        else:
            texts[kind] = as_json(value)
    return {"data": texts, "base64": binary, "metadata": as_json(metadata or {})}


BINARY_KINDS = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"))
