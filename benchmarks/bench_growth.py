# SPDX-License-Identifier: Apache-2.0
"""
How times grow with the size of the problem: casters, bodies and length of bags.

``python benchmarks/bench_growth.py`` prints the curves; `run.py` draws them. Times are processor
times, medians; memory is the largest resident one of the command in a process of its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from long_bag import write_long_bag
from measuring import python, turns

from c3p_description.robots import ring
from c3p_dynamics.prepared import InverseDynamics
from c3p_kinematics.odometry import Odometry

CASTERS, MINUTES = (2, 3, 4, 6, 8, 12), (0.25, 0.5, 1.0, 2.0, 4.0)
JOINTS = (3, 7, 12, 24, 48)


def curve(name: str, over: str, unit: str, points: dict[float, float]) -> dict[str, Any]:
    """Return a curve for JSON; `points` are values by size."""
    return {'name': name, 'over': over, 'unit': unit, 'x': list(points), 'y': [
        float(value) for value in points.values()]}
