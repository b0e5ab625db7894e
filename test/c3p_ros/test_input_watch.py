# SPDX-License-Identifier: Apache-2.0
"""Publishers that no subscription receives are reported: once, and as long as they exist."""

import ast
from types import SimpleNamespace

import pytest
from source_tree import SOURCES, name_of, nodes_of

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from geometry_msgs.msg import PoseStamped, Twist, TwistStamped  # noqa: E402
from rclpy.duration import Duration  # noqa: E402
from rclpy.impl.implementation_singleton import rclpy_implementation  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.qos import (  # noqa: E402
    DurabilityPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402

from c3p_ros.diagnostics import ERROR, OK, WARN  # noqa: E402
from c3p_ros.input_watch import (  # noqa: E402
    MOST,
    UNNAMED_CONFIRMED,
    InputWatch,
    WatchedNode,
    difference,
    qos_difference,
    remedy,
)
from c3p_ros.node import ANY_RELIABILITY, LATCHED, LATEST, SENSOR_DATA  # noqa: E402
from c3p_ros.publisher_watch import SequenceProbe  # noqa: E402

RELIABLE = QoSProfile(depth=1)
BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


def end(node='stick', kind='std_msgs/msg/Bool', profile=RELIABLE, space='/'):
    """Return a publisher as the graph lists it."""
    return SimpleNamespace(node_name=node, node_namespace=space, topic_type=kind,
                           qos_profile=profile)


class Subscribed:
    """A subscription of Bool that is matched with what `graph` lists and it can receive."""

    def __init__(self, graph, topic='/e_stop', profile=RELIABLE):
        self.graph, self.topic_name, self.qos_profile = graph, topic, profile
        self.msg_type, self.destroyed = Bool, False

    def get_publisher_count(self):
        if self.destroyed:
            raise rclpy_implementation.InvalidHandle
        return sum(not difference(e, self) for e in self.graph.ends.get(self.topic_name, ()))


class Graph:
    """As much of a node as the watch uses, with publishers {topic: [end]}."""

    def __init__(self):
        self.ends, self.reports, self.asked, self.level = {}, [], 0, {}
        self.inputs = InputWatch(self)

    def count_publishers(self, topic):
        return len(self.ends.get(topic, ()))

    def get_publishers_info_by_topic(self, topic):
        self.asked += 1
        return self.ends.get(topic, ())

    def has_parameter(self, name):
        return False

    def input_level(self, topic):
        return self.level.get(topic, WARN)

    def report_input(self, *report):
        self.reports.append(report)

    def subscribe(self, *arguments):
        subscription = Subscribed(self, *arguments)
        self.inputs.add(subscription)
        return subscription

    def look(self):
        """Compare once; return the reports."""
        self.reports = []
        self.inputs.look()
        return self.reports


@pytest.fixture
def graph():
    return Graph()


def test_a_publisher_that_is_received_costs_two_counts(graph):
    graph.subscribe()
    graph.ends['/e_stop'] = [end()]
    assert graph.look() == [] and graph.look() == []
    assert graph.inputs.unheard == {} and graph.asked == 0


@pytest.mark.parametrize('publisher, words', [
    (end(kind='std_msgs/msg/Int8'), 'publishes std_msgs/msg/Int8, std_msgs/msg/Bool is expected'),
    (end(profile=BEST_EFFORT), 'best effort publisher and reliable subscription')])
def test_it_is_known_at_once_reported_once_and_cleared_when_it_ends(graph, publisher, words):
    graph.subscribe()
    graph.ends['/e_stop'] = [end('button'), publisher]
    assert graph.look() == []
    ((node, reason),) = graph.inputs.unheard['/e_stop'].items()
    assert node == '/stick' and words in reason
    ((topic, node, text),) = graph.look()
    assert (topic, node) == ('/e_stop', '/stick') and words in text
    assert graph.look() == [] and graph.inputs.unheard
    graph.ends['/e_stop'].remove(publisher)
    assert graph.look() == [('/e_stop', '/stick', '')] and not graph.inputs.unheard
    assert graph.look() == []


def test_a_subscription_that_adapts_in_between_is_not_reported(graph):
    first = graph.subscribe()
    graph.ends['/e_stop'] = [end(profile=BEST_EFFORT)]
    assert graph.look() == [] and graph.inputs.unheard
    graph.inputs.discard(first)
    graph.subscribe('/e_stop', BEST_EFFORT)
    assert graph.look() == [] and not graph.inputs.unheard


def test_the_name_of_a_node_that_is_not_discovered_yet_is_awaited(graph):
    graph.subscribe()
    graph.ends['/e_stop'] = [end('_NODE_NAME_UNKNOWN_', 'std_msgs/msg/Int8')]
    assert graph.look() == [] and graph.look() == [] and graph.inputs.unheard
    graph.ends['/e_stop'] = [end('board', 'std_msgs/msg/Int8')]
    assert graph.look() == []
    ((_, node, _),) = graph.look()
    assert node == '/board'
    # a program that is not of ROS has no name
    graph.ends['/e_stop'] = [end('_NODE_NAME_UNKNOWN_', 'std_msgs/msg/Int8')]
    reports = [report for _ in range(UNNAMED_CONFIRMED) for report in graph.look()]
    assert [node for _, node, text in reports if text] == ['an unknown node']


def test_one_subscription_of_several_is_enough(graph):
    graph.subscribe()
    graph.ends['/e_stop'] = [end(profile=BEST_EFFORT), end('latched')]
    graph.look()
    assert graph.inputs.unheard
    graph.subscribe('/e_stop', BEST_EFFORT)
    graph.look()
    assert not graph.inputs.unheard


def test_each_publisher_is_reported_and_of_many_first_those_that_are_errors(graph):
    graph.level['/e_stop'] = ERROR
    for topic in ('/cmd_vel', '/e_stop'):
        graph.subscribe(topic)
    graph.ends = {'/cmd_vel': [end(f'n{k:02}', 'std_msgs/msg/Int8') for k in range(MOST)],
                  '/e_stop': [end('board', 'std_msgs/msg/Int8', space='/lab')]}
    graph.look()
    reports = graph.look()
    assert len(reports) == MOST and len(graph.inputs.unheard['/cmd_vel']) == MOST
    assert reports[0][:2] == ('/e_stop', '/lab/board')
    # another one later, of the same topic
    del graph.ends['/cmd_vel'][5:]
    graph.look()
    graph.ends['/cmd_vel'].append(end('late', 'std_msgs/msg/Int8'))
    assert graph.look() == []
    assert [report[:2] for report in graph.look()] == [('/cmd_vel', '/late')]


def test_a_subscription_that_was_destroyed_elsewhere_blinds_no_other(graph):
    gone, stays = graph.subscribe(), graph.subscribe()
    gone.destroyed = True
    graph.ends['/e_stop'] = [end(kind='std_msgs/msg/Int8')]
    graph.look()
    assert graph.inputs.unheard
    stays.destroyed = True
    graph.look()
    assert not graph.inputs.unheard and graph.inputs.topics == ()


UNKNOWN = QoSProfile(depth=1, reliability=ReliabilityPolicy.UNKNOWN,
                     durability=DurabilityPolicy.UNKNOWN, liveliness=LivelinessPolicy.UNKNOWN)


@pytest.mark.parametrize('publisher', [end(kind='', profile=LATCHED), end(profile=UNKNOWN),
                                       end(kind='', profile=UNKNOWN)])
def test_what_the_middleware_does_not_tell_is_no_difference(graph, publisher):
    for profile in (RELIABLE, LATCHED, BEST_EFFORT):
        assert difference(publisher, Subscribed(graph, '/e_stop', profile)) == ''


@pytest.mark.parametrize('offered, requested, words', [
    (RELIABLE, LATCHED, 'volatile publisher and transient local subscription'),
    (BEST_EFFORT, LATCHED, 'best effort publisher and reliable subscription, volatile'),
    (RELIABLE, QoSProfile(depth=1, deadline=Duration(seconds=1)), 'deadline'),
    (RELIABLE, QoSProfile(depth=1, liveliness=LivelinessPolicy.MANUAL_BY_TOPIC), ''),
    (QoSProfile(depth=1, liveliness=LivelinessPolicy.AUTOMATIC),
     QoSProfile(depth=1, liveliness=LivelinessPolicy.MANUAL_BY_TOPIC), 'liveliness'),
    (LATCHED, BEST_EFFORT, ''), (LATCHED, RELIABLE, ''), (BEST_EFFORT, ANY_RELIABILITY, '')])
def test_every_policy_by_which_dds_refuses_counts(offered, requested, words):
    found = qos_difference(offered, requested)
    assert words in found and bool(found) == bool(words)


class Selecting(Graph):
    """A node with parameters of these names."""

    def __init__(self, *parameters):
        super().__init__()
        self.parameters = parameters

    def has_parameter(self, name):
        return name in self.parameters

    def get_name(self):
        return 'velocity_controller'


@pytest.mark.parametrize('parameters, has, takes, words', [
    (('use_stamped_vel',), Twist, TwistStamped, 'use_stamped_vel:=false of velocity_controller,'),
    (('use_stamped',), TwistStamped, Twist, 'use_stamped:=true of velocity_controller, or publish '
     'geometry_msgs/msg/Twist'),
    ((), Twist, TwistStamped, 'publish geometry_msgs/msg/TwistStamped, or remap one of the two'),
    (('use_stamped_vel',), Bool, TwistStamped, 'publish geometry_msgs/msg/TwistStamped'),
    (('use_stamped_vel',), TwistStamped, TwistStamped, 'publish with QoS reliable, volatile')])
def test_the_remedy_is_a_parameter_where_the_node_has_one(parameters, has, takes, words):
    node = Selecting(*parameters)
    subscription = Subscribed(node)
    subscription.msg_type = takes
    kind = f'{has.__module__.split(".")[0]}/msg/{has.__name__}'
    assert remedy(node, end(kind=kind, profile=BEST_EFFORT), subscription).startswith(words)


# -- nodes ---------------------------------------------------------------------------------------

# input, type and a profile that is not received, of each node of a robot
UNHEARD = (('position_controller', 'goal_pose', PoseStamped, BEST_EFFORT, 'reliable, volatile'),
           ('velocity_controller', 'cmd_vel', TwistStamped, BEST_EFFORT, 'reliable, volatile'),
           ('simulation', 'wheel_effort', JointState, BEST_EFFORT, 'reliable, volatile'),
           ('position_controller', 'velocity_controller/lock', None, RELIABLE, 'transient local'))


@pytest.mark.parametrize('node, topic, kind, profile, words', UNHEARD)
def test_a_node_warns_while_a_publisher_is_not_received(bench, node, topic, kind, profile, words):
    bench.add_robot()
    watched = bench.nodes[node]
    if kind is None:
        kind = next(s.msg_type for s in watched.subscriptions if s.topic_name == f'/{topic}')
    publisher = bench.talker.create_publisher(kind, topic, profile)
    bench.wait_for(lambda: '/talker: not received' in getattr(
        bench.health.get(node), 'message', ''), 'a warning')
    status = bench.health[node]
    assert status.level >= WARN and f'/{topic} from /talker' in status.message
    assert words in status.message
    bench.talker.destroy_publisher(publisher)
    bench.wait_for(lambda: 'not received' not in bench.health[node].message, 'its end')
    # without a gap: one line in the log
    told = [text for k, text in enumerate(bench.said[node])
            if 'not received' in text and 'not received' not in bench.said[node][k - 1]]
    assert len(told) == 1


def test_a_robot_without_strangers_has_nothing_to_report(in_process_robot):
    bench = in_process_robot
    bench.goal(0.0, 0.3, 0.0)
    bench.run(4.0)
    for node in bench.nodes.values():
        assert node.inputs.unheard == {} and len(node.inputs.topics) > 0, node.get_name()
    assert not [text for said in bench.said.values() for text in said if 'not received' in text]


def test_a_node_without_diagnostics_logs(bench, monkeypatch):
    node = WatchedNode('plain', context=bench.context)
    bench.nodes['plain'] = node
    bench.executor.add_node(node)
    lines = []
    monkeypatch.setattr(node, 'get_logger', lambda: SimpleNamespace(warning=lines.append))
    subscription = node.create_subscription(Bool, 'e_stop', lambda message: None, LATEST)
    bench.talker.create_publisher(Bool, 'e_stop', BEST_EFFORT)
    bench.wait_for(lambda: lines, 'a line')
    bench.run(3.0)
    (line,) = lines
    assert line.startswith('/e_stop from /talker: not received: best effort publisher')
    node.destroy_subscription(subscription)
    assert '/e_stop' not in node.inputs.topics


def test_a_probe_of_sequence_numbers_is_no_input(bench):
    node = WatchedNode('plain', context=bench.context)
    bench.nodes['plain'] = node
    node.create_subscription(JointState, 'wheel_effort', lambda message: None, LATEST)
    probe = SequenceProbe(node, '/wheel_effort')
    bench.talker.create_publisher(JointState, 'wheel_effort', SENSOR_DATA)
    node.compare_inputs()
    # the node itself receives nothing of it
    assert '/wheel_effort' in node.inputs.unheard
    probe.close()
    node.compare_inputs()
    assert '/wheel_effort' in node.inputs.unheard


# -- the whole suite -----------------------------------------------------------------------------

# they subscribe to nothing, or are about actions of ROS 2's launch
FREE = {'c3p_bringup/doctor/ros.py', 'c3p_bringup/launch_parts/actions.py',
        'c3p_ros/input_watch.py'}


def bases(path):
    """Yield (class, base) of a file, by their last names."""
    for node in nodes_of(path):
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                yield node.name, ast.unparse(base).rpartition('.')[2]


def test_each_node_of_the_suite_is_a_watched_node():
    # the base of WatchedNode ends nodes in order
    plain = [name for path in SOURCES if name_of(path) not in FREE
             for name, base in bases(path) if base in ('Node', 'LifecycleNode', 'OrderlyNode')]
    assert plain == ['OrderlyNode'], f'derive from c3p_ros.input_watch.WatchedNode: {plain}'
    watched = [name for path in SOURCES for name, base in bases(path)
               if base in ('WatchedNode', 'SuiteNode', 'ManagedSuiteNode')]
    assert len(watched) > 15


def test_no_node_is_made_without_a_class():
    made = [f'{name_of(path)}:{call.lineno}' for path in SOURCES if name_of(path) not in FREE
            for call in nodes_of(path) if isinstance(call, ast.Call)
            and (ast.unparse(call.func).rpartition('.')[2] in ('create_node', 'Node')
                 or any(ast.unparse(a) == 'Node' for a in call.args
                        if ast.unparse(call.func).endswith('add')))]
    assert not made, made


def test_the_subscriptions_of_rclpy_pass_the_watch():
    """Only `create_subscription` of a node makes a subscription, and WatchedNode overrides it."""
    assert WatchedNode.create_subscription is not Node.create_subscription
    direct = [name_of(path) for path in SOURCES for call in nodes_of(path)
              if isinstance(call, ast.Call)
              and ast.unparse(call.func) in ('Subscription', 'Node.create_subscription',
                                             'rclpy.subscription.Subscription')]
    assert not direct, direct


def test_reports_have_the_level_of_a_warning_and_end_with_ok(graph):
    told = []
    node = SimpleNamespace(input_level=lambda topic: WARN, diagnostics=SimpleNamespace(
        condition=lambda *condition: told.append(condition)))
    WatchedNode.report_input(node, '/cmd_vel', '/stick', 'not received: …')
    WatchedNode.report_input(node, '/cmd_vel', '/stick', '')
    assert told == [('/cmd_vel from /stick', WARN, 'not received: …'),
                    ('/cmd_vel from /stick', OK, 'received now, or ended')]
