# SPDX-License-Identifier: Apache-2.0
"""The tricycle in Rerun, from a made-up bag and from messages as they come."""

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

rr = pytest.importorskip('rerun', reason='pip install .[view]')
pytest.importorskip('trimesh', reason='pip install .[view]')
pytest.importorskip('xacro', reason='pip install xacro')

from synthetic import opened, read_raw  # noqa: E402

from c3p_bags.runs.ride_log import TERRAIN, read_ride  # noqa: E402
from c3p_bags.storage.bag_writer import BagError, BagWriter  # noqa: E402
from c3p_bringup.cli.main import main  # noqa: E402
from c3p_description.pvc_model import JOINTS  # noqa: E402
from c3p_description.reading.loader import load_tricycle  # noqa: E402
from c3p_viewers.rerun import show, tricycle  # noqa: E402
from c3p_viewers.rerun.layout import PLATFORM  # noqa: E402
from c3p_viewers.rerun.tricycle import (  # noqa: E402
    PLOTS,
    TITLES,
    TricycleLog,
    roll_pitch,
)
from c3p_viewers.sources.ride_reader import TOPICS, RideReader  # noqa: E402

START, PERIOD, COUNT = 1_700_000_000_000_000_000, 20_000_000, 100


def stamped(types, nanoseconds):
    return types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](
        *divmod(nanoseconds, 1_000_000_000)), 'odom')


def rotations():
    return Rotation.from_euler('ZYX', np.column_stack([
        np.linspace(0.0, 1.0, COUNT), np.linspace(0.2, -0.1, COUNT),
        np.linspace(-0.3, 0.3, COUNT)])).as_quat()


def joint(k):
    """Return the angles of the joints in a sample."""
    return 0.01 * k + 0.1 * np.arange(6)


@pytest.fixture(scope='module')
def bag(tmp_path_factory):
    """Two seconds over a ground of one triangle, which another one follows."""
    path = tmp_path_factory.mktemp('tricycle') / 'bag'
    with BagWriter(path) as writer:
        t = writer.types.types
        writer.note({'c3p_robot': 'pvc_tricycle'})
        for topic, kind in TOPICS.items():
            writer.add(f'/{topic}', kind, latched=topic == TERRAIN)
        point, vector = t['geometry_msgs/msg/Point'], t['geometry_msgs/msg/Vector3']
        quaternion, pose = t['geometry_msgs/msg/Quaternion'], t['geometry_msgs/msg/Pose']
        duration = t['builtin_interfaces/msg/Duration'](0, 0)
        colour = t['std_msgs/msg/ColorRGBA']
        nothing = np.zeros(0, np.uint8)
        for number, after in ((0, -1), (1, 50)):
            when = START + after * PERIOD
            header = stamped(t, max(when, START))
            writer.write_message(f'/{TERRAIN}', when, t['visualization_msgs/msg/MarkerArray']([
                t['visualization_msgs/msg/Marker'](
                    header, 'terrain', 0, 11, 0,
                    pose(point(0.0, 0.0, 0.0), quaternion(0.0, 0.0, 0.0, 1.0)),
                    vector(1.0, 1.0, 1.0), colour(1.0, 1.0, 1.0, 1.0), duration, False,
                    [point(float(x), y, z) for x, y, z in (
                        (number, 0.0, 0.0), (1, 0.0, 0.0), (0, 1.0, 0.5))],
                    [colour(0.2, 0.4, 0.6, 1.0)] * 3, '',
                    t['sensor_msgs/msg/CompressedImage'](header, '', nothing), [], '', '',
                    t['visualization_msgs/msg/MeshFile']('', nothing), False)]))
        for k, rotation in enumerate(rotations()):
            when = START + k * PERIOD
            header = stamped(t, when)
            # in another order than ours
            writer.write_message('/joint_states', when, t['sensor_msgs/msg/JointState'](
                header, list(JOINTS[::-1]), joint(k)[::-1].copy(), np.full(6, 0.5),
                np.zeros(0)))
            writer.write_message('/odom', when, t['nav_msgs/msg/Odometry'](
                header, 'base_footprint', t['geometry_msgs/msg/PoseWithCovariance'](
                    pose(point(0.02 * k, 0.0, 0.3 + 0.001 * k), quaternion(*rotation)),
                    np.zeros(36)),
                t['geometry_msgs/msg/TwistWithCovariance'](t['geometry_msgs/msg/Twist'](
                    vector(1.0, 0.0, 0.0), vector(0.0, 0.0, 0.25)), np.zeros(36))))
    return path


class Recording:
    """Keeps what is logged in the place of Rerun's recording."""

    def __init__(self):
        self.time, self.logged, self.columns = None, [], {}

    def set_time(self, timeline, duration):
        self.time = duration

    def log(self, entity, what, static=False):
        self.logged.append((None if static else self.time, entity, what))

    def send_columns(self, entity, indexes, columns):
        self.columns[entity] = np.ravel([batch.as_arrow_array().to_pylist() for batch in columns])

    def flush(self, timeout_sec=None):
        pass

    def of(self, entity):
        return [(time, what) for time, name, what in self.logged if name == entity]


def numbers_of(batch):
    """Return the numbers of a component."""
    return np.array(batch.as_arrow_array().to_pylist(), float)


@pytest.fixture
def shown(bag, monkeypatch):
    """Return what `c3p view` of the bag logs; the bag says which robot it is."""
    recording = Recording()
    monkeypatch.setattr(show, 'spawn', lambda layout: recording)
    assert main(['view', str(bag)]) == 0
    return recording


def test_the_tricycle_stands_where_odometry_says_with_its_joints(shown):
    time, placed = shown.of(PLATFORM)[-1]
    # the newest sample of that time
    k = int(time / 0.02 + 1e-6)
    np.testing.assert_allclose(numbers_of(placed.translation)[0],
                               [0.02 * k, 0.0, 0.3 + 0.001 * k], atol=1e-6)
    np.testing.assert_allclose(numbers_of(placed.quaternion)[0], rotations()[k], atol=1e-6)
    entity = next(name for _, name, _ in shown.logged if name.endswith('/camber_link_2')
                  or name.endswith('camber_arm_link_2'))
    turn = Rotation.from_quat(numbers_of(shown.of(entity)[-1][1].quaternion)[0])
    assert turn.magnitude() == pytest.approx(joint(k)[JOINTS.index('camber_joint_2')], abs=1e-5)
    # 20 moments a second
    assert len(shown.of(PLATFORM)) == pytest.approx(20 * 1.98, abs=1)


def test_the_ground_comes_when_it_is_shown(shown):
    (first, one), (then, other) = shown.of('odom/ground')
    assert first == 0.0 and then == pytest.approx(1.0, abs=0.051)
    np.testing.assert_allclose(numbers_of(one.vertex_positions),
                               [[0, 0, 0], [1, 0, 0], [0, 1, 0.5]])
    assert numbers_of(other.vertex_positions)[0, 0] == 1.0
    # 0.2, 0.4, 0.6, opaque
    assert {int(v) for v in np.ravel(one.vertex_colors.as_arrow_array().to_pylist())} == {
        0x336699FF}


def test_every_line_of_every_plot_has_its_values(shown):
    assert set(shown.columns) == {f'plots/{plot}/{line}' for plot, named in PLOTS.items()
                                  for line in named}
    assert set(TITLES) == set(PLOTS)
    camber = [joint(k)[JOINTS.index('camber_joint_3')] for k in range(COUNT)]
    np.testing.assert_allclose(shown.columns['plots/camber/wheel_3'], np.degrees(camber))
    np.testing.assert_allclose(shown.columns['plots/speed/turn'], 0.25)
    np.testing.assert_allclose(shown.columns['plots/tilt/pitch'],
                               np.degrees(np.linspace(0.2, -0.1, COUNT)), atol=1e-9)


def test_roll_and_pitch_are_those_of_scipy():
    random = Rotation.random(200, random_state=1)
    _, pitch, roll = random.as_euler('ZYX').T
    np.testing.assert_allclose(roll_pitch(random.as_quat()), [roll, pitch], atol=1e-12)


def test_a_live_vehicle_is_shown_as_its_bag(bag, shown):
    recording, reader = Recording(), RideReader()
    log = TricycleLog(recording, load_tricycle('pvc_tricycle'), 'pvc_tricycle')
    coming = read_raw(bag)

    def going():
        message = next(coming, None)
        if message is not None:
            topic = message.topic[1:]
            reader.put(topic, message.data, tricycle.clock.monotonic(), TOPICS[topic])
        return message is not None

    tricycle.follow(log, reader, going)
    assert len(recording.of('odom/ground')) == 2
    time, placed = recording.of(PLATFORM)[-1]
    assert time == pytest.approx(1.98)
    np.testing.assert_allclose(numbers_of(placed.quaternion)[0], rotations()[-1], atol=1e-6)
    assert {e for _, e, what in recording.logged if isinstance(what, rr.Scalars)} == set(
        shown.columns)
    assert recording.of('odom/ways/driven')
    # what falls silent is not known any more, and what cannot be read never was
    assert reader.moment(tricycle.clock.monotonic() + 1.0) is None
    reader.put('odom', b'\0\1\0\0nonsense', 1e9, TOPICS['odom'])
    reader.put(TERRAIN, b'\0\1\0\0nonsense', 1e9, TOPICS[TERRAIN])
    assert reader.moment(1e9) is None and reader.ground() is None


def test_the_command_writes_a_recording_and_says_so(bag, tmp_path, capsys):
    file, told = tmp_path / 'new' / 'ride.rrd', tmp_path / 'told.json'
    assert main(['view', str(bag), '--save', str(file), '--json', str(told)]) == 0
    assert file.read_bytes()[:3] == b'RRF'
    assert json.loads(told.read_text()) == {
        'viewer': 'rerun', 'robot': 'pvc_tricycle', 'bag': str(bag), 'duration_s': 1.98,
        'files': {'recording': str(file)}}


@pytest.mark.parametrize(('arguments', 'says'), [
    (['--viewer', 'mujoco'], '--viewer rerun'), (['--viewer', 'foxglove'], '--viewer rerun'),
    (['--robot', 'c3p'], 'steering_joint_2')])
def test_what_does_not_fit_is_told(bag, capsys, arguments, says):
    assert main(['view', str(bag), *arguments]) == 2
    assert says in capsys.readouterr().err


def test_a_bag_of_another_robot_is_told(tmp_path):
    with BagWriter(tmp_path / 'bag') as writer:
        writer.add('/joint_states', TOPICS['joint_states'])
    with pytest.raises(BagError, match='camber_joint_2'):
        opened(read_ride, tmp_path / 'bag')
