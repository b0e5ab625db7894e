# SPDX-License-Identifier: Apache-2.0
"""Commands that stay on this computer, so that a simulated robot does not act as the real one."""

from __future__ import annotations

import os
from collections.abc import MutableMapping

from c3p_ros.middleware import RANGE, of_this_process
from c3p_ros.reach import open_reach


def stay_near(environment: MutableMapping[str, str] = os.environ) -> str:
    """
    Limit the discovery of a process and of its children to this computer, unless a range is set.

    Returns
    -------
    str
        Warning where this limit does not hold, such as with a discovery server or with Zenoh;
        empty where it holds, and where the user has set a range.
    """
    # an empty range is that of ROS 2, as one that is not set
    if environment.get(RANGE):
        return ''
    environment[RANGE] = 'LOCALHOST'
    try:
        return open_reach(environment, of_this_process())
    except RuntimeError:
        # without a middleware the nodes do not start, and report why
        return ''
