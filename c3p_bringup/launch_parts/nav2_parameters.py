# SPDX-License-Identifier: Apache-2.0
"""Nav2 parameters that depend on the robot, its namespace and the localisation."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from c3p_description.model import CasterRobot

COSTMAPS = ('local_costmap', 'global_costmap')

# around the robot, in which it costs to drive, m
INFLATION = 0.32

# how far the map of the controller reaches beyond the robot at least, m: 2 s at 0.5 m/s
BEYOND = 1.0

# what is planned in where there is no map, m
ROLLING_MAP = 20

# a radius is rounded up to this, m: a fifth of a cell
GRAIN = 0.01

LOCALIZATIONS = ('amcl', 'slam', 'none')

# the input of velocity_smoother, as nav2_bringup remaps it for the controllers and behaviors
UNSMOOTHED = 'cmd_vel_nav'


def outer_radius(robot: CasterRobot) -> float:
    """
    Return the radius of the circle that contains every wheel at every steering angle, m.

    A wheel that trails outward reaches hip + offset + radius; the wheel's breadth adds less than
    the rounding.

    Examples
    --------
    >>> from c3p_description import load
    >>> outer_radius(load('c3p'))
    0.43
    """
    hips = np.hypot(*np.asarray(robot.hip_position).T)
    farthest = float(np.max(hips + np.abs(robot.caster_offset) + robot.wheel_radius))
    return math.ceil(farthest / GRAIN - 1e-9) * GRAIN


def scan_topic(namespace: str, scan: str) -> str:
    """
    Return the absolute topic of the laser `scan` of a robot in `namespace`.

    Examples
    --------
    >>> scan_topic('robot1', 'scan'), scan_topic('/robot1/', '/lidar'), scan_topic('', 'scan')
    ('/robot1/scan', '/lidar', '/scan')
    """
    if scan.startswith('/'):
        return scan
    prefix = namespace.strip('/')
    return f'/{prefix}/{scan}' if prefix else f'/{scan}'


def remapping_rules(content: Mapping[str, Any], scan: str) -> list[tuple[str, str]]:
    """
    Return the remapping rules for nodes whose topics the parameters in `content` do not reach.

    The following server checks no collision: its commands go through velocity_smoother and
    collision_monitor. The docking server checks them itself and drives closer to the dock than the
    monitor permits: its commands go to the topic of the monitor's output, so that they pass the
    same multiplexer. Neither server has a parameter for its topic. slam_toolbox has parameters of
    its own package, with the topic ``/scan``; it gets the absolute topic `scan`.

    Examples
    --------
    >>> remapping_rules({}, '/robot1/scan')
    [('slam_toolbox:/scan', '/robot1/scan'), ('following_server:cmd_vel', 'cmd_vel_nav')]
    >>> monitor = {'cmd_vel_out_topic': 'cmd_vel_navigation'}
    >>> remapping_rules({'collision_monitor': {'ros__parameters': monitor}}, '/scan')[2:]
    [('docking_server:cmd_vel', 'cmd_vel_navigation')]
    """
    rules = [('slam_toolbox:/scan', scan), ('following_server:cmd_vel', UNSMOOTHED)]
    monitor = content.get('collision_monitor', {}).get('ros__parameters', {})
    if 'cmd_vel_out_topic' in monitor:
        rules.append(('docking_server:cmd_vel', monitor['cmd_vel_out_topic']))
    return rules


def nav2_parameters(content: Mapping[str, Any], robot: CasterRobot, namespace: str = '',
                    scan: str = 'scan', localization: str = 'amcl', command: str = ''
                    ) -> dict[str, Any]:
    """
    Return the parameters for one robot; `content` stays as it is.

    `content` is that of config/nav2.yaml, or of the user's own file. The radius of the `robot`
    goes into both costmaps, and the local one grows with it. Jazzy's costmaps look for topics
    below themselves, so theirs become absolute: `scan` is the topic of the laser scan in the
    `namespace`, or an absolute one. `localization` is one of LOCALIZATIONS; ``none``: the costmap
    moves along instead of a map. `command` is the topic on which Nav2 commands the robot; empty:
    as in `content`.

    Raises
    ------
    ValueError
        An unknown `localization`, a `content` without the costmaps, or one without the node that
        `command` is for.
    """
    if localization not in LOCALIZATIONS:
        raise ValueError(f'localization = {localization!r}: must be one of {LOCALIZATIONS}')
    made = copy.deepcopy(dict(content))
    missing = [name for name in COSTMAPS if name not in made]
    if missing:
        raise ValueError(f'no {" and no ".join(missing)} in the parameters of Nav2')
    topic = scan_topic(namespace, scan)
    for name in COSTMAPS:
        values = made[name][name]['ros__parameters']
        values['robot_radius'] = outer_radius(robot)
        for layer in map(values.get, values.get('plugins', ())):
            for source in str((layer or {}).get('observation_sources', '')).split():
                layer[source]['topic'] = topic
            if layer and 'inflation_radius' in layer:
                layer['inflation_radius'] = round(outer_radius(robot) + INFLATION, 6)
    local = made['local_costmap']['local_costmap']['ros__parameters']
    for side in {'width', 'height'} & set(local):
        local[side] = max(local[side], math.ceil(2.0 * (outer_radius(robot) + BEYOND)))
    for node, source in (('amcl', 'scan_topic'), ('collision_monitor', '')):
        values = made.get(node, {}).get('ros__parameters', {})
        if source in values:
            values[source] = topic
        for sensor in values.get('observation_sources', ()):
            values[sensor]['topic'] = topic
    if command:
        # the last of those that a command passes
        monitor = made.get('collision_monitor', {}).get('ros__parameters', {})
        if 'cmd_vel_out_topic' not in monitor:
            raise ValueError(f'cmd_vel = {command!r}: no collision_monitor with a '
                             'cmd_vel_out_topic in the parameters of Nav2; remap it there')
        monitor['cmd_vel_out_topic'] = command
    if localization == 'none':
        values = made['global_costmap']['global_costmap']['ros__parameters']
        values['plugins'] = [p for p in values['plugins'] if p != 'static_layer']
        values.update(rolling_window=True, width=ROLLING_MAP, height=ROLLING_MAP)
    return made
