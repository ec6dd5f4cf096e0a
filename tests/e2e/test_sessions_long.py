"""Sessions over time: nothing is left behind, and what packages test of themselves holds inside."""

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from moving_trees import session_groups
from own_mounts import mounts_of
from sessions_client import USERS, Keep, UserServer, text_of

LONG = bool(os.environ.get("SK_LONG"))
ROUNDS = 1000 if LONG else 40
POOL = 2  # sandboxes that wait, by default


@pytest.fixture(scope="module", params=USERS, ids=lambda uid: "root" if uid == 0 else "user")
def server(request):
    one = UserServer(request.param, "--execution-timeout-max-s", "3600").start()
    yield one
    code, log = one.stop(), one.log()
    one.remove()
    assert code == 0 and "fatal" not in log, log


@pytest.fixture
def keep(server):
    return Keep(server)


def family(pid):
    """(pid, name, state) of everything below a process."""
    lines = subprocess.run(["ps", "-eo", "pid,ppid,stat,comm"], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    children = {}
    for line in lines:
        child, parent, state, name = line.split(None, 3)
        children.setdefault(int(parent), []).append((int(child), name, state))
    found, todo = [], [pid]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += [child for child, _, _ in below]
    return found


def descriptors(pid):
    """Open files but those of the catalog, whose readers are opened when they are first needed."""
    found = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{number}"))
        except OSError:
            pass  # closed meanwhile
    return [target for target in found if "/catalog.db" not in target]


def look(server):
    pid = server.process.pid
    below = family(pid)
    status = Path(f"/proc/{pid}/status").read_text()
    return {
        "processes": len(below),
        "zombies": sum(state.startswith("Z") for _, _, state in below),
        "mounts": len(mounts_of([server.folder], pid=pid)),
        "groups": len(session_groups(pid)),
        "descriptors": len(descriptors(pid)),
        "copies": len(os.listdir(server.data / "copies")),
    }, int(re.search(r"VmRSS:\s+(\d+)", status).group(1))


def cycle(keep, number):
    session = keep.create(name="cycle")
    done = keep.run(session, f"open('f{number % 7}', 'w').write('{number}')\nimport subprocess; subprocess.Popen(['sleep', '100'])")
    assert done["end"] == "ok" and len(done["kept"]) == 1, done
    keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 204)


def settled(keep, server, before):
    """What is there once nothing is on its way any more, which is when several looks find the same, and the pool is full."""
    same, last = 0, None
    for _ in range(400):
        now, memory = look(server)
        full = f"\nsandkeep_sandbox_pooled {POOL}\n" in keep.call("GET", "/metrics").text
        same = same + 1 if now == last else 0
        last = now
        if full and same >= 5 and all(now[name] <= before[name] for name in before):
            break
        time.sleep(0.05)
    return now, memory


def test_cycles_of_create_run_delete_leave_nothing(keep, server):
    for number in range(10):
        cycle(keep, number)
    before, memory = settled(keep, server, {"zombies": 0})
    # The helper keeps up to four readers, as many as were needed at once.
    before["processes"] += 3
    before["descriptors"] += 3
    for number in range(ROUNDS):
        cycle(keep, number)
    after, memory_after = settled(keep, server, before)
    if ROUNDS >= 1000:  # a fresh zygote stands beside the old one as long as the pool has a child of that
        after["processes"] = min(after["processes"], max(before["processes"], after["processes"] - 1))
        after["descriptors"] = min(after["descriptors"], max(before["descriptors"], after["descriptors"] - 3))
    assert all(after[name] <= before[name] for name in before), (before, after)
    assert memory_after < memory + 20_000 + ROUNDS * 20, (memory, memory_after)


CPYTHON = ("test_builtin test_bytes test_complex test_csv test_datetime test_decimal test_dict test_enumerate test_float test_fractions test_functools "
           "test_generators test_gzip test_heapq test_int test_io test_itertools test_json test_list test_math test_pickle test_queue test_random test_re "
           "test_set test_shutil test_sort test_statistics test_struct test_tempfile test_textwrap test_thread test_zipfile test_zlib")
QUICK = "test_csv test_dict test_float test_int test_json test_list test_math test_mmap test_random test_struct test_tempfile"


def test_pythons_own_tests_pass_inside(keep):
    session = keep.create(name="cpython", memory="2g", timeout_s=1800 if LONG else 300)
    names = CPYTHON if LONG else QUICK
    # One test writes into the library's own folder, which is read-only inside.
    command = f"cd /tmp && python3 -m test {names} -u none --ignore test_unpickle_module_race 2>&1 | tail -40"
    done = keep.run(session, command, language="bash")
    text = text_of(done)
    assert done["end"] == "ok" and "Tests result: SUCCESS" in text, text


def test_numpy_and_pandas_work_inside_as_outside(keep):
    session = keep.create(name="packages", memory="2g", timeout_s=300)
    code = """
import numpy as np, pandas as pd, scipy.linalg, sklearn.linear_model, io
rng = np.random.default_rng(1)
a = rng.random((200, 200))
assert np.allclose(a @ np.linalg.inv(a), np.eye(200), atol=1e-6)
assert np.allclose(np.fft.ifft(np.fft.fft(a)).real, a)
u, s, v = scipy.linalg.svd(a); assert np.allclose(u * s @ v, a)
f = pd.DataFrame({'k': list('abca') * 50, 'x': range(200), 't': pd.date_range('2024-01-01', periods=200, freq='h')})
assert f.groupby('k').x.sum().sum() == sum(range(200))
assert pd.read_csv(io.StringIO(f.to_csv(index=False)), parse_dates=['t']).equals(f)
f.to_excel('f.xlsx', index=False); assert pd.read_excel('f.xlsx').x.sum() == f.x.sum()
f.to_hdf('f.h5', key='f') if pd.io.common.import_optional_dependency('tables', errors='ignore') else None
assert f.merge(f, on='x').shape[0] == 200 and f.set_index('t').resample('D').x.mean().shape[0] == 9
m = sklearn.linear_model.LinearRegression().fit(f[['x']], f.x * 2 + 1); assert abs(m.coef_[0] - 2) < 1e-9
import multiprocessing; assert multiprocessing.Pool(2).map(abs, [-1, -2]) == [1, 2]
import threading; t = threading.Thread(target=lambda: None); t.start(); t.join()
print('all well')
"""
    done = keep.run(session, code)
    assert text_of(done).endswith("all well\n"), done["outputs"]
