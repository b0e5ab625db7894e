# SPDX-License-Identifier: Apache-2.0
"""The excitation against the real chain of nodes and a simulated robot."""

import os
import signal
import threading
from functools import partial

import numpy as np
import pytest

pytest.importorskip('rclpy')

from c3p_bringup import excite_live  # noqa: E402
from c3p_bringup.excite_live import ExcitationClient, ExcitationError  # noqa: E402
from c3p_dynamics.identification.excitation import Excitation  # noqa: E402


def test_the_robot_is_moved_and_stopped(in_process_robot):
    bench = in_process_robot
    excitation = Excitation(4.0, 0.4, 1.0)
    commands = bench.collect(excite_live.TwistStamped, 'cmd_vel')
    client = bench.add(partial(ExcitationClient, excitation))
    bench.wait_for(lambda: client.done, 'the end of the excitation')
    assert client.fault == ''
    twists = np.array([[c.twist.linear.x, c.twist.linear.y, c.twist.angular.z] for c in commands])
    # zeros open the velocity controller's lock and end the motion
    assert len(twists) > 100 and not twists[:20].any() and not twists[-20:].any()
    assert np.abs(twists).max(axis=0).min() > 0.05
    pose = bench.truth[-1].pose.pose.position
    assert np.hypot(pose.x, pose.y) < excitation.reach
    assert all(c.header.frame_id == 'base_link' for c in commands)


def test_a_robot_that_does_not_move_is_given_up(in_process_robot, monkeypatch):
    monkeypatch.setattr(excite_live, 'STUCK', 0.3)
    bench = in_process_robot
    bench.remove('velocity_controller')
    client = bench.add(partial(ExcitationClient, Excitation(20.0)))
    bench.wait_for(lambda: client.done, 'giving up')
    assert 'has not moved' in client.fault


def test_without_odometry_nothing_is_driven(tmp_path, monkeypatch):
    monkeypatch.setattr(excite_live, 'SILENCE', 0.05)
    with pytest.raises(ExcitationError, match='no odometry: is the robot running'):
        excite_live.excite_live(tmp_path / 'bag', Excitation(20.0), announce=lambda line: None)


def test_who_interrupts_stops_the_robot_first(tmp_path, monkeypatch):
    stopped = []
    stop = ExcitationClient.stop

    def watched(client, fault):
        stop(client, fault)
        # zero could still be published
        stopped.append((fault, client.context.ok()))

    monkeypatch.setattr(ExcitationClient, 'stop', watched)
    # the signal comes before it misses the odometry, on every machine
    monkeypatch.setattr(excite_live, 'SILENCE', 600.0)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(ExcitationError, match='interrupted; the recording is in'):
        excite_live.excite_live(tmp_path / 'bag', Excitation(20.0),
                                announce=lambda _: timer.start())
    assert stopped == [('interrupted', True)]
