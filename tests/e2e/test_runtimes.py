"""Several sets of packages side by side: whole systems in folders, chosen per session."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from sandkeep_server import PROJECT
from sessions_client import Keep, UserServer, text_of


@pytest.fixture
def root_of_another_system(tmp_path):
    """The host's /usr with one package more, as an operator would have it from debootstrap or an image."""
    if os.geteuid() != 0:
        pytest.skip("laying one folder over another needs root")
    root, more = tmp_path / "root", tmp_path / "more"
    package = more / "lib/python3/dist-packages/made_up"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("answer = 42\n")
    (root / "usr").mkdir(parents=True)
    (root / "etc").symlink_to("/etc")
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", f"ro,lowerdir={more}:/usr", root / "usr"], check=True)
    yield root
    subprocess.run(["umount", root / "usr"], check=True)


IMPORT = "try:\n    import made_up; print(made_up.answer)\nexcept ImportError: print('none')"


def test_a_session_has_the_packages_of_its_runtime(root_of_another_system):
    server = UserServer(0, "--runtime", f"science={root_of_another_system}").start()
    try:
        keep = Keep(server)
        assert text_of(keep.run(keep.create(), IMPORT)) == "none\n"
        session = keep.create(runtime="science")
        done = keep.run(session, IMPORT + "\nimport pandas; print(len(pandas.DataFrame([1, 2])))\nopen('f', 'w').write('x')")
        assert text_of(done) == "42\n2\n" and len(done["kept"]) == 1
        keep.call("POST", f"/api/v1/sessions/{session['id']}/sleep")
        assert text_of(keep.run(session, IMPORT)) == "42\n"
        refused = keep.call("POST", "/api/v1/sessions", 400, json={"runtime": "other"}).json()["error"]
        assert "default, science" in refused["message"]
    finally:
        server.stop()
        server.remove()


def test_another_system_can_be_the_default(root_of_another_system):
    server = UserServer(0, "--runtime", str(root_of_another_system)).start()
    try:
        keep = Keep(server)
        assert text_of(keep.run(keep.create(), IMPORT)) == "42\n"
    finally:
        server.stop()
        server.remove()


@pytest.fixture
def folder():
    """Not below /tmp or /var, which each session has for itself, and where a checkout may lie."""
    with tempfile.TemporaryDirectory(dir="/opt" if str(PROJECT).startswith(("/tmp/", "/var/")) else PROJECT / "build") as name:
        yield Path(name)


def test_further_folders_are_readable_under_their_own_path(folder):
    package = folder / "site" / "extra_one"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("x = 'from a folder'\n")
    server = UserServer(os.geteuid(), "--runtime-dirs", str(folder / "site")).start()
    try:
        keep = Keep(server)
        session = keep.create(environment={"PYTHONPATH": str(folder / "site")})
        code = f"import sys; sys.path.append({str(folder / 'site')!r})\nimport extra_one; print(extra_one.x)"
        assert text_of(keep.run(session, code)) == "from a folder\n"
        assert text_of(keep.run(session, "python3 -c 'import extra_one; print(extra_one.x)'", language="bash")) == "from a folder\n"
    finally:
        server.stop()
        server.remove()
