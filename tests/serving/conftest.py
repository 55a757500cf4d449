"""What the tests of the services share: a pipeline that waits where it is told to, and a service over it."""

import pytest

from convinse.serving.api import create_app
from loopback import served
from services import HeldPipeline


@pytest.fixture(scope="module")
def pipeline():
    """See `HeldPipeline`."""
    with HeldPipeline() as held:
        yield held


@pytest.fixture
def released(pipeline):
    """The test does not leave the pipeline held."""
    pipeline.hold()
    pipeline.go.set()
    yield
    pipeline.go.set()


@pytest.fixture(scope="module")
def server(pipeline):
    """The port of a service with the usual options."""
    with served(create_app(pipeline)) as port:
        yield port
