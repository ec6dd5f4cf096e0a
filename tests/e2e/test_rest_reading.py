"""Ranges and conditions of reads, from memory, from one blob and across several."""

import os

import pytest

SIZES = {"inline": 1000, "one blob": 500_000, "several blobs": 9_000_000}


@pytest.fixture(params=SIZES)
def stored(request, ws):
    content = os.urandom(SIZES[request.param])
    ws.put("a.bin", content)
    return ws.file("a.bin"), content


@pytest.mark.parametrize("header, first, last", [
    ("bytes=0-0", 0, 0), ("bytes=0-99", 0, 99), ("bytes=500-", 500, None), ("bytes=-7", -7, None), ("bytes=998-5000000000", 998, None),
    ("bytes=-99999999999", 0, None), ("bytes= 3-5", 3, 5), ("bytes=0-9,10-19", 0, 19),
])
def test_a_range_gives_exactly_those_bytes(api, stored, header, first, last):
    address, content = stored
    answer = api.get(address, 206, headers={"Range": header})
    begin = first if first >= 0 else len(content) + first
    end = len(content) if last is None else last + 1
    assert answer.content == content[begin:end]
    assert answer.headers["Content-Range"] == f"bytes {begin}-{min(end, len(content)) - 1}/{len(content)}"


def test_ranges_across_the_seams_of_a_large_file(api, ws):
    content = os.urandom(9_000_000)
    ws.put("a.bin", content)
    for first in range(0, 9_000_000, 1_234_567):
        last = min(first + 2_345_678, len(content) - 1)
        assert api.get(ws.file("a.bin"), 206, headers={"Range": f"bytes={first}-{last}"}).content == content[first:last + 1]


@pytest.mark.parametrize("header", ["bytes=1000000000-", "bytes=99999999999999999999-", "bytes=-0"])
def test_a_range_without_any_byte_is_416_and_tells_the_size(api, stored, header):
    address, content = stored
    answer = api.get(address, 416, headers={"Range": header})
    assert answer.json()["error"]["code"] == "range_not_satisfiable"
    assert answer.headers["Content-Range"] == f"bytes */{len(content)}"


@pytest.mark.parametrize("header", ["bytes=5-3", "bytes=a-b", "bytes=", "bytes=--5", "bytes=-", "bytes", "chunks=0-1", "bytes=0-1,500-501", "bytes=-5-10"])
def test_a_range_that_makes_no_sense_never_gives_wrong_bytes(api, stored, header):
    address, content = stored
    answer = api.get(address, headers={"Range": header})
    assert answer.status_code in (200, 416)
    if answer.status_code == 200:
        assert answer.content == content


def test_every_range_of_an_empty_file_is_empty(api, ws):
    ws.put("empty", b"")
    assert api.get(ws.file("empty"), 200).content == b""
    assert api.get(ws.file("empty"), headers={"Range": "bytes=0-0"}).status_code in (200, 416)


def test_an_unchanged_file_is_304_and_a_changed_one_is_not(api, ws):
    ws.put("a.txt", b"one")
    first = api.get(ws.file("a.txt"), 200)
    assert first.headers["ETag"] == f'"{ws.entry("a.txt")["version_id"]}"'
    same = api.get(ws.file("a.txt"), 304, headers={"If-None-Match": first.headers["ETag"]})
    assert same.headers["ETag"] == first.headers["ETag"] and same.headers["Cache-Control"] == first.headers["Cache-Control"]
    api.get(ws.file("a.txt"), 304, headers={"If-None-Match": f'"other", W/{first.headers["ETag"]}'})
    api.get(ws.file("a.txt"), 304, headers={"If-None-Match": "*"})
    api.get(ws.file("a.txt"), 304, headers={"If-Modified-Since": first.headers["Last-Modified"]})
    ws.put("a.txt", b"two")
    assert api.get(ws.file("a.txt"), 200, headers={"If-None-Match": first.headers["ETag"]}).content == b"two"
    assert api.get(ws.file("a.txt"), 200, headers={"If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"}).content == b"two"
    error = api.error("GET", ws.file("a.txt"), 412, "precondition_failed", headers={"If-Match": first.headers["ETag"]})
    assert error["current_version_id"] == ws.entry("a.txt")["version_id"]


def test_if_range_gives_the_rest_of_the_same_version_or_all_of_the_new_one(api, ws):
    ws.put("a.txt", b"0123456789")
    tag = api.get(ws.file("a.txt"), 200).headers["ETag"]
    assert api.get(ws.file("a.txt"), 206, headers={"Range": "bytes=5-", "If-Range": tag}).content == b"56789"
    ws.put("a.txt", b"abcdefghij")
    assert api.get(ws.file("a.txt"), 200, headers={"Range": "bytes=5-", "If-Range": tag}).content == b"abcdefghij"


def test_an_older_version_is_read_by_its_id(api, ws):
    first = ws.put("a.txt", b"one")["version"]["id"]
    other = ws.put("b.txt", b"other")["version"]["id"]
    ws.put("a.txt", b"two")
    answer = api.get(ws.file("a.txt") + f"?version={first}", 200)
    assert answer.content == b"one" and answer.headers["X-Sandkeep-Version"] == first
    api.error("GET", ws.file("a.txt") + f"?version={other}", 404, "not_found")
    api.error("GET", ws.file("a.txt") + "?version=v_1", 400, "bad_request")
    api.error("GET", ws.file("a.txt") + "?version=v_" + "0" * 31 + "1", 404, "not_found")
