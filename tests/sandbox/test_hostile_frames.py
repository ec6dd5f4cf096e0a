"""Code writes to the kernel's own socket whatever it likes. The session may end for it; the server and others go on."""

import pytest

FRAME = (
    "import os, struct, json\n"
    "def frame(text, length=None):\n"
    "    body = text if isinstance(text, bytes) else text.encode()\n"
    "    os.write(3, struct.pack('<I', len(body) if length is None else length) + body)\n"
)

HOSTILE = {
    "nonsense": "os.write(3, os.urandom(100000))",
    "a length of four gigabytes": "frame('{}', 0xffffffff)",
    "a length just over the limit": "frame('{}', (16 << 20) + 1)",
    "not JSON": "frame('hello')",
    "not UTF-8": "frame(b'{\"t\": \"\\xff\\xfe\"}')",
    "a list": "frame('[]')",
    "deep nesting": "frame('[' * 100000 + ']' * 100000)",
    "deep objects": "frame('{\"a\":' * 5000 + '1' + '}' * 5000)",
    "no kind": "frame('{}')",
    "unknown kind": "frame('{\"t\": \"format disk\"}')",
    "kind of another type": "frame('{\"t\": 1}')",
    "display without data": "frame('{\"t\": \"display\"}')",
    "display of numbers": "frame('{\"t\": \"display\", \"data\": {\"a\": 1}}')",
    "bad base64": "frame('{\"t\": \"display\", \"data\": {\"a\": \"!\"}, \"base64\": [\"a\"]}')",
    "error of numbers": "frame('{\"t\": \"error\", \"name\": 1}')",
    "done with a bad status": "frame('{\"t\": \"done\", \"id\": \"cell-1\", \"status\": \"great\"}')",
    "negative numbers": "frame('{\"t\": \"result\", \"data\": {}, \"count\": -1}')",
    "huge numbers": "frame('{\"t\": \"result\", \"data\": {}, \"count\": 1e999}')",
    "requests without end": "for i in range(10000): frame(json.dumps({'t': 'request', 'id': i, 'method': 'keep', 'params': {}}))",
    "request with a list": "frame('{\"t\": \"request\", \"id\": 1, \"method\": \"keep\", \"params\": []}')",
    "surrogates": "frame('{\"t\": \"error\", \"name\": \"\\\\ud800\"}')",
    "closed channel": "os.close(3)",
    "half a frame and the end": "os.write(3, struct.pack('<I', 1000) + b'{'); os._exit(0)",
    "marks of its own": "os.write(1, b'\\0x:99999999999999999999\\0' * 1000); print('y' * 200000)",
    "a mark beyond all": "frame('{\"t\": \"order\", \"mark\": 18446744073709551615}')",
    "thousands of keys": "frame(json.dumps({'t': 'order', **{str(i): i for i in range(100000)}}))",
    "descriptors": "import socket, array; s = socket.socket(fileno=os.dup(3)); s.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0] * 100))])",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_server_goes_on(driver, what):
    witness = driver.start()
    session = driver.start()
    session.start_cell(FRAME + HOSTILE[what], timeout_s=5)
    result = session.wait()
    assert result.get("end") in (None, "protocol", "exited", "crash", "killed"), result
    assert witness.run("6 * 7")["results"][0]["text/plain"] == "42"
    session.stop()
    witness.stop()


def test_a_forged_end_fools_only_itself(driver, session):
    session.start_cell(FRAME + "frame('{\"t\": \"done\", \"id\": \"cell-1\", \"status\": \"ok\"}')\nprint('still running')")
    assert session.wait()["status"] == "ok"
    assert session.run("1 + 1")["results"][0]["text/plain"] == "2"


def test_a_forged_answer_for_another_cell_is_ignored(driver, session):
    result = session.run(FRAME + "frame('{\"t\": \"done\", \"id\": \"other\", \"status\": \"ok\"}')\nprint('real')")
    assert result["output"] == "real\n"
