"""What all tests inside Blender share."""

import pytest

from foothold.operators.terminal import flush


@pytest.fixture(autouse=True)
def _nothing_left_in_buffers():
    """What Blender's importers printed in one test, and C still holds, must not come out in the next one's capture."""
    flush()
