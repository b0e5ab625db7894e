# SPDX-License-Identifier: Apache-2.0
"""
Write the SROS2 policies of config/security/ from running nodes and docs/nodes.md.

Each node is started once for every set of parameters that changes its topics, services and
actions, including those of rclpy. Interfaces that need a missing package or a subscriber are read
from the tables of docs/nodes.md, which node_contracts.py keeps up to date. Names are
relative to the namespace of the profile where the node's are. Run from the root of the repository:
``python scripts/write_security_policies.py``.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import rclpy
from rclpy.action import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / 'scripts'))

import node_contracts as contracts  # noqa: E402

from c3p_bags.player.playback import PRIVATE, commands  # noqa: E402
from c3p_bags.player.player_node import PlayerNode  # noqa: E402
from c3p_bags.recorder.recorder_node import RecorderNode  # noqa: E402
from c3p_bags.storage.bag import Bag  # noqa: E402
from c3p_bags.storage.topics import read_topics_file  # noqa: E402
from c3p_bringup.nodes import CHAIN, node_class  # noqa: E402
from c3p_bringup.teleop.robot_link import RobotLink  # noqa: E402
from c3p_description.reading.loader import load  # noqa: E402
from c3p_viewers.dashboard.link import DashboardLink  # noqa: E402
from c3p_viewers.dashboard.samples import History  # noqa: E402

PLACE, PAGE = ROOT / 'config/security', ROOT / 'docs/nodes.md'
BAG, TOPICS = ROOT / 'test/data/golden_bag', ROOT / 'config/record_topics.yaml'
# that of a node while it is looked at
NAMESPACE = '/seen'
ENCLAVES = '/c3p'

# (element, attribute, kind of the table's row)
SUBSCRIBE, PUBLISH = ('topic', 'subscribe'), ('topic', 'publish')
REPLY, REQUEST = ('service', 'reply'), ('service', 'request')
EXECUTE, CALL = ('action', 'execute'), ('action', 'call')
RULES = (SUBSCRIBE, PUBLISH, REPLY, REQUEST, EXECUTE, CALL)
ROWS = {'subscribes': SUBSCRIBE, 'publishes': PUBLISH, 'service': REPLY, 'action': EXECUTE}

# what the launch files rename: {node: one start for each}; /tf is in the namespace there
RENAMED = {'position_controller': ({'cmd_vel': 'cmd_vel_position'},
                                   {'goal_pose': 'position_controller/goal_pose'})}
FRAMES = {'/tf': 'tf', '/tf_static': 'tf_static'}
BRIDGE = {'joint_states': 'hardware/joint_states', 'wheel_effort': 'hardware/wheel_effort',
          '__node': 'hardware_bridge'}
# services of every node that recorder and safety monitor call, for its parameters
RECORDED = ('list_parameters', 'get_parameters')

Uses = dict[tuple[str, str], set[str]]


def starts(folder: str) -> dict[str, list[Callable[..., Node]]]:
    """Return {node: factory}, each with parameters and remapped names."""
    found: dict[str, list[Callable[..., Node]]] = {}
    for name in contracts.DOCUMENTED:
        kind = node_class(name)
        found[name] = [partial(started, kind, values)
                       for values in contracts.VARIANTS.get(name, ({},))]
        found[name] += [partial(started, kind, {}, names) for names in RENAMED.get(name, ())]
    found['hardware_bridge'] = [partial(
        started, node_class('ros2_control_bridge'), {'direction': 'from_ros2_control'},
        BRIDGE)]
    found['recorder'] = [
        partial(started, RecorderNode, {'bag': f'{folder}/{k}', 'snapshot.seconds': seconds})
        for k, seconds in enumerate((0.0, 1.0))]
    found['player'] = [partial(started, PlayerNode, {
        'bag': str(BAG), 'start_paused': True, 'clock': 40.0})]
    found['teleop_keyboard'] = [
        partial(started, partial(RobotLink, load('c3p'), topic), {}) for topic in ('', 'cmd_vel')]
    # the e-stop of the live page commands zero where there is no mux
    found['dashboard'] = [lambda **options: pressed(partial(
        started, partial(DashboardLink, load('c3p'), History()), {}), **options)]
    return found


def pressed(start: Callable[..., Node], **options: Any) -> Node:
    """Start the node of the live page with `start` and press its e-stop."""
    link = start(**options)
    link.press()
    return link


def started(kind: Callable[..., Node], values: Mapping[str, Any],
            names: Mapping[str, str] | None = None, **options: Any) -> Node:
    """Start a node with simulated time, parameters and names."""
    given = {**FRAMES, **(names or {})}
    rules = [part for pair in given.items() for part in ('-r', ':='.join(pair))]
    return kind(namespace=NAMESPACE, cli_args=['--ros-args', *rules], parameter_overrides=[
        Parameter(name, value=value) for name, value in {**values, 'use_sim_time': True}.items()],
        **options)


def relative(name: str, node: str) -> str:
    """Return a name relative to the node's namespace."""
    for begin, short in ((f'{NAMESPACE}/{node}/', '~/'), (f'{NAMESPACE}/', '')):
        if name.startswith(begin):
            return short + name.removeprefix(begin)
    return name


def used(node: Node) -> Uses:
    """Return the names that a node currently uses, by rule."""
    me = node.get_name(), node.get_namespace()
    graph = {SUBSCRIBE: node.get_subscriber_names_and_types_by_node(*me),
             PUBLISH: node.get_publisher_names_and_types_by_node(*me),
             REPLY: node.get_service_names_and_types_by_node(*me),
             REQUEST: node.get_client_names_and_types_by_node(*me),
             EXECUTE: get_action_server_names_and_types_by_node(node, *me),
             CALL: get_action_client_names_and_types_by_node(node, *me)}
    # the rule of an action covers its parts
    return {rule: {relative(name, me[0]) for name, _ in found if '/_action/' not in name}
            for rule, found in graph.items()}


def documented(name: str, page: str) -> Uses:
    """Return the names in the table of a node, including conditional ones."""
    found: Uses = {rule: set() for rule in RULES}
    for kind, topic in contracts.tables(page).get(name, {}):
        found[ROWS[kind]].add(FRAMES.get(topic, topic))
    return found


def declared(name: str, others: Iterable[str]) -> Uses:
    """Return names that depend on a bag or on other nodes."""
    found: Uses = {rule: set() for rule in RULES}
    topics = {FRAMES.get(topic, topic) for topic in read_topics_file(TOPICS)[0]}
    if name == 'recorder':
        found[SUBSCRIBE] = topics
    if name in ('recorder', 'safety_monitor'):
        found[REQUEST] = {f'{other}/{service}' for other in others for service in RECORDED
                          if other != name}
    if name == 'player':
        found[PUBLISH] = {topic for topic in topics if not commands(topic)} - set(PRIVATE)
    return found


def all_uses() -> dict[str, Uses]:
    """Start every node; return {node: permitted names}."""
    page, found = PAGE.read_text(encoding='utf-8'), {}
    with Bag(BAG) as bag:
        played = set(bag.topics)
    with tempfile.TemporaryDirectory() as folder:
        nodes = starts(folder)
        for name, variants in nodes.items():
            parts = [documented(name, page), declared(name, nodes)]
            for start in variants:
                parts.append(seen(start))
            if name == 'player':
                # names of a bag are those of the robot that was recorded
                parts[-1][PUBLISH] -= played - {'/rosout', '/diagnostics', '/clock'}
            found[name] = {rule: set().union(*(part[rule] for part in parts)) for rule in RULES}
    return found


def seen(start: Callable[..., Node]) -> Uses:
    """Return the names that a started node uses."""
    context = rclpy.Context()
    rclpy.init(context=context)
    try:
        node = start(context=context)
        try:
            return used(node)
        finally:
            node.destroy_node()
    finally:
        context.try_shutdown()


def profile(name: str, uses: Uses) -> list[str]:
    """Return the lines of a node's profile."""
    lines = [f'        <profile ns="/" node={quoteattr(name)}>']
    for rule in RULES:
        if not uses[rule]:
            continue
        kind, allowed = rule
        lines += [f'          <{kind}s {allowed}="ALLOW">',
                  *(f'            <{kind}>{use}</{kind}>' for use in sorted(uses[rule])),
                  f'          </{kind}s>']
    return [*lines, '        </profile>']


def policy(enclaves: Mapping[str, Mapping[str, Uses]]) -> str:
    """Return a policy, {enclave: {node: permitted names}}, as text."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>',
             '<!-- written by scripts/write_security_policies.py; docs/security.md explains -->',
             '<policy version="0.2.0">', '  <enclaves>']
    for path, nodes in enclaves.items():
        lines += [f'    <enclave path={quoteattr(path)}>', '      <profiles>',
                  *(line for name, uses in nodes.items() for line in profile(name, uses)),
                  '      </profiles>', '    </enclave>']
    return '\n'.join([*lines, '  </enclaves>', '</policy>', ''])


def policies(uses: Mapping[str, Uses]) -> dict[str, str]:
    """Return {file name: text}: a process for each node, and the chain in one process."""
    return {
        'nodes.policy.xml': policy({f'{ENCLAVES}/{name}': {name: uses[name]}
                                    for name in sorted(uses)}),
        'robot_nodes.policy.xml': policy({
            f'{ENCLAVES}/robot_nodes_{form}': {name: uses[name] for name in [*CHAIN, *more]}
            for form, more in (('controllers', []), ('sim', ['simulation']),
                               ('hardware', ['hardware_interface']))})}


def main() -> None:
    """Write the policies."""
    # the nodes that are started here are not visible to other computers
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    PLACE.mkdir(exist_ok=True)
    for name, text in policies(all_uses()).items():
        (PLACE / name).write_text(text, encoding='utf-8')


if __name__ == '__main__':
    main()
