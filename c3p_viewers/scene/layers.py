# SPDX-License-Identifier: Apache-2.0
"""Layers of the scene: what a viewer switches on and off together."""

from __future__ import annotations

# first word of a shape's name, and its layer where that has another name
LAYERS = {'rolling': 'rolling_lines', 'sigma': 'rolling_lines', 'axle': 'axle_lines',
          'turn': 'twist', 'icr': 'instantaneous_centre', 'suspect': 'slip'}


def layer(name: str) -> str:
    """
    Return the layer of a shape by its name.

    Layers are ``rolling_lines``, ``unactuated``, ``axle_lines``, ``instantaneous_centre``,
    ``twist``, ``torque``, ``slip``, ``uncertainty`` and ``planned``.

    Examples
    --------
    >>> layer('rolling_line_2'), layer('turn_head'), layer('slip_1')
    ('rolling_lines', 'twist', 'slip')
    """
    first = name.split('_', 1)[0]
    return LAYERS.get(first, first)
