# SPDX-License-Identifier: Apache-2.0
"""What goes to Rerun: the robot where it is, shapes that come and go, lines of the plots."""

import math

import numpy as np
import pytest

rr = pytest.importorskip('rerun', reason='pip install .[view]')
pytest.importorskip('trimesh', reason='pip install .[view]')

from c3p_bringup.cli.main import main  # noqa: E402
from c3p_description.reading.loader import load, robot_description  # noqa: E402
from c3p_viewers.rerun import caster  # noqa: E402
from c3p_viewers.rerun.caster import (  # noqa: E402
    CasterLog,  # noqa: E402
    live_numbers,
    log_run,
)
from c3p_viewers.rerun.layout import PLATFORM, TITLES, series, titles  # noqa: E402
from c3p_viewers.sources.moment import scene_of  # noqa: E402
from c3p_viewers.sources.visuals import visuals  # noqa: E402


class Recording:
    """Keeps what is logged in the place of Rerun's recording."""

    def __init__(self):
        self.time, self.logged, self.columns = None, [], {}

    def set_time(self, timeline, duration):
        assert timeline == 'time'
        self.time = duration

    def log(self, entity, what, static=False):
        self.logged.append((None if static else self.time, entity, what))

    def send_columns(self, entity, indexes, columns):
        self.columns[entity] = (indexes, columns)

    def of(self, entity):
        return [what for _, name, what in self.logged if name == entity]


@pytest.fixture
def log(robot):
    recording = Recording()
    return CasterLog(recording, robot, 'c3p'), recording


def numbers_of(batch):
    """Return the numbers of a component."""
    return np.array(batch.as_arrow_array().to_pylist(), float)


def test_links_hang_on_their_parents_and_have_their_shapes(log, robot):
    _, recording = log
    static = [(entity, what) for time, entity, what in recording.logged if time is None]
    wheel = f'{PLATFORM}/base_link/steering_link_1/wheel_link_1'
    meshes = [entity for entity, what in static if isinstance(what, rr.Mesh3D)]
    assert any(entity.startswith(f'{wheel}/visual') for entity in meshes)
    assert len(meshes) == len(visuals(robot_description('c3p')))


def test_visuals_are_as_large_as_the_robot(robot):
    plate = next(v for v in visuals(robot_description('c3p')) if v.link == 'base_link')
    reach = np.hypot(*plate.vertices[:, :2].T).max()
    # hips at 0.343 m, and a round corner
    assert 0.343 < reach < 0.343 + 0.1
    np.testing.assert_allclose(np.linalg.norm(plate.normals, axis=1), 1.0, atol=1e-6)
    assert plate.vertices.shape == plate.normals.shape and len(plate.vertices) % 3 == 0


def test_boxes_cylinders_and_balls_are_meshes_and_unknown_files_are_left_out():
    found = visuals("""<robot name="r"><material name="m"><color rgba="1 0 0 0.5"/></material>
      <link name="a"><visual><origin xyz="1 2 3" rpy="0 0 1.5707963"/>
        <geometry><box size="2 4 6"/></geometry><material name="m"/></visual>
        <visual><geometry><cylinder radius="0.5" length="2"/></geometry></visual>
        <visual><geometry><sphere radius="0.5"/></geometry></visual>
        <visual><geometry><mesh filename="package://other/x.stl"/></geometry></visual>
        <visual/></link></robot>""")
    assert [v.name for v in found] == ['visual_1', 'visual_2', 'visual_3']
    box = found[0].vertices
    # turned by a quarter: 4 along x and 2 along y
    np.testing.assert_allclose([box.min(axis=0), box.max(axis=0)], [[-1, 1, 0], [3, 3, 6]],
                               atol=1e-6)
    assert found[0].colour == (1.0, 0.0, 0.0, 0.5)


def test_a_moment_places_platform_and_casters(log, source):
    out, recording = log
    moment = source.at(2.0)
    out.moment(moment)
    placed = recording.of(PLATFORM)[-1]
    np.testing.assert_allclose(numbers_of(placed.translation)[0][:2], moment.pose[:2], atol=1e-6)
    x, y, z, w = numbers_of(placed.quaternion)[0]
    assert 2 * math.atan2(z, w) == pytest.approx(moment.pose[2], abs=1e-6)
    turned = recording.of(f'{PLATFORM}/base_link/steering_link_2')[-1]
    x, y, z, w = numbers_of(turned.quaternion)[0]
    assert abs(math.remainder(2 * math.atan2(z, w) - moment.steering[1], 2 * math.pi)) < 1e-5
    assert recording.time == pytest.approx(2.0)
    # the goal is said once
    out.moment(source.at(2.1))
    assert len(recording.of('odom/goal')) == 1


def test_shapes_that_are_not_shown_any_more_are_cleared(log, robot, source):
    out, recording = log
    slipping, rolling = source.at(1.3), source.at(2.0)
    names = [{shape.name for shape in scene_of(robot, m)} for m in (slipping, rolling)]
    assert 'suspect_2' in names[0] - names[1]
    out.moment(slipping)
    begin = len(recording.logged)
    out.moment(rolling)
    scene = f'{PLATFORM}/base_link/scene/'
    after = {entity.removeprefix(scene): what for _, entity, what in recording.logged[begin:]
             if entity.startswith(scene)}
    cleared = {name for name, what in after.items() if isinstance(what, rr.Clear)}
    assert cleared == names[0] - names[1] and set(after) - cleared == names[1]


def test_a_run_fills_every_line_of_every_plot(log, robot, source, monkeypatch):
    monkeypatch.setattr(caster, 'MOST_MOMENTS', 20)
    out, recording = log
    log_run(out, source)
    wanted = {f'plots/{plot}/{line}' for plot, lines in series(robot).items() for line in lines}
    assert set(recording.columns) == wanted and set(series(robot)) == set(TITLES)
    indexes, columns = recording.columns['plots/steering/caster_2']
    steering = np.degrees(source.log.joints.steering[:, 1])
    logged = np.ravel([list(batch.as_arrow_array().to_pylist()) for batch in columns])
    np.testing.assert_allclose(logged, steering)


def test_a_live_robot_fills_the_same_lines(log, robot, source):
    out, recording = log
    live_numbers(out, source.at(2.0))
    wanted = {f'plots/{plot}/{line}' for plot, lines in series(robot).items() for line in lines}
    assert {e for time, e, what in recording.logged if isinstance(what, rr.Scalars)} == wanted


def test_robots_with_steering_motors_have_a_plot_of_their_torques(robot):
    powered = load('powered_caster')
    assert titles(robot) == TITLES and set(titles(powered)) - set(TITLES) == {'turning'}
    found = caster.lines(powered, torque=np.arange(4.0), turning=np.arange(4.0, 8.0))
    assert {key for key in found if key[0] == 'turning'} == {
        ('turning', name) for name in series(powered)['turning']}
    assert found['turning', 'caster_2'] == 5.0 and found['torque', 'wheel_2'] == 1.0


def test_the_command_writes_a_recording(viewed_bag, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(caster, 'MOST_MOMENTS', 20)
    path = tmp_path / 'new' / 'run.rrd'
    assert main(['view', str(viewed_bag), '--save', str(path)]) == 0
    assert capsys.readouterr().out.strip() == str(path)
    # Rerun's own mark, and a run's worth of data
    data = path.read_bytes()
    assert data[:3] == b'RRF' and len(data) > 50_000
