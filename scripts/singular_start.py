# SPDX-License-Identifier: Apache-2.0
"""
Simulate singular starts with the papers' laws: the tables of docs/papers.

Two starts at rest on the analytic plant: all steering angles exactly 0 with a goal 4 m along X,
the uncontrollable direction; and -60°, 60°, 180°, every wheel rolling outwards, with a turn
by 1 rad as goal. Run from the root of the repository: ``python scripts/singular_start.py``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from paper_runs import (
    DT,
    LEFT,
    WEIGHT,
    ZONE_YAW,
    Law,
    aligned_at,
    drive,
    off_line,
    our_law,
    paper_position,
    printed_law,
    seconds,
)

from c3p_controller.paper.position import PaperPositionGains
from c3p_description.model import Array

# goal and steering angles of the two starts
ACROSS = (np.array([4.0, 0.0, 0.0]), np.zeros(3))
RADIAL = (np.array([0.0, 0.0, 1.0]), np.radians([-60.0, 60.0, 180.0]))

# cycle at which the motion along X is commanded: 2 s
EARLY = 400


class Start(NamedTuple):
    """
    Recorded singular start; times in s, None: never.

    Attributes
    ----------
    steering, pose : (k, 3) arrays
        Steering angles and true pose after each cycle.
    torque : (k, 3) array
    left, aligned, arrived : float or None
        When a steering angle had changed by 1°; when all rolling lines were within 10° of the line
        to the goal, for good until the zone; when the zone was entered.
    path_error : float, m
        Largest distance from the straight line.
    """

    steering: Array
    pose: Array
    torque: Array
    left: float | None
    aligned: float | None
    arrived: float | None
    path_error: float


def run(law: Law, goal: Array, steering: Array, most: float = 20.0) -> Start:
    """Drive from the origin towards `goal` until its zone is entered or `most` s are up."""
    found = drive(law, goal[None], steering, most)
    moved = np.flatnonzero((np.abs(found.steering - found.steering[0]) > LEFT).any(axis=1))
    return Start(found.steering, found.pose, found.torque, DT * moved[0] if len(moved) else None,
                 aligned_at(found, goal) if goal[:2].any() else None,
                 found.entered[0] if found.entered else None,
                 float(off_line(found.pose, np.zeros(3), goal).max()))


def across_laws() -> list[Law]:
    """Return the laws for the start from parallel casters."""
    bare = our_law('pseudo-inverse, w_s = 0', weight=0.0, friction=False,
                   friction_compensation=0.0, escape_jerk=0.0)
    return [
        *(printed_law(gain) for gain in (0.0, 0.1, 0.5)),
        *(printed_law(gain, friction=True) for gain in (0.0, 0.1, 0.5)),
        printed_law(0.0, weight=WEIGHT),
        bare,
        replace(bare, friction=True),
        replace(bare, name='the same, 1e-12 rad off parallel', offset=1e-12),
        our_law('default', friction=False, friction_compensation=0.0),
        our_law('default, friction not compensated', friction_compensation=0.0),
        our_law('default'),
        our_law('default but w_s = 1', weight=1.0),
        our_law('default but stiff yaw, K_v = 20', yaw_gain=20.0),
        our_law('default but no ramp', acceleration_limit=math.inf),
    ]


def radial_laws() -> list[Law]:
    """Return the laws for the rotation with rolling lines that meet at the centre."""
    return [
        # without its zone, in which the papers' law stands still whatever the yaw
        replace(printed_law(0.1, position=paper_position(PaperPositionGains(goal_zone=0.0))),
                name='as printed, K_w = 0.1, no zone', zone_yaw=ZONE_YAW),
        our_law('pseudo-inverse, w_s = 0', weight=0.0, friction=False,
                friction_compensation=0.0, escape_jerk=0.0),
        our_law('default without push', friction=False, escape_jerk=0.0),
        our_law('default without push', escape_jerk=0.0),
        our_law('default', friction=False),
        our_law('default'),
    ]


def row(law: Law, found: Start, turn: bool) -> str:
    """Return a line of the table; a turn on the spot has no line to be aligned with."""
    aligned = '-' if turn else seconds(found.aligned)
    return (f'| {law.name} | {"yes" if law.friction else "no"} | {seconds(found.left)} '
            f'| {aligned} | {round(100 * found.pose[EARLY, 0], 1) + 0.0} '
            f'| {100 * found.path_error:.1f} | {seconds(found.arrived)} '
            f'| {np.abs(found.torque).max():.2f} |')


HEAD = ('| law | friction | steering moves 1° [s] | aligned to 10° [s] | X after 2 s [cm] '
        '| path error [cm] | in the zone [s] | torque [N·m] |\n|---|---|---|---|---|---|---|---|')


def main() -> None:
    """Print both tables, 40 s of robot time each."""
    for title, (goal, steering), laws in (
            ('All steering angles 0, goal 4 m along X', ACROSS, across_laws()),
            ('Steering -60°, 60°, 180°, goal: turn by 1 rad', RADIAL, radial_laws())):
        print(f'{title}\n\n{HEAD}')
        for law in laws:
            print(row(law, run(law, goal, steering, 40.0), not goal[:2].any()), flush=True)
        print()


if __name__ == '__main__':
    main()
