"""How long tests wait for what must come: long, as the machine may be busy with other things."""

import time

PATIENCE = 600  # seconds; below the limit of a test (pyproject.toml), so that the test itself says what did not come
BUSY = 30  # seconds below which no test asserts that something ends: what hangs would take minutes


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
