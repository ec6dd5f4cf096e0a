"""Every test of this folder runs as root and as an ordinary user, where root runs the tests; else only as whoever runs them."""

import os
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]

from driver import Driver  # noqa: E402

ORDINARY = 65534
USERS = [0, ORDINARY] if os.geteuid() == 0 else [os.geteuid()]
LONG = bool(os.environ.get("SK_LONG"))


def pytest_generate_tests(metafunc):
    if "driver" in metafunc.fixturenames:
        metafunc.parametrize("driver", USERS, indirect=True, scope="module", ids=lambda uid: "root" if uid == 0 else "user")


@pytest.fixture(scope="module")
def driver(request):
    running = Driver(request.param)
    yield running
    running.close()


@pytest.fixture
def session(driver):
    started = driver.start()
    yield started
    started.stop()
