import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from chat import Chat  # noqa: E402


@pytest.fixture
def chat(server):
    return Chat(server)
