"""Sessions over HTTP: code runs in a sandbox, and what it writes is kept before the answer is sent."""

import concurrent.futures
import json
import os
import signal

import pytest
import requests

from sandkeep_server import ROOT_KEY, Server


class Keep:
    def __init__(self, server):
        self.server = server
        self.http = requests.Session()
        self.http.headers["Authorization"] = f"Bearer {ROOT_KEY}"

    def call(self, method, path, status=200, **options):
        answer = self.http.request(method, self.server.url + path, timeout=120, **options)
        assert answer.status_code == status, answer.text
        return answer

    def create(self, **wanted):
        return self.call("POST", "/api/v1/sessions", 201, json=wanted).json()

    def run(self, session, code, **more):
        return self.call("POST", f"/api/v1/sessions/{session['id']}/executions", json={"code": code, **more}).json()


@pytest.fixture(scope="module")
def server():
    server = Server(environment={"SANDKEEP_SANDBOX": "required"}).start()
    yield server
    server.stop()
    server.remove()


@pytest.fixture
def keep(server):
    return Keep(server)


def test_a_plot_is_kept_and_its_link_serves_it(keep):
    session = keep.create(name="plots")
    assert session["status"] == "asleep" and session["folder"].startswith("sessions/plots-")
    done = keep.run(session, "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.savefig('chart.png')\nprint('drawn')")
    assert done["end"] == "ok", done
    assert {"type": "stdout", "text": "drawn\n"} in done["outputs"]
    chart = next(f for f in done["kept"] if f["path"].endswith("/chart.png"))
    image = keep.http.get(chart["link"])
    assert image.headers["Content-Type"] == "image/png" and image.content.startswith(b"\x89PNG")
    keep.run(session, "open('chart.png','w').write('overwritten')")
    assert keep.http.get(chart["link"]).content == image.content


def test_clear_output_takes_a_plot_out_of_the_answer_and_not_out_of_the_workspace(keep):
    session = keep.create(name="cleared")
    plot = "import matplotlib.pyplot as plt\nfrom IPython.display import clear_output\nplt.plot([1, {}]); plt.show()\n"
    done = keep.run(session, "print('before')\n" + plot.format(2) + "clear_output()\nprint('after')")
    assert [(output["type"], output["text"]) for output in done["outputs"]] == [("stdout", "after\n")]
    assert "file" not in done["outputs"][0], "what is shown now is not the plot's file"
    assert len(done["kept"]) == 1 and keep.http.get(done["kept"][0]["link"]).content.startswith(b"\x89PNG")
    # The next plot is shown with its own file.
    done = keep.run(session, plot.format(3) + "clear_output()\n" + plot.format(4))
    shown = [output for output in done["outputs"] if output["type"] == "display"]
    assert len(done["kept"]) == 2 and len(shown) == 1 and len(done["outputs"]) == 1, done["outputs"]
    newest = max(done["kept"], key=lambda file: file["version_id"])
    assert shown[0]["file"] == newest["path"] != min(done["kept"], key=lambda file: file["version_id"])["path"]


def test_output_streams_while_it_runs_and_the_answer_comes_last(keep):
    session = keep.create()
    events = []
    with keep.http.post(f"{keep.server.url}/api/v1/sessions/{session['id']}/executions", stream=True, timeout=60,
                        json={"code": "import time\nfor i in range(3):\n    print(i, flush=True)\n    time.sleep(0.05)", "stream": True}) as answer:
        name = None
        for line in answer.iter_lines(decode_unicode=True):
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                events.append((name, json.loads(line[6:])))
    assert events[0][0] == "started" and events[-1][0] == "done"
    assert "".join(e["text"] for n, e in events if n == "output" and e["type"] == "stdout") == "0\n1\n2\n"
    assert events[-1][1]["end"] == "ok"


def test_background_polling_cancel_and_history(keep):
    session = keep.create()
    path = f"/api/v1/sessions/{session['id']}/executions"
    keep.run(session, "x = 1")
    running = keep.call("POST", path, 202, json={"code": "while True: pass", "wait": False}).json()
    keep.call("POST", f"{path}/{running['id']}/cancel")
    done = keep.call("GET", f"{path}/{running['id']}?wait=true").json()
    assert done["end"] == "interrupted"
    assert keep.run(session, "x")["outputs"][0]["data"]["text/plain"] == "1"
    done = keep.call("GET", f"{path}/{running['id']}?wait=true").json()
    assert done["code"] == "while True: pass"


@pytest.mark.parametrize("code", ["sleep 60", "while :; do :; done", "cat /dev/zero | wc -c"])
def test_an_interrupted_shell_keeps_its_variables(keep, code):
    session = keep.create()
    keep.run(session, "x=5; cd /tmp", language="bash")
    path = f"/api/v1/sessions/{session['id']}/executions"
    running = keep.call("POST", path, 202, json={"code": f"echo begun; {code}; echo never", "language": "bash", "wait": False}).json()
    with keep.http.get(f"{keep.server.url}{path}/{running['id']}", stream=True, timeout=60, headers={"Accept": "text/event-stream"}) as answer:
        next(line for line in answer.iter_lines(decode_unicode=True) if "begun" in line)
    keep.call("POST", f"{path}/{running['id']}/cancel")
    done = keep.call("GET", f"{path}/{running['id']}?wait=true").json()
    assert done["end"] == "interrupted" and "never" not in str(done["outputs"])
    assert keep.run(session, "echo $x $PWD", language="bash")["outputs"][0]["text"] == "5 /tmp\n"


def test_errors_have_a_readable_traceback(keep):
    done = keep.run(keep.create(), "def f():\n    return 1 / 0\nf()")
    assert done["end"] == "error"
    error = next(o for o in done["outputs"] if o["type"] == "error")
    assert error["name"] == "ZeroDivisionError" and "return 1 / 0" in error["traceback"] and "\x1b" not in error["traceback"]


def test_three_hundred_files_in_one_cell_are_all_kept(keep):
    session = keep.create(folder="many")
    done = keep.run(session, "import os\nfor i in range(300):\n    os.makedirs(f'd{i%7}', exist_ok=True)\n    open(f'd{i%7}/{i}.txt','w').write(str(i))")
    assert len(done["kept"]) == 300 and done["not_kept"] == []


def test_names_of_every_kind_depth_and_hidden_folders_are_kept(keep):
    session = keep.create(folder="names")
    code = ("import os\nnames = ['今週.txt', 'تقرير', '🎈', 'with space', 'new\\nline', '.hidden/x', 'build/y', 'dist/z', '/'.join('abcdefghijklmnopqrst')]\n"
            "for n in names:\n    os.makedirs(os.path.dirname(n) or '.', exist_ok=True)\n    open(n,'w').write(n)\nopen(b'bad\\xff','w').write('b')\nopen('empty','w').close()")
    done = keep.run(session, code)
    assert done["end"] == "ok", done
    assert len(done["kept"]) == 11, [f["path"] for f in done["kept"]]
    again = keep.run(session, "import os\nsorted(os.listdir('.'))")
    assert again["kept"] == []


def test_sparse_files_are_kept_and_a_terabyte_is_named(keep):
    session = keep.create(folder="sparse")
    done = keep.run(session, "f = open('hole','wb'); f.truncate(50_000_000); f.close()")
    assert done["kept"][0]["size"] == 50_000_000
    done = keep.run(session, "import os\ntry:\n    f = open('huge','wb'); f.truncate(1 << 40); f.close()\nexcept OSError as e:\n    print(e)")
    huge = [n for n in done["not_kept"] if n["path"] == "sparse/huge"]
    refused = any("large" in o.get("text", "") for o in done["outputs"])
    assert huge or refused


def test_memory_bombs_and_dying_programs_end_with_a_cause_and_their_files(keep):
    session = keep.create(folder="bombs", memory="256m")
    done = keep.run(session, "open('before','w').write('x')\nb = bytearray(3_000_000_000)")
    assert done["end"] == "oom" and [f["path"] for f in done["kept"]] == ["bombs/before"]
    done = keep.run(session, "open('last','w').write('y')\nimport os\nos._exit(3)")
    assert done["woke"] and [f["path"] for f in done["kept"]] == ["bombs/last"]


def test_a_session_survives_kill_9_of_the_server_with_what_it_had_closed():
    server = Server(environment={"SANDKEEP_SANDBOX": "required"}).start()
    try:
        keep = Keep(server)
        session = keep.create(folder="crash")
        keep.run(session, "open('answered','w').write('1')")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            future = pool.submit(keep.http.post, f"{server.url}/api/v1/sessions/{session['id']}/executions", timeout=60,
                                 json={"code": "open('closed','w').write('2')\nprint('written', flush=True)\nimport time\ntime.sleep(60)", "stream": True}, stream=True)
            answer = future.result()
            for line in answer.iter_lines(decode_unicode=True):
                if "written" in line:
                    break
            os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()
        server.start()
        keep = Keep(server)
        for name, text in (("answered", "1"), ("closed", "2")):
            assert keep.call("GET", f"/api/v1/workspaces/default/files/crash/{name}").text == text
        done = keep.run(session, "sorted(__import__('os').listdir('.'))")
        assert done["woke"] and done["outputs"][0]["data"]["text/plain"] == "['answered', 'closed']"
        assert keep.call("POST", "/api/v1/verify").json()["ok"]
    finally:
        server.stop()
        server.remove()


def test_bad_requests_are_clear(keep):
    session = keep.create()
    path = f"/api/v1/sessions/{session['id']}/executions"
    keep.call("POST", path, 400, json={"code": "1", "language": "cobol"})
    keep.call("POST", path, 400, json={})
    keep.call("POST", path, 400, json={"code": "1", "timeout_s": 0})
    keep.call("POST", "/api/v1/sessions/s_" + "0" * 31 + "1/executions", 404, json={"code": "1"})
    keep.call("POST", "/api/v1/sessions", 400, json={"memory": "1000g"})
    keep.call("PUT", "/api/v1/workspaces/default/files/plain.txt", 201, data=b"x")
    keep.call("POST", "/api/v1/sessions", 409, json={"folder": "plain.txt"})
    keep.call("DELETE", f"/api/v1/sessions/{session['id']}", 204)
    keep.call("POST", path, 410, json={"code": "1"})


def test_a_server_without_a_sandbox_says_so():
    server = Server().start()
    try:
        answer = Keep(server).call("POST", "/api/v1/sessions", 503, json={})
        assert answer.json()["error"]["code"] == "unavailable"
        assert Keep(server).call("GET", "/api/v1/sessions", 200).json()["items"] == [], "what was written down of sessions is told all the same"
        Keep(server).call("GET", "/api/v1/sessions/s_" + "0" * 31 + "1", 404)
    finally:
        server.stop()
        server.remove()
