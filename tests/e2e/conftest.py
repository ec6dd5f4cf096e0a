"""Fixtures of the end-to-end tests: one server for the run, a fresh workspace for each test."""

import itertools
import pathlib
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "support")]

from rest_client import Client  # noqa: E402
from sandkeep_server import Server  # noqa: E402
from sessions_client import USERS, UserServer  # noqa: E402

_numbers = itertools.count(1)


def pytest_collection_modifyitems(items):
    """Tests marked `last` look at what the whole run has left behind."""
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


def pytest_configure(config):
    config.addinivalue_line("markers", "last: runs after all other tests")


@pytest.fixture(scope="session")
def server():
    """The server that most tests share. It must end cleanly, too."""
    one = Server().start()
    yield one
    code = one.stop()
    log = one.log()
    one.remove()
    assert code == 0, log
    assert "fatal" not in log, log


@pytest.fixture
def make_server():
    """Servers of a test's own: make_server("--flag", …)."""
    made = []

    def make(*flags, **options):
        made.append(Server(*flags, **options).start())
        return made[-1]

    yield make
    for one in made:
        one.remove()


@pytest.fixture
def make_user_server():
    """Servers of a test's own that run code, as the least privileged user that is there: make_user_server("--flag", …, uid=…). They must end cleanly, too."""
    made = []

    def make(*flags, uid=USERS[-1]):
        made.append(UserServer(uid, *flags).start())
        return made[-1]

    yield make
    try:
        for one in made:
            code, log = one.stop(), one.log()
            assert code == 0 and "fatal" not in log, log
    finally:
        for one in made:
            one.remove()


@pytest.fixture
def api(server):
    """The administrator."""
    return Client(server)


@pytest.fixture
def ws(api):
    """A new, empty workspace of the administrator."""
    return api.workspace(f"test-{next(_numbers)}")


@pytest.fixture
def unique():
    """Names that no other test uses."""
    return lambda stem: f"{stem}-{next(_numbers)}"
