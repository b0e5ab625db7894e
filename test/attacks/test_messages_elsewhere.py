# SPDX-License-Identifier: Apache-2.0
"""
Any message at any subscriber outside the chain: mux, bridge, hardware, cards, rough ground, and
what records and shows. As in test_messages_to_the_chain.py; the last test looks that no node is
missing.
"""

import importlib
import inspect
from types import SimpleNamespace

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from bad_messages import efforts, joints, put, stamped  # noqa: E402
from damaged_messages import Attack, count  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import Twist, TwistStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from source_tree import ROOT, module_name  # noqa: E402
from std_msgs.msg import Bool, String  # noqa: E402
from synthetic import topics_of  # noqa: E402
from wired import LIMIT, Wired, deliver  # noqa: E402

from c3p_bags.player.player_node import PlayerNode  # noqa: E402
from c3p_bags.promises.polled_topics import TopicBatch  # noqa: E402
from c3p_bags.promises.safety_monitor_node import SafetyMonitorNode  # noqa: E402
from c3p_bags.recorder.recorder_node import RecorderNode  # noqa: E402
from c3p_bags.storage.bag_writer import BagWriter  # noqa: E402
from c3p_bringup.drive_client import DriveClient  # noqa: E402
from c3p_bringup.excite_live import ExcitationClient  # noqa: E402
from c3p_bringup.teleop.robot_link import RobotLink  # noqa: E402
from c3p_bringup.teleop.screen import TeleopView  # noqa: E402
from c3p_controller.module_controller_node import ModuleControllerNode  # noqa: E402
from c3p_controller.twist_mux_node import TwistMuxNode  # noqa: E402
from c3p_description import load  # noqa: E402
from c3p_hardware.hardware_interface_node import HardwareInterfaceNode  # noqa: E402
from c3p_hardware.ros2_control_bridge_node import Ros2ControlBridgeNode  # noqa: E402
from c3p_hardware.wheel_gate import GateSettings, WheelGate  # noqa: E402
from c3p_rough_ground.node.rough_ground_node import RoughGroundNode  # noqa: E402
from c3p_simulation.emulated_cards_node import EmulatedCardsNode  # noqa: E402
from c3p_viewers.marker_node import MarkerNode  # noqa: E402

SEED = 20261123
C3P = load('c3p')
# ns
PERIOD, LONG = 20_000_000, 10_000_000_000


@pytest.fixture
def wired():
    wired = Wired()
    # whatever is published has a listener
    wired.listeners = 1
    yield wired
    wired.close()


def give(wired, topic, message):
    """Call those who subscribe `topic`."""
    (subscription,) = wired.subscriptions(topic)
    deliver(subscription, type(message), message)


def beat(wired, *acts):
    """Return a call that lets a period pass, and calls `acts`."""
    def pass_on():
        wired.time += PERIOD
        wired.watch()
        for act in acts:
            act()

    return pass_on


def command(wired, x, kind=TwistStamped):
    """Return a command along x, of now."""
    if kind is Twist:
        return put(Twist(), 'linear.x', x)
    return put(stamped(TwistStamped, wired.now(), 'base_link'), 'twist.linear.x', x)


@pytest.mark.parametrize('kind', [TwistStamped, Twist])
def test_a_mux_passes_commands_afterwards(wired, kind):
    node = wired.add(TwistMuxNode, use_stamped=kind is TwistStamped)
    source = next(s.topic_name.lstrip('/') for s in node.subscriptions if s.msg_type is kind)
    locks = [s for s in node.subscriptions if s.msg_type is Bool]

    def drive(x):
        for lock in locks:
            lock.callback(Bool(data=False))
        give(wired, source, command(wired, x, kind))

    for _ in range(200):
        beat(wired, lambda: drive(0.0))()
    passed = wired.published['cmd_vel']
    Attack(SEED, beat(wired, lambda: drive(0.0), lambda: drive(0.1)))(node, wired.now)
    # a command of higher priority, or a lock, keeps others out
    assert locks and wired.published['cmd_vel'] - passed > count() // 100
    wired.time += LONG
    for _ in range(200):
        beat(wired, lambda: drive(0.0))()
    drive(0.2)
    last = wired.last['cmd_vel']
    assert getattr(last, 'twist', last).linear.x == 0.2


@pytest.mark.parametrize('direction', ['to_ros2_control', 'from_ros2_control'])
def test_a_bridge_gives_torques_afterwards(wired, direction):
    node = wired.add(Ros2ControlBridgeNode, direction=direction)
    into, out = node._source, node._publisher.topic_name.lstrip('/')

    def send(torque):
        give(wired, 'joint_states', joints(wired.now()))
        give(wired, into, efforts(wired.now(), [torque, torque / 2, 0.0]))

    Attack(SEED, beat(wired, lambda: send(0.1), lambda: send(0.0)))(node, wired.now)
    assert wired.published[out] > count() // 10
    wired.time += LONG
    for _ in range(20):
        beat(wired, lambda: send(0.0))()
    assert node._gate.open
    send(0.2)
    last = wired.last[out]
    effort = last.data if direction.startswith('to') else wired._readers[JointState](last).effort
    np.testing.assert_allclose(effort, [0.2, 0.1, 0.0])


@pytest.mark.parametrize('interface', ['position', 'velocity'])
@pytest.mark.parametrize('kind', [TwistStamped, Twist])
def test_modules_are_driven_afterwards(wired, kind, interface):
    node = wired.add(ModuleControllerNode, robot='tricycle_agv', steering_interface=interface,
                     use_stamped_vel=kind is TwistStamped)

    def drive(x):
        give(wired, 'joint_states', joints(wired.now()))
        give(wired, 'cmd_vel', command(wired, x, kind))

    Attack(SEED, beat(wired, lambda: drive(0.0), lambda: drive(0.1)))(node, wired.now)
    assert wired.published[f'module_controller/steering_{interface}'] > count() // 10
    wired.time += LONG
    for _ in range(100):
        beat(wired, lambda: drive(0.0))()
    for _ in range(100):
        beat(wired, lambda: drive(0.2))()
    np.testing.assert_allclose(wired.last['module_controller/wheel_velocity'].data,
                               [0.2 / 0.0325])


def test_a_hardware_interface_takes_efforts_afterwards(wired):
    node = wired.add(HardwareInterfaceNode, autostart='unconfigured')
    gate, taken = WheelGate(C3P, GateSettings()), []

    def take(torque, stamp):
        gate.command(torque, wired.time * 1e-9)
        given = gate.torque_at(wired.time * 1e-9, np.full(3, 1e9))
        assert np.isfinite(given).all() and (abs(given) <= LIMIT).all()
        taken.append(torque)

    # in the place of the bus; what passes goes through the gate that its cycle has
    node._link = SimpleNamespace(command=take, close=lambda: None, metrics=dict)
    node._on_watch, node.diagnostics.more = lambda: None, tuple
    Attack(SEED, beat(wired, lambda: give(wired, 'wheel_effort', efforts(
        wired.now(), [0.0, 0.0, 0.0]))))(node, wired.now)
    give(wired, 'wheel_effort', efforts(wired.now(), [0.3, 0.2, 0.1]))
    np.testing.assert_array_equal(taken[-1], [0.3, 0.2, 0.1])


def test_emulated_cards_take_faults_afterwards(wired):
    node = wired.add(EmulatedCardsNode)
    # the cards' own thread goes by the clock
    node._worker.stop()
    Attack(SEED, beat(wired, lambda: node.cards.advance(0.001)))(node, wired.now)
    give(wired, 'emulated_cards/inject', String(data='silence:drive2+0.5'))
    node.cards.advance(0.01)
    assert node.cards.present_faults and np.isfinite(node.cards.truth.pose).all()
    assert node.diagnostics.refused('~/inject') > count() // 4


@pytest.mark.parametrize('kind', [TwistStamped, Twist])
def test_a_tricycle_drives_over_rough_ground_afterwards(wired, kind):
    node = wired.add(RoughGroundNode, use_stamped_vel=kind is TwistStamped, publish_clock=True,
                     autodrive=False, terrain='flat')
    node._pace.stop()

    def advance():
        node._advance(1)
        wired.time = node._stamps.now

    Attack(SEED, beat(wired, advance))(node, wired.now)
    node.run.restart()
    before = node.run.distance
    for _ in range(100):
        give(wired, 'cmd_vel', command(wired, 0.2, kind))
        advance()
    assert node.run.distance > before and not node.run.ended
    assert np.isfinite(node.run.state.position).all()


def test_the_safety_monitor_judges_afterwards(wired, monkeypatch):
    node = wired.add(SafetyMonitorNode)
    rng = np.random.default_rng(SEED)
    names = [*C3P.effort_places]
    effort = JointState(name=names, effort=[2.0 * float(C3P.effort_limit[0])] * len(names))
    effort.header.frame_id = 'base_link'
    good = serialize_message(effort)

    def look(data):
        # it takes what the middleware has kept, without an executor
        batches = [TopicBatch(topic, kind, data, [0] * len(data))
                   for topic, (kind, _) in node._topics._kinds.items()]
        monkeypatch.setattr(node._topics, 'taken', lambda: batches)
        wired.time += PERIOD
        node._poll()

    for _ in range(200):
        damaged = bytearray(good)
        for place in rng.integers(0, len(good), 6):
            damaged[place] = rng.integers(256)
        noise = rng.integers(0, 256, rng.integers(0, 90), np.uint8).tobytes()
        look([b'', noise, bytes(damaged), good[:rng.integers(len(good))]])
    node._broken.clear()
    for _ in range(8):
        look([good])
    assert list(node._broken) == ['torque-limits']


def test_markers_are_drawn_afterwards(wired):
    node = wired.add(MarkerNode, timeout=60.0)
    node._look()

    def draw():
        give(wired, 'joint_states', joints(wired.now()))
        give(wired, 'odom', put(stamped(Odometry, wired.now(), 'odom'),
                                'pose.pose.orientation.w', 1.0))
        node._draw()

    # what was sent is read when it is drawn, so after each message
    Attack(SEED, node._draw, every=1)(node, wired.now)
    drawn = node.markers.metrics()['scenes drawn']
    wired.time += LONG
    for _ in range(3):
        draw()
    assert node.markers.metrics()['scenes drawn'] == drawn + 3
    assert wired.published['marker/scene'] >= 3


@pytest.mark.parametrize('seconds', [0.0, 5.0])
def test_a_recorder_records_all_of_it_and_goes_on(wired, tmp_path, seconds):
    node = wired.add(lambda **_: RecorderNode(context=wired.context, parameter_overrides=[
        Parameter(name, value=value) for name, value in {
            'bag': str(tmp_path / 'bag'), 'frames': 'always', 'frame_rate': 1e3,
            'snapshot.seconds': seconds, 'node_parameters': False}.items()]))
    # where tf2_msgs is installed it subscribes to /tf, on which it records computed frames as well
    heard = {s.topic_name for s in node.subscriptions} - {'/tf', '/tf_static'}
    before = Attack.sent.copy()
    computed = sum(node.writer.counts[topic] for topic in heard)
    # two dozen topics, which are all the same to it
    Attack(SEED, lambda: None, part=0.4)(node, wired.now)
    sent = computed + sum(number for (_, topic), number in (Attack.sent - before).items()
                          if topic in heard)
    assert node.writer is not None
    # every message is there, readable or not; frames are computed of those that are
    assert sum(node.writer.counts[topic] for topic in heard) == sent
    assert node.diagnostics.count('/odom', 'recorded unread') > count(0.4) // 20
    frames = node.writer.counts['/tf']
    node._frames._next = dict.fromkeys(node._frames._next, 0)
    give(wired, 'odom', serialize_message(stamped(Odometry, wired.now(), 'odom')))
    assert node.writer.counts['/tf'] == frames + 1
    give(wired, 'diagnostics', DiagnosticArray(status=[DiagnosticStatus(
        level=DiagnosticStatus.ERROR, name='motors', message='stand')]))
    node.close()
    bag = tmp_path / 'bag'
    if seconds == 0.0:
        assert sum(n for topic, (_, n) in topics_of(bag).items() if topic in heard) == sent + 2
    else:
        assert topics_of(bag / 'snapshot_01')


def test_a_keyboard_shows_the_robot_afterwards(wired):
    link = wired.add(lambda **_: RobotLink(C3P, context=wired.context))
    view = TeleopView('', '')
    Attack(SEED, lambda: link.show(view), every=1)(link, wired.now)
    give(wired, 'joint_states', joints(wired.now()))
    give(wired, 'odom', put(stamped(Odometry, wired.now()), 'twist.twist.linear.x', 0.25))
    link.show(view)
    assert view.twist[0] == 0.25 and view.sigma_min is not None


def test_a_drive_client_keeps_what_it_hears(wired):
    client = wired.add(lambda **_: DriveClient(context=wired.context))
    Attack(SEED, lambda: client.missing(['simulation'], True))(client, wired.now)
    give(wired, 'position_controller/goal_reached', Bool(data=True))
    assert client.accepted and client.reached_since is not None


def test_an_excitation_ends_with_zeros(wired):
    motion = SimpleNamespace(duration=20.0, reach=1.0,
                             twist=lambda *_: np.array([0.1, 0.0, 0.0]))
    client = wired.add(lambda **_: ExcitationClient(motion, context=wired.context))

    def odometry(x):
        message = put(stamped(Odometry, wired.now()), 'pose.pose.orientation.w', 1.0)
        give(wired, 'odom', put(message, 'pose.pose.position.x', x))

    beat(wired, lambda: odometry(0.0))()
    Attack(SEED, beat(wired, lambda: odometry(0.0)))(client, wired.now)
    assert wired.published['cmd_vel'] > 1
    # a robot that is elsewhere ends it, if nothing has done so before; then it commands zero
    for _ in range(5):
        beat(wired, lambda: odometry(5.0))()
    assert client.done and wired.last['cmd_vel'].twist == Twist()


def test_a_player_listens_to_nothing(wired, tmp_path):
    with BagWriter(tmp_path / 'bag') as bag:
        bag.add('/text', 'std_msgs/msg/String')
        bag.write('/text', 1, serialize_message(String(data='a')))
    player = wired.add(lambda **_: PlayerNode(context=wired.context, parameter_overrides=[
        Parameter('bag', value=str(tmp_path / 'bag')), Parameter('start_paused', value=True)]))
    assert not list(player.subscriptions)


def nodes_of_the_suite():
    """Return the class of every *_node.py."""
    found = {}
    for path in sorted(ROOT.glob('c3p_*/**/*_node.py')):
        module = importlib.import_module(module_name(path))
        found |= {name: kind for name, kind in vars(module).items() if inspect.isclass(kind)
                  and issubclass(kind, Node) and kind.__module__ == module.__name__}
    return found


def test_every_node_of_the_suite_is_attacked():
    texts = ''.join(path.read_text(encoding='utf-8') for name in (
        'wired_robot.py', 'test_messages_elsewhere.py')
        for path in [ROOT / 'test' / 'attacks' / name])
    # bases of nodes have no subscribers
    missing = [name for name in nodes_of_the_suite() if f'add({name}' not in texts
               and f'{name}(context' not in texts
               and name not in ('ManagedSuiteNode', 'OrderlyNode')]
    assert len(nodes_of_the_suite()) >= 12 and not missing
    sent, dropped = Attack.sent.total(), Attack.dropped.total()
    print(f'{sent} messages to {len(Attack.sent)} subscribers, {dropped} more that the '
          'middleware drops')
