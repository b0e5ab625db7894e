# SPDX-License-Identifier: Apache-2.0
"""A robot beside that of a command is found before the command moves one, and whenever later."""

import time
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from nav_msgs.msg import Odometry  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_bringup import drive  # noqa: E402
from c3p_bringup.drive_client import DriveClient  # noqa: E402
from c3p_bringup.nodes import CHAIN  # noqa: E402
from c3p_bringup.options import DriveOptions  # noqa: E402
from c3p_bringup.other_robots import OtherRobotError, OtherRobots  # noqa: E402
from c3p_simulation.simulation_node import SimulationNode  # noqa: E402

NEAR = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
OWN = [f'/{name}' for name in (*CHAIN, 'simulation')]


class Spun:
    """A session on the virtual clock of a bench."""

    def __init__(self, bench):
        self.bench = bench

    def until(self, condition, period=0.05):
        while not condition():
            self.bench.run(period)


@pytest.fixture
def search(bench):
    """Return a function that searches for robots as a command does."""
    return lambda present=0: OtherRobots(Spun(bench), bench.talker, present, NEAR)


def test_without_a_robot_none_is_found(search):
    others = search()
    others._discovery.complete = lambda: True
    before = time.monotonic()
    others.search()
    assert others.found() == [] and time.monotonic() - before < 0.05


def test_a_robot_that_is_there_is_refused_by_name(bench, search):
    bench.add(SimulationNode)
    with pytest.raises(OtherRobotError, match=r"another robot .* \['/simulation'.*ROS_DOMAIN_ID"):
        search().search()


@pytest.mark.parametrize('kind, topic', [(JointState, 'joint_states'), (Odometry, 'odom')])
def test_what_publishes_as_a_robot_does_is_one(bench, search, kind, topic):
    # such as a robot on other wheels, which follows cmd_vel
    bench.talker.create_publisher(kind, topic, 1)
    assert search().found() == ['/talker']
    assert search(present=1).found() == []


def test_what_takes_efforts_is_a_robot_before_the_own_one_and_a_recorder_after(bench, search):
    bench.collect(JointState, 'wheel_effort')
    others = search()
    assert others.found() == ['/talker']
    others.joined(OWN)
    assert others.found() == []


@pytest.mark.parametrize('after', [0.0, 0.3, 2.0])
def test_a_robot_that_is_discovered_late_ends_the_search(bench, search, after):
    others = search()
    others._discovery.complete = lambda: False
    begin = time.monotonic()
    found = []

    def looked():
        if time.monotonic() - begin >= after and not found:
            found.append(bench.add(SimulationNode))
        return False

    others._discovery.complete = looked
    with pytest.raises(OtherRobotError):
        others.search()
    assert after <= time.monotonic() - begin <= after + 0.1


def test_a_robot_that_appears_beside_the_own_one_is_named_alone(bench, search):
    others = search()
    others.joined(OWN)
    bench.add(SimulationNode)
    others.wait(0.2)
    others.check()
    bench.add(SimulationNode)
    with pytest.raises(OtherRobotError, match=r": \['/simulation'\]\."):
        others.wait(0.2)


def test_two_robots_are_refused_where_one_is_moved(bench, search):
    bench.add(SimulationNode)
    search(present=1).check()
    bench.add(SimulationNode)
    with pytest.raises(OtherRobotError, match=r"\['/simulation', '/simulation'\]"):
        search(present=1).check()


@pytest.mark.parametrize('after', [0.0, 0.4, 1.7])
def test_a_drive_ends_when_another_robot_appears(in_process_robot, tmp_path, after):
    bench = in_process_robot
    client = DriveClient(context=bench.context)
    bench.executor.add_node(client)
    others = OtherRobots(Spun(bench), client, 0, NEAR)
    others.joined(OWN)
    options = DriveOptions(goal=(1.0, 0.0, 0.0), out=tmp_path)
    begin, added = [], []

    def progress(seconds, distance):
        begin[:] = begin or [time.monotonic()]
        if time.monotonic() - begin[0] >= after and not added:
            added.append(bench.add(SimulationNode))

    try:
        drive._send_goal(options, others, client)
        with pytest.raises(OtherRobotError, match='another robot uses these topics'):
            drive._follow(options, others, client, [], progress)
        assert after <= time.monotonic() - begin[0] <= after + 0.3
        # the goal is withdrawn, which the other robot may have accepted
        answer = client.request('cancel')
        bench.wait_for(answer.done, 'the answer')
        assert answer.result().success
    finally:
        bench.executor.remove_node(client)
        client.destroy_node()


def test_names_that_are_not_discovered_are_waited_for(virtual_time):
    names = ['_NODE_NAME_UNKNOWN_']
    node = SimpleNamespace(
        resolve_topic_name=lambda topic: f'/{topic}', count_publishers=lambda topic: 2,
        context=SimpleNamespace(get_domain_id=lambda: 0),
        get_publishers_info_by_topic=lambda topic, no_mangle=False: [
            SimpleNamespace(node_namespace='/', node_name=name) for name in names])

    def until(condition, period):
        while not condition():
            virtual_time.advance(period)
            if time.monotonic() > begin + 1.0:
                names[:] = ['lidar']

    begin = time.monotonic()
    others = OtherRobots(SimpleNamespace(until=until), node, 1, NEAR)
    with pytest.raises(OtherRobotError, match=r"\['/lidar'\]"):
        others.check()
    # names that never come do not keep it
    names[:] = ['_NODE_NAME_UNKNOWN_']
    begin = time.monotonic() + 1000.0
    with pytest.raises(OtherRobotError, match='an unknown node'):
        others.check()
