"""Two sessions of one server know nothing of each other."""

import os


def pair(driver):
    return driver.start(), driver.start()


def test_files_of_one_session_are_not_there_for_another(driver):
    one, two = pair(driver)
    one.run("open('/mnt/data/mine', 'w').write('x'); open('/tmp/mine', 'w').write('x'); open('/dev/shm/mine', 'w').write('x')")
    result = two.run(
        "import os\n"
        "found = [os.path.join(r, f) for top in ('/mnt', '/tmp', '/dev/shm', '/home') for r, _, fs in os.walk(top) for f in fs if f == 'mine']\n"
        f"print(found, os.path.exists({str(one.folder)!r}))"
    )
    assert result["output"] == "[] False\n"
    assert (one.folder / "mine").read_text() == "x"
    one.stop()
    two.stop()


def test_abstract_sockets_do_not_cross(driver):
    one, two = pair(driver)
    one.run("import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind('\\0meeting')\ns.listen()")
    result = two.run(
        "import socket\n"
        "try:\n    socket.socket(socket.AF_UNIX).connect('\\0meeting'); print('met')\n"
        "except OSError as error: print(error.strerror)"
    )
    assert result["output"] in ("Connection refused\n", "Operation not permitted\n")
    one.stop()
    two.stop()


def test_shared_memory_does_not_cross(driver):
    one, two = pair(driver)
    make = "import ctypes; l = ctypes.CDLL(None, use_errno=True); i = l.shmget(0x5eed, 4096, {}); print(i >= 0)"
    one.run(make.format("0o1666"))
    assert two.run(make.format("0o666"))["output"] == "False\n"
    one.stop()
    two.stop()


def test_processes_do_not_cross(driver):
    one, two = pair(driver)
    one.run("import subprocess; subprocess.Popen(['sleep', '1000'])")
    seen = two.run("import os; print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()))")["output"]
    assert seen == "[2]\n"
    two.run("import os, signal\ntry: os.kill(-1, signal.SIGKILL)\nexcept OSError: pass")
    assert one.run("1 + 1")["results"][0]["text/plain"] == "2"
    one.stop()
    two.stop()


def test_mounts_tell_of_a_sessions_own_folder_and_of_no_other(driver):
    """SECURITY.md says what code can learn from them."""
    one, two = pair(driver)
    lines = one.run("print(open('/proc/self/mountinfo').read())")["output"].splitlines()
    told = [line for line in lines if one.folder.name in line]
    assert [line.split()[4] for line in told] == ["/mnt/data"], told
    assert not any(two.folder.name in line for line in lines)
    one.stop()
    two.stop()


def test_one_session_cannot_take_the_processes_of_another(driver):
    kernel = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    if kernel < (5, 14) and not driver.ask("doctor")["exact"]:
        return  # such a kernel counts processes by user
    limits = {"processes_max": 64}
    one, two = driver.start(limits=limits), driver.start(limits=limits)
    filled = one.run(
        "import os, time\n"
        "count = 0\n"
        "try:\n"
        "    while count < 500:\n"
        "        if os.fork() == 0: time.sleep(1000); os._exit(0)\n"
        "        count += 1\n"
        "except OSError: pass\n"
        "print(count)"
    )
    assert 32 <= int(filled["output"]) < 64, filled
    hold = "import subprocess; print(len([subprocess.Popen(['sleep', '1000']) for _ in range(48)]))"
    assert two.run(hold)["output"] == "48\n"
    three = driver.start(limits=limits)
    assert three.run(hold)["output"] == "48\n"
    for session in (one, two, three):
        session.stop()


def test_one_user_id_does_not_serve_two_sessions(driver):
    if not driver.ask("doctor")["is_root"]:
        return  # an ordinary user has only the one; namespaces keep sessions apart
    one, two = pair(driver)

    def uid_of(session):
        pid = session.ask("processes")["processes"][0]
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            return next(line.split()[1] for line in status if line.startswith("Uid:"))

    assert uid_of(one) != uid_of(two)
    assert int(uid_of(one)) > 65536
    one.stop()
    two.stop()


def test_random_layouts_and_seeds_change_with_the_zygote(driver):
    one, two = pair(driver)
    code = "import random, numpy; print(random.random(), numpy.random.rand(), hash('x') is None)"
    assert one.run(code)["output"] != two.run(code)["output"]
    one.stop()
    two.stop()
