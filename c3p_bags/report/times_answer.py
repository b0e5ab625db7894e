# SPDX-License-Identifier: Apache-2.0
"""Answer of a report on the times of the joint samples."""

from __future__ import annotations

from c3p_bags.report.run import AnalysedRun
from c3p_bags.report.slip_answer import Answer
from c3p_kinematics.calibration.words import INTERVAL

# difference of the ages of two joints, s, up to which they count as of one instant
TOGETHER = 1e-3


def times_answer(run: AnalysedRun) -> list[Answer]:
    """Return the answer by the joint states; empty where they count as of one instant."""
    times = run.slip.times
    if times is None:
        return []
    apart, deviation = times.apart
    together = max(apart - INTERVAL * deviation, times.changing) < TOGETHER
    text = times.text(run.robot.steering_joints, run.robot.wheel_joints)
    detail = f'{text[0].upper()}{text[1:]}, by {times.windows} windows of motion.'
    return [Answer('Were the joints sampled together?', 'Yes' if together else
                   f'Up to {1e3 * max(apart, times.changing):.1f} ms apart', detail,
                   'good' if together else 'note', 'loop')]
