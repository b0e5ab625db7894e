# SPDX-License-Identifier: Apache-2.0
"""``c3p drive --plant mujoco`` as users start it: real nodes and topics, contact, encoders."""

import json

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
pytest.importorskip('mujoco', reason='pip install .[sim]')

from drive_process import c3p  # noqa: E402

# encoders and latency are the default
WORSE = """
simulation:
  ros__parameters: {friction: 0.5, dropout: 0.03, wheel_noise: 0.5, mass_error: 0.1,
                    com_error: 0.01, seed: 3}
"""


@pytest.mark.slow
def test_it_reaches_its_goal_on_worse_ground_with_lost_samples(tmp_path):
    (tmp_path / 'worse.yaml').write_text(WORSE)
    done = c3p('drive', 1, 0, 0, '--plant', 'mujoco', '--realtime-factor', 0, '--params-file',
               tmp_path / 'worse.yaml', '--out', tmp_path, '--json', '-')
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures['reached'] is True and figures['failures'] == []
    # measured 0.04 cm; the goal zone is 5 cm
    assert figures['ground_truth_final_error_m'] < 0.02
    assert 0.0 < figures['align_time_s'] < 3.0 and figures['max_wheel_torque_nm'] <= 1.2
    # encoders: the odometry is not the truth
    assert figures['final_error_m'] != figures['ground_truth_final_error_m']
