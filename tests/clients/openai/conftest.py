"""The API of the shared server, as its administrator sees it."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from http_api import Api  # noqa: E402


@pytest.fixture
def api(server):
    return Api(server)


@pytest.fixture
def container(api):
    """A new container, which does not stay awake after the test."""
    made = api.container()
    yield made
    api.send("DELETE", f"/containers/{made}", expect=None)
