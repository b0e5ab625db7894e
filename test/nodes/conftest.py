# SPDX-License-Identifier: Apache-2.0
"""A robot with one of the laws."""

import pytest


@pytest.fixture
def in_process_robot(bench, request):
    """The whole robot in this process; unlocked and at rest; the parameter is its law."""
    bench.add_robot(getattr(request, 'param', 'mpc'))
    bench.wait_until_unlocked()
    return bench
