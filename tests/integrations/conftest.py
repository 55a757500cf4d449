import pytest
from pipeline_results import SETTINGS, SOURCES

from convinse.integrations.shared import SharedPipeline


@pytest.fixture
def shared(closed):
    """A pipeline whose evidences, order and answers are those of `asked.native`."""
    return closed(SharedPipeline(SETTINGS, SOURCES))
