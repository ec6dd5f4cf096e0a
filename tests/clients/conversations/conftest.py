import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from chat import Chat  # noqa: E402
from elsewhere import UPSTREAM_KEY, Upstream  # noqa: E402
from faulty import Faulty  # noqa: E402
from sandkeep_server import Server  # noqa: E402


@pytest.fixture
def chat(server):
    return Chat(server)


@pytest.fixture(scope="session")
def upstream():
    """The interpreter elsewhere."""
    one = Server(environment={"SANDKEEP_SANDBOX": "required", "SANDKEEP_ROOT_KEY": UPSTREAM_KEY, "SANDKEEP_SESSIONS_PER_PRINCIPAL_MAX": "40"}).start()
    yield Upstream(one)
    one.remove()


@pytest.fixture(scope="session")
def here():
    """A server that may call its neighbours, and is impatient."""
    one = Server("--bridge-allow-private", "--bridge-attempts-max", "3", "--bridge-stall-s", "2s").start()
    yield one
    log = one.log()
    code = one.stop()
    one.remove()
    assert code == 0, log
    assert UPSTREAM_KEY not in log, "somebody else's key is in the log"


@pytest.fixture
def proxy(upstream):
    """What stands between the two, and fails when it is told to."""
    one = Faulty(upstream.server.url)
    yield one
    one.close()
