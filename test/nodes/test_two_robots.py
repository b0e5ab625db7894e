# SPDX-License-Identifier: Apache-2.0
"""
Two robots in two namespaces of one graph, each a process: nothing of one reaches the other.

Each runs on a clock of its own, which waits for its controllers: a busy computer is only slower.
"""

import pytest
import yaml

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from graph_watch import GraphWatch, check_two_robots  # noqa: E402
from patience import patient_parameters  # noqa: E402

from c3p_bringup.processes import NodeProcess  # noqa: E402

# where they start in the truth; odometry begins at zero
STARTS = {'robot1': [0.0, 0.0, 0.0], 'robot2': [2.0, 0.0, 0.0]}

LAW = {'controller': 'mpc'}


@pytest.fixture
def robots(tmp_path):
    """Both robots, and who watches them."""
    running = []
    for space, pose in STARTS.items():
        start = tmp_path / f'{space}.yaml'
        start.write_text(yaml.safe_dump({
            '/**': {'ros__parameters': {'use_sim_time': True}},
            '/**/position_controller': {'ros__parameters': LAW},
            '/**/simulation': {'ros__parameters': {
                'start_pose': pose, 'realtime': 'wait', 'publish_clock': True,
                # stamps that differ: 5 and 5.0025 ms
                'rate': 200.0 if space == 'robot1' else 199.9}},
            # the chain is one process: nobody in it waits to be discovered
            '/**/velocity_controller': {'ros__parameters': {'start_silence': 0.3, **LAW}}}))
        running.append(NodeProcess(
            space, 'c3p_bringup.robot_nodes',
            ['-r', f'__ns:=/{space}', '-r', '/clock:=clock', '-r', '/tf:=tf',
             '-r', '/tf_static:=tf_static',
             '--params-file', str(patient_parameters(tmp_path, '/**/')), '--params-file',
             str(start), '--', '--sim'], tmp_path / f'{space}.log'))
    watch = GraphWatch(*STARTS)
    yield watch, running
    for process in running:
        process.stop()
    watch.close()


@pytest.mark.real_time
@pytest.mark.timeout(900)
def test_two_robots_in_one_graph_drive_to_their_own_goals(robots):
    watch, running = robots
    watch.wait(lambda: any(p.ended() for p in running) or watch.ready(), 'two robots')
    assert not any(p.ended() for p in running), [p.ended() for p in running]
    check_two_robots(watch, {space: pose[:2] for space, pose in STARTS.items()},
                     {'robot1': (0.0, 0.3, 0.0), 'robot2': (-0.3, 0.0, 0.0)})
    assert {'robot1/velocity_controller', 'robot2/simulation'} <= set(watch.health)
