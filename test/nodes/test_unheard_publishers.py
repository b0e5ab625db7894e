# SPDX-License-Identifier: Apache-2.0
"""
A publisher of another message type, from another process, on every input of every node.

Two contexts stand for two processes: the middleware refuses two types of a topic within one.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

import rclpy  # noqa: E402
from geometry_msgs.msg import TwistStamped  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.qos import QoSProfile, ReliabilityPolicy  # noqa: E402
from std_msgs.msg import Bool, Empty, Int8  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from c3p_bringup.drive_client import DriveClient  # noqa: E402
from c3p_bringup.excite_live import ExcitationClient  # noqa: E402
from c3p_bringup.nodes import NODES, node_class  # noqa: E402
from c3p_bringup.teleop.robot_link import RobotLink  # noqa: E402
from c3p_controller.twist_mux_node import TwistMuxNode  # noqa: E402
from c3p_description.reading.loader import load  # noqa: E402
from c3p_ros.diagnostics import ERROR  # noqa: E402
from c3p_ros.node import LATCHED  # noqa: E402
from c3p_ros.orderly_node import OrderlyNode  # noqa: E402
from c3p_viewers.dashboard.link import DashboardLink  # noqa: E402
from c3p_viewers.dashboard.samples import History  # noqa: E402

ROOT = Path(__file__).parents[2]
FOREIGN = ('/rosout', '/parameter_events')


def contracts():
    """Return scripts/node_contracts.py, which knows how each node is started."""
    name = 'node_contracts'
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / f'scripts/{name}.py')
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture
def stranger():
    """Return a node of another process, as far as the middleware knows."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = OrderlyNode('stranger', context=context)
    yield node
    node.destroy_node()
    context.try_shutdown()


def inputs_of(node):
    """
    Return the topics to which a node subscribes.

    The graph has those of a node of the same name as well that was killed a moment before.
    """
    return {subscription.topic_name for subscription in node.subscriptions
            if subscription.topic_name not in FOREIGN}


def assert_each_input_is_watched(bench, node, stranger):
    """See that a publisher of another type is found on each of them, and named."""
    bench.nodes[node.get_name()] = node
    bench.executor.add_node(node)
    topics = inputs_of(node)
    assert topics
    for topic in topics:
        stranger.create_publisher(Empty, topic, 1)

    def found():
        node.compare_inputs()
        return {topic for topic, nodes in node.inputs.unheard.items()
                if '/stranger' in nodes} >= topics

    bench.wait_for(found, f'all of {topics}')
    for nodes in node.inputs.unheard.values():
        assert 'publishes std_msgs/msg/Empty, ' in nodes['/stranger']
    if hasattr(node, 'diagnostics'):
        assert all(f'{topic} from /stranger: not received' in node.diagnostics.status().message
                   for topic in topics)


# those that subscribe from the start; the player publishes, markers subscribe once they are seen,
# and the safety monitor reads its topics itself
@pytest.mark.real_time
@pytest.mark.timeout(200)
@pytest.mark.parametrize('name', [name for name in NODES if name not in (
    'player', 'marker', 'rough_ground', 'safety_monitor')])
def test_each_input_of_each_node_is_watched(open_bench, stranger, name, tmp_path):
    for options in contracts().VARIANTS.get(name, ({},)):
        if name == 'recorder':
            options = {'bag': str(tmp_path / 'bag')}
        node = node_class(name)(context=open_bench.context, parameter_overrides=[
            Parameter(key, value=value) for key, value in options.items()])
        assert_each_input_is_watched(open_bench, node, stranger)
        open_bench.remove(name)
        # the next one has its name, and the graph has the inputs of both meanwhile
        open_bench.wait_for(lambda: name not in stranger.get_node_names(), f'the end of {name}')


@pytest.mark.real_time
@pytest.mark.parametrize('make', [
    DriveClient, lambda **options: ExcitationClient(None, **options),
    lambda **options: RobotLink(load('c3p'), **options),
    lambda **options: DashboardLink(load('c3p'), History(), **options)])
def test_each_input_of_each_client_is_watched(open_bench, stranger, make):
    node = make(context=open_bench.context)
    assert_each_input_is_watched(open_bench, node, stranger)


# -- locks ---------------------------------------------------------------------------------------

LOCKS = {'topics.stick.topic': 'cmd_vel_joy', 'topics.stick.timeout': 0.5,
         'topics.stick.priority': 10,
         'locks.hand.topic': 'button', 'locks.hand.timeout': 0.0, 'locks.hand.priority': 255,
         'locks.fence.topic': 'gate/open', 'locks.fence.timeout': 60.0,
         'locks.fence.priority': 100, 'locks.idle.topic': 'idle', 'locks.idle.timeout': 0.0,
         'locks.idle.priority': 5, 'locks.idle.start': 'open'}


@pytest.mark.real_time
@pytest.mark.parametrize('lock, topic', [('hand', '/button'), ('fence', '/gate/open'),
                                         ('idle', '/idle')])
def test_a_lock_with_a_publisher_of_another_type_is_closed(open_bench, stranger, lock, topic):
    bench = open_bench
    node = bench.add(TwistMuxNode, **LOCKS)
    fence = bench.publisher(Bool, 'gate/open')
    bench.publish_until(fence, Bool(data=False), lambda: 'fence' not in node._mux.locks(
        node.watch_time()), 'a fresh false')
    assert bench.call(Trigger, 'twist_mux/release').success
    assert node._mux.locks(node.watch_time()) == ()
    wrong = stranger.create_publisher(Int8, topic, 1)
    bench.wait_for(lambda: lock in node._mux.locks(node.watch_time()), 'closed')
    bench.wait_for(lambda: bench.health['twist_mux'].level == ERROR, 'an error')
    status = bench.health['twist_mux']
    assert status.message.startswith(f'{topic} from /stranger: not received: publishes '
                                     'std_msgs/msg/Int8, std_msgs/msg/Bool is expected')
    assert status.message.split(';')[2].strip() == 'the lock is closed'
    # whatever says that it is released
    healthy = fence if lock == 'fence' else bench.publisher(Bool, topic)
    healthy.publish(Bool(data=False))
    answer = bench.call(Trigger, 'twist_mux/release')
    assert not answer.success and f'{topic} from /stranger not received' in answer.message
    assert lock in node._mux.locks(node.watch_time())
    stranger.destroy_publisher(wrong)
    bench.wait_for(lambda: not node._mux.unheard(), 'its end')


BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=10)


@pytest.mark.parametrize('profiles', [(BEST_EFFORT,), (RELIABLE,), (LATCHED,),
                                      (RELIABLE, BEST_EFFORT), (BEST_EFFORT, LATCHED)])
def test_a_lock_receives_each_of_its_publishers(bench, profiles):
    node = bench.add(TwistMuxNode)
    buttons = [bench.talker.create_publisher(Bool, 'e_stop', profile) for profile in profiles]
    bench.run(1.0)
    locked = bench.collect(Bool, 'twist_mux/locked', LATCHED)
    for _ in range(2):
        for button in buttons:
            # one message is enough, and is followed whichever the others are
            button.publish(Bool(data=False))
            bench.run(0.5)
            assert not locked[-1].data
            button.publish(Bool(data=True))
            bench.run(0.05)
            assert locked[-1].data
            bench.run(0.5)
    assert node.inputs.unheard == {}
    assert 'not received' not in ' '.join(bench.said['twist_mux'])


@pytest.mark.real_time
def test_a_source_that_is_not_received_is_a_warning_with_its_parameter(open_bench, stranger):
    bench = open_bench
    bench.add(TwistMuxNode, use_stamped=False)
    stranger.create_publisher(TwistStamped, 'cmd_vel_joy', 1)
    bench.wait_for(lambda: 'use_stamped:=true of twist_mux' in ' '.join(
        bench.said.get('twist_mux', ())), 'the remedy')
    assert bench.health['twist_mux'].level < ERROR
