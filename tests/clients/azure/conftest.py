import itertools
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from pool import Pool  # noqa: E402
from sandkeep_server import ROOT_KEY  # noqa: E402

_numbers = itertools.count(1)


@pytest.fixture
def pool(server):
    return Pool(server, ROOT_KEY)


@pytest.fixture
def identifier():
    """A session that no other test uses."""
    return f"test-session-{next(_numbers)}"
