# SPDX-License-Identifier: Apache-2.0
"""``c3p drive`` against the clock on the wall."""

import json

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from drive_process import KEYS, c3p  # noqa: E402
from patience import patient_parameters  # noqa: E402
from ros_bench import Bench  # noqa: E402
from virtual_time import RealTime  # noqa: E402

from c3p_simulation.simulation_node import SimulationNode  # noqa: E402


@pytest.mark.slow
@pytest.mark.real_time
def test_real_time_drive_reaches_its_goal(tmp_path):
    done = c3p('drive', 4, 0, 0, '--params-file', patient_parameters(tmp_path), '--out', tmp_path,
               '--json', '-')
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    # how fast and how exact beside other programs is a benchmark's question
    assert set(figures) >= KEYS and figures['reached'] is True and figures['failures'] == []
    assert figures['max_wheel_torque_nm'] <= 1.2


def test_a_second_robot_on_the_same_topics_is_refused(tmp_path):
    bench = Bench(RealTime())
    try:
        bench.add(SimulationNode)
        done = c3p('drive', 4, 0, 0, '--out', tmp_path)
    finally:
        bench.close()
    assert done.returncode == 2
    assert 'another robot' in done.stderr and '/simulation' in done.stderr
    assert 'ROS_DOMAIN_ID' in done.stderr
