# SPDX-License-Identifier: Apache-2.0
"""``c3p sim``: a simulated robot on real topics until Ctrl-C or for a given time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rclpy

from c3p_bringup.near import stay_near
from c3p_bringup.nodes import CHAIN, node_class
from c3p_bringup.options import known_latency, sensors_parameter
from c3p_bringup.other_robots import OtherRobots
from c3p_description.reading.files import share_file
from c3p_description.reading.vehicle_files import is_vehicle
from c3p_ros.executor import steady_process
from c3p_ros.session import Session
from c3p_simulation.pacing import WAIT

# the position controller as a source of the twist_mux
REMAPPED = {'cli_args': ['--ros-args', '-r', 'cmd_vel:=cmd_vel_position']}


@dataclass(frozen=True)
class SimOptions:
    """
    Options of a simulation.

    With `realtime` ``wait`` a caster robot waits for its controllers while the computer is busy,
    and publishes /clock; with ``strict`` it does not wait.
    """

    robot: str                                              # name or path of the description
    start: Sequence[float] = (0.0, 0.0, 0.0)                # x, y, yaw, m and rad
    duration: float | None = None                           # robot time, s; None: until Ctrl-C
    realtime_factor: float = 1.0                            # other than 1 publishes /clock
    realtime: str = WAIT
    muxed: bool = False                                     # run a twist_mux with an e-stop
    parameters: Sequence[Path] = ()                         # files; later ones take precedence
    # parameters of the simulating node, and of casters also ``controller``; they take precedence
    chosen: Mapping[str, Any] = field(default_factory=dict)


def simulate_tricycle(options: SimOptions, announce: Callable[[str], None] = print
                      ) -> dict[str, Any]:
    """
    Drive a tricycle or another vehicle over its ground as in `options`; return its metrics.

    `announce` takes one line of text for the user. ValueError: invalid options, parameters,
    vehicle or ground. OtherRobotError: another robot uses the same topics.
    """
    def over(node: Any) -> bool:
        return node.run.time >= _duration(options) or bool(
            node.run.ended and options.duration is not None)

    nodes = {'rough_ground': {**_time(options), **options.chosen,
                              'start_pose': list(options.start)}}
    if is_vehicle(options.robot):
        node = _run(options, nodes, over, (
            'topics joint_states and odom; cmd_vel drives; Ctrl-C ends', 'pvc.rviz'), announce)
    else:
        # the markers show the ground that the vehicle drives on
        node = _run(options, nodes, over, (
            'topics joint_states, odom, rough_ground/terrain and rough_ground/contact_paths; '
            'cmd_vel drives; Ctrl-C ends', 'pvc.rviz'), announce, lambda node: {
                'marker': {'terrain': node.parameters.value.terrain}})
    run = node.run
    return {'robot': options.robot, 'terrain': node.parameters.value.terrain,
            'robot_time_s': run.time, 'distance_m': run.distance,
            'position_m': run.state.position.tolist(), 'camber_max_rad': run.largest_camber,
            'closure_max': run.closure, 'ended': run.ended}


def simulate_casters(options: SimOptions, announce: Callable[[str], None] = print
                     ) -> dict[str, Any]:
    """Run a caster robot with its control chain; otherwise as `simulate_tricycle`."""
    own_clock = options.realtime == WAIT or options.realtime_factor != 1.0
    nodes: dict[str, dict[str, Any]] = {name: {'use_sim_time': own_clock} for name in CHAIN}
    chosen = dict(options.chosen)
    controller = {'controller': chosen.pop('controller')} if 'controller' in chosen else {}
    sensors = chosen.pop('sensors', '')
    nodes['velocity_controller'] |= known_latency(
        chosen.get('plant', 'analytic'), controller=controller.get('controller', ''),
        sensors=sensors) | controller
    nodes['position_controller'] |= controller
    nodes['simulation'] = {
        **_time(options), 'realtime': options.realtime, 'publish_clock': own_clock,
        **chosen, **sensors_parameter(sensors), 'start_pose': list(options.start)}
    node = _run(options, nodes, lambda node: node.plant.time >= _duration(options), (
        'topics joint_states, odom and ground_truth/odom; cmd_vel and goal_pose drive; Ctrl-C '
        'ends', 'c3p.rviz'), announce, lambda node: (
            {'twist_mux': {**open_mux(), 'use_sim_time': own_clock}} if options.muxed else {}))
    pose = node.plant.truth().pose
    return {'robot': options.robot, 'robot_time_s': node.plant.time, 'pose': pose.tolist(),
            'cycles': node.cycles, 'answered': node.pace.answered, 'overruns': node.pace.overruns,
            'realtime_factor_achieved': node.pace.achieved}


def open_mux() -> dict[str, Any]:
    """Return the parameters of a twist_mux whose e-stop is released at the start."""
    from c3p_controller.ros.mux_inputs import LOCKS, shipped

    values = {f'{group}.{key}': value for group, entries in shipped().items()
              for key, value in entries.items()}
    # a simulated robot injures no person, and `c3p sim` may be driven at once
    return {**values, f'{LOCKS}.e_stop.start': 'open'}


def _duration(options: SimOptions) -> float:
    return math.inf if options.duration is None else options.duration


def _time(options: SimOptions) -> dict[str, Any]:
    """Return the clock parameters of the simulating node."""
    return {'realtime_factor': options.realtime_factor,
            'publish_clock': options.realtime_factor != 1.0}


def _run(options: SimOptions, nodes: Mapping[str, Mapping[str, Any]], over: Callable[[Any], bool],
         invitation: tuple[str, str], announce: Callable[[str], None],
         beside: Callable[[Any], Mapping[str, Mapping[str, Any]]] = lambda node: {}) -> Any:
    """
    Run nodes with these parameters until `over(last node)` or Ctrl-C; return the last node.

    `beside` takes the last node and returns further nodes to run.
    """
    # a simulated robot must not reach the real one on the laboratory's network
    if warning := stay_near():
        announce(f'warning: {warning}')
    for path in options.parameters:
        if not path.is_file():
            raise ValueError(f'{path}: no such file; name a ROS 2 parameter file')
    arguments = [part for path in options.parameters for part in ('--params-file', str(path))]
    with Session(['--ros-args', *arguments]) as session:
        others = OtherRobots(session, session.add(rclpy.create_node, node_name='sim'))
        # their imports take longer than the discovery of other robots
        for name in nodes:
            node_class(name)
        others.search()
        others.joined(f'/{name}' for name in nodes)
        for name, values in nodes.items():
            remap = REMAPPED if options.muxed and name == 'position_controller' else {}
            node = session.add(node_class(name), {'robot': options.robot, **values}, **remap)
        for name, values in beside(node).items():
            session.add(node_class(name), {'robot': options.robot, **values})
        steady_process()
        topics, layout = invitation
        announce(topics)
        announce(f'RViz: rviz2 -d {share_file(f"c3p_description/rviz/{layout}")}')
        try:
            others.until(lambda: over(node))
        except KeyboardInterrupt:
            pass  # the intended end
    return node
