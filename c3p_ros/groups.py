# SPDX-License-Identifier: Apache-2.0
"""Parameters with dotted names as attributes; without rclpy, for those who have no node."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any


def grouped(values: Mapping[str, Any]) -> SimpleNamespace:
    """
    Return values by dotted names as attributes, groups as namespaces, arrays as lists.

    Examples
    --------
    >>> grouped({'speed': 0.5, 'mpc.latency': 0.01}).mpc.latency
    0.01
    """
    root = SimpleNamespace()
    for name, value in values.items():
        *groups, leaf = name.split('.')
        place = root
        for group in groups:
            if not hasattr(place, group):
                setattr(place, group, SimpleNamespace())
            place = getattr(place, group)
        setattr(place, leaf, list(value) if hasattr(value, 'typecode') else value)
    return root
