"""Code that uses up whatever it can get: each ends with a named cause, leaves nothing behind, and disturbs no neighbour."""

import os
import time
from contextlib import contextmanager

import pytest
from conftest import LONG

MEMORY = 256 << 20


@contextmanager
def neighbour_stays_responsive(driver):
    """Another session answers while the bomb goes off."""
    other = driver.start()
    slowest = []

    def look():
        began = time.monotonic()
        assert other.run("1 + 1")["results"][0]["text/plain"] == "2"
        slowest.append(time.monotonic() - began)

    look()
    yield look
    look()
    assert max(slowest) < 20, slowest
    other.stop()


def explode(driver, code, look=lambda: None, timeout_s=20, language="python", **limits):
    session = driver.start(limits={"memory_bytes": MEMORY, "processes_max": 64, "tmp_bytes": 64 << 20, **limits})
    session.start_cell(code, timeout_s=timeout_s, language=language)
    look()
    result = session.wait()
    processes = session.ask("processes")["processes"]
    session.stop()
    for pid in processes:
        wait_gone(pid)
    return result


def wait_gone(pid):
    for _ in range(200):
        if not os.path.exists(f"/proc/{pid}"):
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} is still there")


def is_exact(driver):
    return driver.ask("doctor")["exact"]


def test_fork_bomb(driver):
    with neighbour_stays_responsive(driver) as look:
        result = explode(driver, "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", look, timeout_s=5)
    assert result.get("end") == "killed" and result["reason"] == "timeout" or result.get("status") == "interrupted", result


def test_fork_bomb_of_the_shell(driver):
    with neighbour_stays_responsive(driver) as look:
        result = explode(driver, ":(){ :|:& };:; sleep 3", look, timeout_s=10, language="bash")
    assert "output" in result


def test_memory_bomb(driver):
    with neighbour_stays_responsive(driver) as look:
        result = explode(driver, "x = []\nwhile True: x.append(bytearray(4 << 20))", look)
    assert result.get("end") == "oom" or result["errors_raised"][0]["name"] == "MemoryError", result
    assert result.get("end") == "oom" or not is_exact(driver)


def test_memory_bomb_of_many_processes(driver):
    result = explode(
        driver,
        "import os, time\n"
        "for i in range(20):\n"
        "    if os.fork() == 0:\n"
        "        x = bytearray(os.urandom(1 << 20) * 60)\n"
        "        time.sleep(100); os._exit(0)\n"
        "time.sleep(15)",
        timeout_s=20,
    )
    # A control group may kill the children one by one and spare the parent; a watcher ends the session.
    assert result.get("end") == "oom" or (is_exact(driver) and result.get("status") == "ok"), result


def test_memory_in_files_of_tmp(driver):
    result = explode(driver, "i = 0\nwhile True:\n    open(f'/tmp/{i}', 'wb').write(bytes(1 << 20)); i += 1")
    assert result["errors_raised"][0]["name"] == "OSError"


def test_anonymous_files(driver):
    result = explode(
        driver,
        "import os\nfds = []\nwhile True:\n    fd = os.memfd_create('x'); os.write(fd, bytes(8 << 20)); fds.append(fd)",
    )
    assert result.get("end") == "oom" or result.get("status") == "error", result


def test_many_empty_files_in_tmp(driver):
    result = explode(driver, "i = 0\nwhile True:\n    open(f'/tmp/{i}', 'w').close(); i += 1", timeout_s=60)
    assert result.get("end") == "oom" or result["errors_raised"][0]["name"] == "OSError", result


def test_descriptor_bomb(driver):
    result = explode(driver, "import os\nfds = []\nwhile True: fds.append(os.open('/dev/null', 0))")
    assert result["errors_raised"][0]["name"] == "OSError"


def test_pipe_bomb(driver):
    result = explode(
        driver,
        "import os, fcntl\nkept = []\nwhile True:\n"
        "    r, w = os.pipe(); kept += [r, w]\n"
        "    os.set_blocking(w, False)\n"
        "    try:\n        while True: os.write(w, bytes(65536))\n    except BlockingIOError: pass",
    )
    assert result.get("end") == "oom" or result["errors_raised"][0]["name"] == "OSError", result


def test_thread_bomb(driver):
    result = explode(
        driver,
        "import threading, time\nfor i in range(10000): threading.Thread(target=time.sleep, args=(100,), daemon=True).start()",
    )
    assert result["errors_raised"][0]["name"] == "RuntimeError"


def test_file_beyond_the_limit(driver):
    result = explode(
        driver, "with open('/mnt/data/big', 'wb') as f:\n    while True: f.write(bytes(1 << 20))", file_bytes_max=32 << 20
    )
    assert result["errors_raised"][0]["name"] == "OSError"


def test_output_at_full_speed(driver):
    with neighbour_stays_responsive(driver) as look:
        result = explode(driver, "import os\nblock = b'x' * 65536\nwhile True: os.write(1, block)", look, timeout_s=4)
    assert result.get("status") == "interrupted", result
    assert result["output_bytes"] > 1 << 20


def test_output_in_tiny_pieces(driver):
    with neighbour_stays_responsive(driver) as look:
        result = explode(driver, "import os\nwhile True: os.write(1, b'x'); os.write(2, b'y')", look, timeout_s=4)
    assert result.get("status") == "interrupted", result


def test_displays_at_full_speed(driver):
    with neighbour_stays_responsive(driver) as look:
        result = explode(driver, "while True: display({'text/plain': 'x'}, raw=True)", look, timeout_s=4)
    assert result.get("status") == "interrupted", result


def test_daemon_that_outlives_the_cell(driver):
    result = explode(
        driver,
        "import os, subprocess\n"
        "subprocess.Popen('setsid nohup sleep 1000 &', shell=True)\n"
        "for i in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork(): os._exit(0)\n        os.execlp('sleep', 'sleep', '1000')",
    )
    assert result["status"] == "ok"


def test_cell_that_ignores_interrupts(driver):
    result = explode(
        driver, "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True: pass",
        timeout_s=2,
    )
    assert result["end"] == "killed" and result["reason"] == "timeout"


def test_cell_that_swallows_interrupts(driver):
    result = explode(driver, "while True:\n    try:\n        for i in range(10**9): i += 1\n    except BaseException: pass", timeout_s=2)
    assert result["end"] == "killed" and result["reason"] == "timeout"


def test_stopped_processes(driver):
    result = explode(driver, "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", timeout_s=2)
    assert result["end"] == "killed" and result["reason"] == "timeout"


def test_cpu_of_many_processes(driver):
    with neighbour_stays_responsive(driver) as look:
        explode(driver, "import os\nfor i in range(30):\n    if os.fork() == 0:\n        while True: pass\nwhile True: pass", look, timeout_s=4)


@pytest.mark.skipif(not LONG, reason="a million files take minutes")
def test_a_million_files(driver):
    result = explode(
        driver,
        "import os\nfor i in range(1000):\n    os.mkdir(str(i))\n    for j in range(1000): open(f'{i}/{j}', 'w').close()",
        timeout_s=900, memory_bytes=2 << 30,
    )
    assert result["status"] == "ok"
