# SPDX-License-Identifier: Apache-2.0
"""Bounds of a pose that a person types: a mistaken unit is refused."""

from __future__ import annotations

import math

# largest coordinates of a goal, m
FARTHEST = 1000.0

# a larger yaw is probably in degrees, rad: one turn, and the rounding of its third decimal
LARGEST_YAW = 2.0 * math.pi + 1e-3


def check_typed_pose(name: str, x: float, y: float, yaw: float, radians: bool = False,
                     switch: str = '') -> None:
    """
    Reject a pose with a mistaken unit.

    Parameters
    ----------
    name : str
        As the pose is called in the error.
    x, y : float, m
    yaw : float, rad
    radians : bool
        Whether any yaw is accepted.
    switch : str
        Option of the command that sets `radians`.

    Raises
    ------
    ValueError
        A coordinate beyond `FARTHEST`, or a yaw beyond one turn; the text names the value in
        radians for the same number of degrees, and the equivalent yaw within half a turn.

    Examples
    --------
    >>> check_typed_pose('goal', 1.0, 0.0, 6.2832)
    >>> check_typed_pose('goal', 1.0, 0.0, 90.0)
    Traceback (most recent call last):
        ...
    ValueError: goal: yaw 90 is in radians, 14.3 turns; for 90 degrees use 1.5708, for the \
direction of 90 rad use 2.0354
    """
    for axis, value in (('x', x), ('y', y)):
        if not abs(value) <= FARTHEST:
            raise ValueError(f'{name}: {axis} {value:g} m: must be finite, and at most '
                             f'{FARTHEST:g} m away')
    if radians and math.isfinite(yaw) or abs(yaw) <= LARGEST_YAW:
        return
    if not math.isfinite(yaw):
        raise ValueError(f'{name}: yaw {yaw}: must be finite')
    accepts = f'; {switch} accepts any yaw' if switch else ''
    raise ValueError(f'{name}: yaw {yaw:g} is in radians, {abs(yaw) / (2.0 * math.pi):.1f} turns; '
                     f'for {yaw:g} degrees use {math.radians(yaw):.4f}, for the direction of '
                     f'{yaw:g} rad use {math.remainder(yaw, 2.0 * math.pi):.4f}{accepts}')
