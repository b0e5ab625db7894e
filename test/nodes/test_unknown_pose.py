# SPDX-License-Identifier: Apache-2.0
"""Casters that contradict each other for seconds are an error of the odometry's node."""

from diagnostic_msgs.msg import DiagnosticStatus

from c3p_kinematics.contradiction import REPORTED
from c3p_kinematics.fault_report import FaultReport


def test_a_contradiction_that_lasts_is_an_error_until_it_ends(in_process_robot, monkeypatch):
    bench, level = in_process_robot, DiagnosticStatus.ERROR
    assert bench.health['sensed_kinematics'].level != level
    monkeypatch.setattr(FaultReport, 'several', True)
    bench.run(0.8 * REPORTED)
    assert bench.health['sensed_kinematics'].level != level
    bench.run(0.3 * REPORTED)
    status = bench.health['sensed_kinematics']
    assert status.level == level and status.message.startswith('pose: unknown: more than one')
    monkeypatch.setattr(FaultReport, 'several', False)
    bench.run(1.0)
    assert bench.health['sensed_kinematics'].level != level
