# SPDX-License-Identifier: Apache-2.0
"""What the velocity controller does with the stamps of Nav2's velocity smoother."""

import numpy as np
import pytest
from nav2_table import FILE, ROOT, values

from c3p_controller.command_interlock import CommandInterlock
from c3p_ros.messages import MessageError, check_age
from c3p_ros.schema import read_schema

SMOOTHER = values(FILE, 'velocity_smoother')
SCHEMA = read_schema(ROOT / 'c3p_controller/velocity_controller_parameters.yaml')
TIMEOUT = SCHEMA['cmd_vel_timeout']['default_value']


def smoothed(release, silent, speed):
    """
    Yield (time, stamp, speed), s and m/s, of the smoother once the controller server is silent.

    velocity_smoother.cpp, smootherTimer: from `silent` on no command arrives. The stamp is that of
    the last command; 1.5 adds the time since that command. After velocity_timeout the last command
    is replaced by zeros of the present time, but not the time of its arrival.
    """
    stamp, period, zeros = silent, 1.0 / SMOOTHER['smoothing_frequency'], False
    for step in range(1, 1000):
        time = silent + step * period
        since = time - silent
        sent = stamp + since if release == '1.5' else stamp
        if since > SMOOTHER['velocity_timeout']:
            stamp, zeros = time, True
        speed = max(speed + zeros * SMOOTHER['max_decel'][0] * period, 0.0)
        yield time, sent, speed
        if speed == 0.0:
            return


def followed(release, start=10.0, speed=0.5):
    """Return the times and speeds of the velocity controller, and how many it rejects."""
    interlock, rejected, found = CommandInterlock(TIMEOUT, 3.0), 0, []
    interlock.lock = ''
    interlock.command(np.array([speed, 0.0, 0.0]), start)
    commands = {round(time, 6): (stamp, value)
                for time, stamp, value in smoothed(release, start, speed)}
    for step in range(1, 101):
        now = round(start + 0.02 * step, 6)
        if now in commands:
            stamp, value = commands[now]
            try:
                check_age(int(stamp * 1e9), int(now * 1e9), TIMEOUT)
                interlock.command(np.array([value, 0.0, 0.0]), now)
            except MessageError:
                rejected += 1
        active = interlock.active(now)
        found.append((now - start, 0.0 if active is None else active[0]))
    return np.array(found), rejected


@pytest.mark.parametrize('release, brakes, lost', [('1.3', 0.54, 1), ('1.5', 1.04, 24)])
def test_a_silent_controller_server_stops_the_robot(release, brakes, lost):
    found, rejected = followed(release)
    # by more than one step of the ramp
    slower = found[found[:, 1] < 0.5 - 1.5 * 0.02, 0]
    assert slower[0] == pytest.approx(brakes, abs=0.021)
    # docs/nav2.md: 1.0 s in 1.5, where the stamps of the ramp are ahead
    assert rejected == lost and found[-1, 1] == 0.0
