import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from librechat import Current, Legacy  # noqa: E402
from sandkeep_server import ROOT_KEY  # noqa: E402


@pytest.fixture
def legacy(server):
    return Legacy(server, ROOT_KEY)


@pytest.fixture
def current(server):
    """As LibreChat without tokens calls it: no header at all, the key is in the address."""
    return Current(f"{server.url}/librechat/{ROOT_KEY}/v1")
