# SPDX-License-Identifier: Apache-2.0
"""The robot in Gazebo's physics: it stands, rolls as in MuJoCo, and its laws drive it."""

import numpy as np
import pytest
from gazebo_plant import GazeboPlant
from PIL import Image

pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')

from test_terrain_gazebo import felt  # noqa: E402

from c3p_controller.goals.path_controller import PathController, PathGains  # noqa: E402
from c3p_description.reading.files import share_file  # noqa: E402
from c3p_experiments.loop.closed_loop import Held, run_loop  # noqa: E402
from c3p_experiments.loop.command_sources import GoalSource  # noqa: E402
from c3p_experiments.loop.controllers import make_controller  # noqa: E402
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings  # noqa: E402


@pytest.fixture
def plant():
    """Return the robot on the level floor."""
    one = GazeboPlant()
    yield one
    one.close()


def run(plant, torques, seconds, steering=0.0):
    """Return the true pose after constant torques."""
    plant.reset(steering=steering)
    for _ in range(round(seconds / 0.01)):
        plant.step(torques, 0.01)
    return plant.truth().pose


@pytest.mark.real_time
def test_it_stands_where_it_is_put(plant):
    pose = run(plant, np.zeros(3), 10.0)
    # it sinks by 10 nm
    assert np.abs([*pose, plant.height, plant.tilt]).max() < 1e-6


@pytest.mark.real_time
def test_equal_torques_roll_it_straight(plant):
    """MuJoCo: 1.358 m; Gazebo Harmonic: 1.351 m, with a wheel limit of 25 rad/s."""
    x, y, yaw = run(plant, np.full(3, 0.2), 3.0)
    assert y == pytest.approx(1.3514, abs=0.005) and abs(x) < 1e-9 and abs(yaw) < 1e-9


@pytest.mark.real_time
@pytest.mark.parametrize('torques, steering, expected', [
    # as in docs/gazebo.md, of MuJoCo; both put the scrub of the tyres elsewhere
    ((-0.3, 0.5, 0.1), 0.1, (-0.0069, 0.0220, -0.1306)),
    ((0.6, 0.0, 0.0), 0.0, (0.0029, 0.0403, 0.1048))])
def test_torques_turn_it_as_in_mujoco(plant, torques, steering, expected):
    pose = run(plant, np.array(torques), 0.5, steering)
    np.testing.assert_allclose(pose, expected, atol=1.2e-3)


@pytest.mark.real_time
def test_it_stays_at_the_origin_of_the_rough_world(tmp_path):
    """Without torque: the ground is level there, and the robot neither sinks nor rolls."""
    sdf = share_file('c3p_description/worlds/rough.sdf')
    x, y, heights = felt(sdf)
    low, high = heights.min(), heights.max()
    file = tmp_path / 'heights.png'
    # 0.5 mm per level of 8 bits; the disc below the robot is one level, and is moved to 0
    levels = np.round((heights - low) / (high - low) * 255).astype(np.uint8)
    n, middle = len(x), int(levels[len(x) // 2, len(x) // 2])
    Image.fromarray(np.ascontiguousarray(levels.T[::-1])).save(file)
    # gz-physics has cells of size/n
    size = [(edge[-1] - edge[0]) * n / (n - 1) for edge in (x, y)]
    plant = GazeboPlant('rough', (file, *size, high - low, 0.0, 0.0,
                                  -middle / 255 * (high - low)))
    try:
        pose = run(plant, np.zeros(3), 10.0)
        assert np.abs(pose).max() < 2e-3, pose
        assert abs(plant.height) < 2e-4 and plant.tilt < 1e-3
    finally:
        plant.close()


@pytest.mark.real_time
def test_four_metres_from_the_singular_start(plant):
    """By encoders, with the delay of the motors: a path of 2.3 mm."""
    controller, path, rms = make_controller('mpc', plant.robot), 0.005, 0.25
    log = run_loop(SensedPlant(plant, SensorSettings(latency=0.010)), controller.law,
                   GoalSource(PathController(PathGains()), [(4.0, 0.0, 0.0)]), duration=16.0,
                   stop=Held())
    pose = log.ground_truth.pose
    assert log.ended
    assert np.hypot(*(pose[-1, :2] - (4.0, 0.0))) < 0.005
    assert np.abs(pose[:, 1]).max() < path and pose[:, 0].max() < 4.0 + path
    cruise = (pose[:, 0] > 1.0) & (pose[:, 0] < 3.4)
    assert np.sqrt(np.mean(log.wheel_effort.value[cruise]**2)) < rms
