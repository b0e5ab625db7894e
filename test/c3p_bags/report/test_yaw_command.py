# SPDX-License-Identifier: Apache-2.0
"""A yaw rate that does not follow its command along the path to a goal is explained, not drawn."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from c3p_bags.report.drive_page import _velocities
from c3p_bags.report.yaw_command import NOTE, is_followed
from c3p_bags.runs.run_log import Motion, Series

TIME = np.linspace(0.0, 4.0, 81)


@pytest.mark.parametrize(('followed', 'reached'), [(True, True), (False, True), (False, False)])
def test_the_panel_has_the_command_or_the_reason_why_not(followed, reached):
    command = 0.05 * np.sin(TIME)
    twist = np.column_stack([np.full_like(TIME, 0.3), np.zeros_like(TIME),
                             command if followed else -0.2 * np.cos(3 * TIME)])
    pose = np.zeros((len(TIME), 3))

    class Log:
        cmd_vel = Series(TIME, np.column_stack([twist[:, :2], command]))
        odom = Motion(TIME, pose, twist, None, None, 'odom', 'base_link')
        ground_truth = None

    panels = list(Figure().subplots(3))
    _velocities(panels, Log, 0.0, reached)
    names = [[line.get_label() for line in axes.lines] for axes in panels]
    # of a goal that was missed the command is part of the evidence
    hidden = reached and not followed
    assert names == [['reference', 'sensed']] * 2 + [['sensed'] if hidden else names[0]]
    assert [text.get_text() for text in panels[2].texts] == ([NOTE] if hidden else [])


def test_small_commands_and_gaps_are_followed():
    assert is_followed(np.full(5, 0.004), np.full(5, 0.3))
    assert is_followed(np.array([0.1, np.nan, 0.1]), np.array([0.1, 5.0, 0.1]))
    assert not is_followed(np.full(5, 0.1), np.zeros(5) - 0.01)
