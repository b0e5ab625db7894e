# SPDX-License-Identifier: Apache-2.0
"""The sections of a report: titles, what is to be seen, figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from c3p_bags.report import loop_panels as loop
from c3p_bags.report import motion_panels as motion
from c3p_bags.report import slip_panels as slip
from c3p_bags.report import tables
from c3p_bags.report import wheel_panels as wheels
from c3p_bags.report.run import Run
from c3p_bags.report.sheet import Panel, figure

# of the way's panel, inches: lowest, highest
WAY_HEIGHT = (2.6, 6.0)

# slips that get a close look
LOOKS = 3


class Section(NamedTuple):
    """
    A section of the page.

    Attributes
    ----------
    anchor, title, text : str
        `text` says what is to be seen and how it was found.
    picture : callable
        Takes the runs and returns a Figure, or None where there is nothing to draw.
    table : callable or None
        Takes a run and returns the HTML of a table.
    """

    anchor: str
    title: str
    text: str
    picture: Callable[[Sequence[Run]], Figure | None]
    table: Callable[[Run], str] | None = None


def _way(runs: Sequence[Run]) -> Figure:
    """As high as the way is, within limits."""
    places = np.vstack([r.log.odom.pose[:, :2] for r in runs]
                       + [np.array([g['goal_pose'][:2]]) for r in runs for g in r.goals])
    margin = 2.4 * max(np.abs(r.robot.hip_position).max() for r in runs)
    size = np.ptp(places, axis=0) + margin
    width = 9.2 if len(runs) == 1 else 6.4
    height = float(np.clip(width * size[1] / size[0], *WAY_HEIGHT))
    page = figure([Panel(motion.draw_way, height, timed=False, shared=False)], runs)
    if len(runs) > 1:
        # the same floor in both; the aspect widens one of the two directions, the same in both
        middle, half = 0.5 * (places.min(axis=0) + places.max(axis=0)), 0.55 * size
        for axes in page.axes:
            axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
            axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    return page


def _slip(runs: Sequence[Run]) -> Figure:
    return figure([Panel(slip.draw_timeline, 1.5), Panel(slip.draw_speed, 1.7),
                   Panel(slip.draw_evidence, 1.5)], runs)


def _looks(runs: Sequence[Run]) -> Figure | None:
    events = sorted(runs[0].events, key=lambda e: -e.distance)[:LOOKS]
    if not events or len(runs) > 1:
        return None
    return slip.close_looks(runs[0], sorted(events))


def _velocities(runs: Sequence[Run]) -> Figure:
    return figure([Panel(draw, 1.5) for draw in (motion.draw_forward, motion.draw_sideways,
                                                 motion.draw_turn)], runs)


def _wheels(runs: Sequence[Run]) -> Figure:
    return figure([Panel(wheels.draw_steering, 2.0), Panel(wheels.draw_measure, 1.4),
                   Panel(wheels.draw_torque, 1.8)], runs)


def _errors(runs: Sequence[Run]) -> Figure:
    return figure([Panel(motion.draw_errors, 2.2)], runs)


def _loop(runs: Sequence[Run]) -> Figure:
    rows = []
    if any(len(r.timing.latency) for r in runs):
        rows = [Panel(loop.draw_latency_histogram, 1.8, timed=False),
                Panel(loop.draw_latency, 1.4)]
    return figure([*rows, Panel(loop.draw_cycles, 1.2)], runs)


def _nodes(runs: Sequence[Run]) -> Figure:
    return figure([Panel(loop.draw_states, max(loop.states_height(r) for r in runs))], runs,
                  margin=1.45)


SECTIONS = (
    Section('slip', 'Slip', 'Three casters measure more than a rigid platform can do; a wheel '
            'that does not fit slips. Computed again from the joint states at their full rate, '
            'for every bag in the same way. Bars: from where the evidence χ² rose to where the '
            'slip had faded to a tenth, with the confidence that it was this wheel; pale below '
            '90 %. Small marks below a bar: the robot said so itself, and went on for up to '
            'half a second.', _slip, tables.slip_table),
    Section('looks', 'The largest slips', 'Left to right in time. Along is in the rolling '
            'direction. A wheel above the dashed line spins faster than the platform moves, one '
            'below it is dragged.', _looks),
    Section('way', 'Way', 'In the frame of the odometry. Ground truth lies broad below, so that '
            'both are seen where they agree; broad stretches in a wheel’s colour are its slips.',
            _way, tables.goal_table),
    Section('errors', 'Odometry and goal', 'How far odometry is from ground truth and from the '
            'goal of the moment.', _errors),
    Section('motion', 'Velocities', 'In the frame of the robot. Lines keep the largest and the '
            'smallest sample of each stretch: no peak is lost.', _velocities),
    Section('wheels', 'Steering and torques', 'σ_min is the smallest singular value of the scaled '
            'wheel Jacobian: at 0 the rolling lines of all driven wheels are parallel or meet in '
            'one point, and one direction cannot be pushed.', _wheels),
    Section('loop', 'Time', 'One cycle is one joint_states message; what it causes carries its '
            'stamp. The latency is from its arrival at the recorder to that of the wheel command '
            'with its stamp; a recorder in simulated time, which stands still within a cycle, '
            'cannot tell it.', _loop, tables.timing_table),
    Section('nodes', 'Diagnostics', 'Level of each node over time; the table has what was not OK.',
            _nodes, tables.complaint_table),
)
