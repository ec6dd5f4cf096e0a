"""Figures that a cell displays: files of the session before the answer is sent, also when code or the server gets in between."""

import base64
import os
import signal

import pytest
from sandkeep_server import Server
from sessions_client import Keep

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, {}])\nplt.show()\n"
# About 100 KB, as of a photograph: noise does not compress.
NOISE = "import numpy, matplotlib.pyplot as plt\nplt.figure(figsize=(3, 3))\nplt.imshow(numpy.random.rand(300, 300, 3), interpolation='nearest')\nplt.show()\n"


@pytest.fixture(scope="module")
def server():
    made = Server(environment={"SANDKEEP_SANDBOX": "required"}).start()
    yield made
    code, log = made.stop(), made.log()
    made.remove()
    assert code == 0 and "fatal" not in log, log


@pytest.fixture
def keep(server):
    return Keep(server)


def displayed(done):
    return [output for output in done["outputs"] if output["type"] == "display"]


def versions(keep, path):
    return keep.call("GET", f"/api/v1/workspaces/default/versions/{path}").json()["items"]


def test_a_figure_is_one_version_with_the_bytes_that_were_displayed(keep):
    session = keep.create(folder="figures")
    done = keep.run(session, "open('table.csv', 'w').write('1,2')\n" + NOISE)
    assert done["end"] == "ok", done
    shown = displayed(done)
    assert len(shown) == 1 and shown[0]["file"] == "figures/outputs/1-1.png"
    assert [file["path"] for file in done["kept"]] == ["figures/outputs/1-1.png", "figures/table.csv"]
    image = base64.b64decode(shown[0]["data"]["image/png"])
    assert len(image) > 50_000 and keep.read("figures/outputs/1-1.png") == image
    assert done["kept"][0]["mime"] == "image/png" and done["kept"][0]["change"] == "created" and done["not_kept"] == []
    # Code can open it, and no later answer names it again.
    again = keep.run(session, "print(len(open('outputs/1-1.png', 'rb').read()))")
    assert again["outputs"][0]["text"] == f"{len(image)}\n" and again["kept"] == []
    assert len(versions(keep, "figures/outputs/1-1.png")) == 1
    kinds = [event["kind"] for event in keep.events("file.*,folder.*") if event["personal"].get("path", "").startswith("figures/outputs")]
    assert kinds == ["folder.create", "file.create"]


def test_a_figure_survives_a_kill_of_the_server_right_after_its_answer(keep, server):
    session = keep.create(folder="killed")
    done = keep.run(session, NOISE)
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    server.start()
    keep = Keep(server)
    assert keep.read("killed/outputs/1-1.png") == base64.b64decode(displayed(done)[0]["data"]["image/png"])
    record = keep.call("GET", f"/api/v1/sessions/{session['id']}/executions/{done['id']}").json()
    assert record["kept"] == done["kept"] and displayed(record) == displayed(done)
    assert keep.run(session, "import os\nprint(os.listdir('outputs'))")["outputs"][0]["text"] == "['1-1.png']\n"
    assert len(versions(keep, "killed/outputs/1-1.png")) == 1


def test_a_kernel_that_dies_after_a_figure_does_not_take_it_along(keep):
    session = keep.create(folder="dies")
    done = keep.run(session, PLOT.format(2) + "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert done["end"] == "crash"
    assert keep.read("dies/outputs/1-1.png") == base64.b64decode(displayed(done)[0]["data"]["image/png"])
    assert [file["path"] for file in done["kept"]] == ["dies/outputs/1-1.png"]
    again = keep.run(session, "1")
    assert again["woke"] and again["kept"] == [] and len(versions(keep, "dies/outputs/1-1.png")) == 1


@pytest.mark.parametrize("then", ["open(path, 'wb').write(b'code wrote this')", "os.remove(path)", "os.rename(path, 'mine.png')"])
def test_what_a_process_does_to_a_figure_as_soon_as_it_is_there_comes_after_it(keep, then):
    """The process may be faster than the capture or slower: the figure is a version in both cases."""
    session = keep.create()
    folder = session["folder"]
    watch = f"import os\npath = 'outputs/2-1.png'\nwhile not os.path.exists(path): pass\n{then}\n"
    keep.run(session, f"import subprocess, sys\nworker = subprocess.Popen([sys.executable, '-c', {watch!r}])")
    done = keep.run(session, PLOT.format(3))
    image = base64.b64decode(displayed(done)[0]["data"]["image/png"])
    keep.run(session, "worker.wait()")
    path = f"{folder}/outputs/2-1.png"
    if "open" in then:
        kept = versions(keep, path)
        assert len(kept) == 2 and keep.read(path) == b"code wrote this"
        assert keep.http.get(kept[-1]["link"]).content == image, "the oldest comes last"
    elif "remove" in then:
        assert keep.files(folder) == []
        assert path in [item["path"] for item in keep.call("GET", "/api/v1/workspaces/default/trash").json()["items"]]
    else:
        assert keep.files(folder) == ["mine.png"] and keep.read(f"{folder}/mine.png") == image
        assert len(versions(keep, f"{folder}/mine.png")) == 1


def test_a_display_that_the_answer_has_no_room_for_is_named(keep):
    session = keep.create()
    done = keep.run(session, "from IPython.display import HTML, display\ndisplay(HTML('<p>' + 'x' * 2_000_000))\n'y' * 3_000_000")
    assert done["end"] == "ok" and [output["type"] for output in done["outputs"]] == ["display", "result", "note"]
    assert all(output["cut"] and output["data"] == {} for output in done["outputs"][:2])
    assert "2 displays" in done["outputs"][2]["text"] and "text/html" in done["outputs"][2]["text"]
    # A figure is a file all the same.
    done = keep.run(session, "import os\nfrom IPython.display import Image, display\ndisplay(Image(b'\\x89PNG\\r\\n\\x1a\\n' + os.urandom(1_999_992), format='png'))")
    assert [output["type"] for output in done["outputs"]] == ["display"] and done["outputs"][0]["cut"]
    assert done["outputs"][0]["file"] == done["kept"][0]["path"] and done["kept"][0]["size"] == 2_000_000


def test_many_large_figures_of_one_cell_are_all_kept(keep):
    session = keep.create(folder="many")
    code = "import os\nfrom IPython.display import Image, display\nfor _ in range(8): display(Image(b'\\x89PNG\\r\\n\\x1a\\n' + os.urandom(6_000_000), format='png'))"
    done = keep.run(session, code)
    assert done["end"] == "ok" and [file["path"] for file in done["kept"]] == [f"many/outputs/1-{n}.png" for n in range(1, 9)]
    assert [output["file"] for output in displayed(done)] == [file["path"] for file in done["kept"]]


def shown_by(keep, data):
    """Displays a bundle of MIME types, and returns what the answer shows of it."""
    done = keep.run(keep.create(), f"from IPython.display import publish_display_data\npublish_display_data({data})\nprint('after')")
    assert done["end"] == "ok" and done["outputs"][-1]["text"] == "after\n", done
    return displayed(done)[0]


@pytest.mark.parametrize("kind", ["image/png", "image/jpeg", "image/gif", "image/webp"])
def test_bytes_that_are_no_image_are_shown_as_text_that_says_so(keep, kind):
    shown = shown_by(keep, {kind: b"hello", "text/plain": "a picture"})
    assert list(shown["data"]) == ["text/plain"] and not shown.get("file"), shown
    assert shown["data"]["text/plain"].startswith("a picture\n") and kind in shown["data"]["text/plain"], shown


@pytest.mark.parametrize("order", [1, -1])
def test_an_image_whose_base64_is_bad_is_shown_as_text_beside_the_text(keep, order):
    shown = shown_by(keep, dict([("image/png", "%no base64%" + "x" * 5000), ("text/plain", "a picture")][::order]))
    assert list(shown["data"]) == ["text/plain"] and not shown.get("file"), shown
    text = shown["data"]["text/plain"]
    assert text.startswith("a picture\n") and "image/png" in text and "%no base64%" in text and len(text) < 2000, shown


def test_an_svg_that_is_no_text_is_no_figure(keep):
    for value in ("7", "['<svg>']"):
        shown = shown_by(keep, f"{{'image/svg+xml': {value}, 'text/plain': 'a drawing'}}")
        assert list(shown["data"]) == ["text/plain"] and not shown.get("file"), shown
        assert shown["data"]["text/plain"].startswith("a drawing\n") and value in shown["data"]["text/plain"], shown


def test_a_display_of_too_many_types_is_cut_and_says_so(keep):
    shown = shown_by(keep, "{'a/%d' % n: '' for n in range(2000)}")
    assert len(shown["data"]) <= 101 and "2000" in shown["data"]["text/plain"], shown
    shown = shown_by(keep, "{'a/' + 'x' * 3_000_000: 'y', 'text/plain': 'z'}")
    assert list(shown["data"]) == ["text/plain"] and len(str(shown)) < 2000
