# SPDX-License-Identifier: Apache-2.0
"""Discovery is complete when each participant of this computer is in the ROS graph."""

import os
import socket
from types import SimpleNamespace

import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_ros import participants  # noqa: E402
from c3p_ros.middleware import of_this_process  # noqa: E402
from c3p_ros.participants import (  # noqa: E402
    ANNOUNCED,
    DISCOVERED_WITHIN,
    ENDPOINTS_WITHIN,
    Discovery,
    bound_participants,
    discovered_participants,
)
from c3p_ros.reach import one_computer  # noqa: E402
from c3p_ros.sockets import UDP  # noqa: E402

NEAR = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n'


def table(path, *ports):
    """Write a table of sockets as Linux does; return its path."""
    path.write_text(HEAD + ''.join(
        f'  {k}: 00000000:{port:04X} 00000000:0000 07 00000000:00000000 00:00000000 00000000 0\n'
        for k, port in enumerate(ports)))
    return path


def test_each_participant_of_the_domain_is_counted_once(tmp_path):
    first = 7400 + 250 * 3
    four = table(tmp_path / 'udp', first, first + 1, first + 10, first + 11, first + 14,
                 first + 15, first + 260, first - 2, 53, 68)
    # a socket of both kinds of address is in both tables
    six = table(tmp_path / 'udp6', first + 14, first + 248)
    assert bound_participants(3, [four, six, tmp_path / 'none']) == 3
    assert bound_participants(4, [four, six]) == 1
    assert bound_participants(5, [four, six]) == 0


def test_participants_of_ros_are_where_they_are_counted():
    if not one_computer(os.environ, of_this_process()):
        pytest.skip(f'{of_this_process().identifier} has no participants on these ports')
    contexts = [rclpy.Context() for _ in range(2)]
    nodes = []
    try:
        for context in contexts:
            rclpy.init(context=context)
            nodes.append(rclpy.create_node('counted', context=context))
        # a change of ports or names in the middleware would make every command wait
        assert bound_participants(contexts[0].get_domain_id()) >= 2
        assert discovered_participants(nodes[0]) >= 1
    finally:
        for node in nodes:
            node.destroy_node()
        for context in contexts:
            context.try_shutdown()


class Node:
    """As much of a node as discovery uses."""

    def __init__(self):
        self.known = 1
        self.context = SimpleNamespace(get_domain_id=lambda: 0)

    def get_publishers_info_by_topic(self, topic, no_mangle):
        assert topic == ANNOUNCED and no_mangle
        return [None] * self.known


@pytest.fixture
def bound(monkeypatch):
    """Return the number of participants that are bound, as a list of one."""
    count = [1]
    monkeypatch.setattr(participants, 'bound_participants', lambda domain: count[0])
    return count


def test_without_others_discovery_is_complete_at_once(virtual_time, bound):
    assert Discovery(Node(), NEAR).complete()


@pytest.mark.parametrize('late', [0.1, 0.7, 2.8])
def test_discovery_waits_for_each_bound_participant(virtual_time, bound, late):
    node, bound[0] = Node(), 3
    discovery = Discovery(node, NEAR)
    node.known = 2
    assert not virtual_time.advance(late, discovery.complete)
    node.known = 3
    # its endpoints come behind it
    assert not discovery.complete()
    assert not virtual_time.advance(0.9 * ENDPOINTS_WITHIN, discovery.complete)
    virtual_time.advance(0.2 * ENDPOINTS_WITHIN)
    assert discovery.complete()


def test_a_participant_that_never_announces_itself_is_waited_for_one_announcement(
        virtual_time, bound):
    bound[0] = 2
    discovery = Discovery(Node(), NEAR)
    assert not discovery.complete()
    virtual_time.advance(0.9 * DISCOVERED_WITHIN)
    assert not discovery.complete()
    # another one appears: the time begins again
    bound[0] = 3
    assert not discovery.complete()
    virtual_time.advance(0.9 * DISCOVERED_WITHIN)
    assert not discovery.complete()
    virtual_time.advance(0.2 * DISCOVERED_WITHIN)
    assert discovery.complete()


@pytest.mark.parametrize('environment, count', [({}, 1), (NEAR, 0), (
    {**NEAR, 'ROS_STATIC_PEERS': '10.0.0.2'}, 1)])
def test_what_cannot_be_counted_has_the_time_of_one_announcement(
        virtual_time, bound, environment, count):
    # other computers; a middleware with other ports; another system than Linux
    bound[0] = count
    discovery = Discovery(Node(), environment)
    assert not discovery.complete()
    virtual_time.advance(0.9 * DISCOVERED_WITHIN)
    assert not discovery.complete()
    virtual_time.advance(0.2 * DISCOVERED_WITHIN)
    assert discovery.complete()


def test_the_time_of_one_announcement_is_longer_than_its_period():
    # Fast DDS: leaseDuration_announcementperiod, 3 s
    assert DISCOVERED_WITHIN > 3.0


def test_a_socket_of_this_process_is_in_the_tables():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(('127.0.0.1', 0))
        port = own.getsockname()[1]
        entries = [line.split()[1] for path in UDP if path.exists()
                   for line in path.read_text().splitlines()[1:]]
    if not entries:
        pytest.skip('needs the tables of sockets of Linux')
    assert any(int(entry.rpartition(':')[2], 16) == port for entry in entries)
