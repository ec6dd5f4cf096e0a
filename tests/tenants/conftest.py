"""Fixtures of the tests in which one tenant attacks and another is measured."""

import pathlib
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "e2e"), str(pathlib.Path(__file__).parents[1] / "support")]

from sessions_client import USERS, UserServer  # noqa: E402


@pytest.fixture
def make_user_server():
    """Servers of a test's own that run code, as the least privileged user that is there: make_user_server("--flag", …). They must end cleanly, too."""
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
