# SPDX-License-Identifier: Apache-2.0
"""
Interfaces of the running nodes, and their tables in docs/nodes.md.

A table is between ``<!-- topics: NODE -->`` and ``<!-- end -->``. Kind, name, type and quality of
service come from the node; *when* and *meaning* are written by hand. The condition of an optional
interface is checked if it has the form ``parameter: value, value``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import rclpy
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile

from c3p_bringup.nodes import NODES, node_class
from c3p_ros.input_watch import type_name

# recorder and player offer what their bags hold
DOCUMENTED = tuple(name for name in NODES if name not in ('recorder', 'player'))
# parameters that enable the optional interfaces of a node; one start for each
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    'sensed_kinematics': ({}, {'calibration.enabled': True, 'imu.enabled': True}),
    'position_controller': ({}, {'controller': 'paper'}),
    'velocity_controller': ({}, {'controller': 'paper'}),
    'module_controller': ({'robot': 'swerve'},
                          {'robot': 'swerve', 'steering_interface': 'velocity'}),
    'simulation': ({'publish_clock': True},),
    'rough_ground': ({'publish_clock': True},),
    'marker': ({}, {'robot': 'pvc_tricycle'}),
    'emulated_cards': ({'bus.interface': 'virtual', 'bus.channel': 'documentation'},),
    'ros2_control_bridge': ({}, {'direction': 'from_ros2_control'}),
}
# what rclpy itself adds to a node
FOREIGN_TOPICS = ('/rosout', '/parameter_events')
FOREIGN_TYPES = ('rcl_interfaces/', 'type_description_interfaces/', 'action_msgs/')

HEAD = ('| | name | type | quality of service | when | meaning |\n|---|---|---|---|---|---|')
BLOCK = re.compile(r'<!-- topics: (\w+) -->\n(.*?)<!-- end -->', re.DOTALL)
CONDITION = re.compile(r'(\w+): (.+)')

Place = tuple[str, str]


class Row(NamedTuple):
    """One table row: type and quality from the node, the other cells from the page."""

    type: str
    quality: str
    when: str
    meaning: str


def quality(profile: QoSProfile) -> str:
    """Return a profile as named on the page."""
    kind = (profile.reliability.name, profile.durability.name)
    name, depth = {
        ('BEST_EFFORT', 'VOLATILE'): ('sensor data', 5),
        ('RELIABLE', 'VOLATILE'): ('latest' if profile.depth == 1 else 'reliable',
                                   min(profile.depth, 10)),
        ('RELIABLE', 'TRANSIENT_LOCAL'): ('latched', 1)}[kind]
    return name if profile.depth == depth else f'{name}, {profile.depth}'


def offers(node: Node) -> dict[Place, tuple[str, str]]:
    """Return {(kind, name): (type, quality of service)} of a running node."""
    def relative(name: str) -> str:
        own = f'/{node.get_name()}/'
        if name.startswith(own):
            return name.replace(own, '~/', 1)
        # absolute for the whole suite; everything else is in the namespace of the node
        return name if name.startswith(('~', '/diag', '/tf', '/clock')) else name.lstrip('/')

    found = {('publishes', relative(p.topic_name)): (type_name(p.msg_type),
                                                     quality(p.qos_profile))
             for p in node.publishers if p.topic_name not in FOREIGN_TOPICS}
    for subscription in node.subscriptions:
        if subscription.topic_name in FOREIGN_TOPICS:
            continue
        place = ('subscribes', relative(subscription.topic_name))
        # a lock has several, so that every publisher is received
        before = found[place][1] + '; ' if place in found else ''
        found[place] = type_name(subscription.msg_type), before + quality(subscription.qos_profile)
    found |= {('service', relative(s.srv_name)): (type_name(s.srv_type), '')
              for s in node.services}
    found |= {('action', relative(name)): (types[0], '')
              for name, types in get_action_server_names_and_types_by_node(
                  node, node.get_name(), node.get_namespace())}
    # the parts that an action is made of
    ours = {(kind, name): value for (kind, name), value in found.items()
            if not value[0].startswith(FOREIGN_TYPES) and '/_action/' not in name}
    # rclpy's own, to follow the time
    if ('publishes', '/clock') not in ours:
        ours.pop(('subscribes', '/clock'), None)
    return ours


def contract(name: str) -> dict[Place, tuple[str, str]]:
    """Start a node once per variant; return all its interfaces."""
    found: dict[Place, tuple[str, str]] = {}
    context = rclpy.Context()
    rclpy.init(context=context)
    try:
        for options in VARIANTS.get(name, ({},)):
            node = node_class(name)(context=context, parameter_overrides=[
                Parameter(key, value=value) for key, value in options.items()])
            found |= offers(node)
            node.destroy_node()
    finally:
        context.try_shutdown()
    return found


def rows(table: str) -> dict[Place, Row]:
    """Return the rows of a table on the page."""
    cells = [[cell.strip() for cell in line.strip('|').split('|')]
             for line in table.splitlines()[2:]]
    return {(kind, name.strip('`')): Row(*rest) for kind, name, *rest in cells}


def tables(page: str) -> dict[str, dict[Place, Row]]:
    """Return the rows of every table on the page."""
    return {name: rows(text) for name, text in BLOCK.findall(page)}


def updated(written: Mapping[Place, Row], offered: Mapping[Place, tuple[str, str]]
            ) -> dict[Place, Row]:
    """Return the updated table: without obsolete rows, with empty meanings for new rows."""
    kept = {place: row._replace(type=offered[place][0], quality=offered[place][1])
            if place in offered else row
            for place, row in written.items()
            if place in offered or (row.when and not CONDITION.fullmatch(row.when))}
    return kept | {place: Row(*value, '', '') for place, value in offered.items()
                   if place not in kept}


def shown(table: Mapping[Place, Row]) -> str:
    """Return a table as text."""
    lines = [f'| {kind} | `{name}` | ' + ' | '.join(row) + ' |'
             for (kind, name), row in table.items()]
    return re.sub(r'\|  (?=\|)', '| ', '\n'.join([HEAD, *lines]))


def rewritten(page: str, offered: Mapping[str, Mapping[Place, tuple[str, str]]]) -> str:
    """
    Return the page with updated tables of these nodes.

    The interfaces of every node are in the table ``common`` only.

    Raises
    ------
    ValueError
        A node without a table on the page.
    """
    there = tables(page)
    if missing := sorted(set(offered) - set(there)):
        raise ValueError(f'nodes.md: no table for {missing}; add the line '
                         f'<!-- topics: {missing[0]} --> and <!-- end --> below it')

    def fill(found: re.Match[str]) -> str:
        name = found.group(1)
        if name not in offered:
            return found.group(0)
        own = {place: value for place, value in offered[name].items()
               if place not in there['common']}
        return f'<!-- topics: {name} -->\n{shown(updated(there[name], own))}\n<!-- end -->'

    return BLOCK.sub(fill, page)
