# SPDX-License-Identifier: Apache-2.0
"""The screen fits in every terminal and says what counts."""

import re

import numpy as np
import pytest

from c3p_bringup.teleop.screen import RED, TeleopView, lines, paint, painted

FULL = TeleopView('c3p', 'cmd_vel_keyboard', np.array([0.2, 0.0, -0.5]), 0.2, 0.5,
                  np.array([0.19, 0.01, -0.4]), 0.01, np.radians([30.0, -120.0, 45.0]), 0.5,
                  'none', 'PRESSED here; r releases', True, 'nobody takes cmd_vel')


def shown(text):
    """Return the lines that a terminal shows."""
    plain = re.sub(r'\x1b\[[0-9;?]*[A-Za-z]', '', text)
    return plain.split('\r\n')


def test_what_is_known_is_shown():
    text = '\n'.join(lines(FULL))
    for word in ('c3p ', 'cmd_vel_keyboard', '-0.50 rad/s', '0.19', '-120.0°', '0.500',
                 '##########          |', 'PRESSED', 'nobody takes'):
        assert word in text, word


def test_what_is_not_known_is_a_dash():
    text = lines(TeleopView('c3p', 'cmd_vel'))
    assert [line.split()[-1] for line in text if line.split()[:1] in (
        ['odometry'], ['steering'], ['sigma_min'], ['slip'])] == ['-'] * 4
    assert any('silent' in line for line in text)


def test_an_odometry_that_is_old_says_so():
    old = TeleopView('c3p', 'cmd_vel', twist=np.zeros(3), twist_age=1.25)
    assert any(line.endswith('1.2 s old') for line in lines(old))


@pytest.mark.parametrize('columns, rows', [(100, 40), (80, 24), (40, 24), (80, 5), (1, 1)])
def test_it_never_exceeds_the_terminal(columns, rows):
    text = shown(painted(FULL, columns, rows))
    assert len(text) <= rows and all(len(line) <= columns for line in text)
    # what changes is at the bottom, and that stays
    assert text[-1] == lines(FULL)[-1][:columns]


def test_a_pressed_e_stop_is_red():
    text = painted(FULL, 80, 24)
    assert f'{RED}   e-stop    PRESSED' in text
    assert RED not in painted(TeleopView('c3p', 'cmd_vel'), 80, 24)


def test_colours_count_from_the_last_line():
    assert paint(['a', 'b'], {1: '<'}, 9, 9).count('<b') == 1
    assert paint(['a', 'b'], {2: '<'}, 9, 1).count('<') == 0
