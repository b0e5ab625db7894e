# SPDX-License-Identifier: Apache-2.0
"""Simulated robots that run until Ctrl-C or for a while, and what they have to tell then."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions

from c3p_bringup.options import known_latency
from c3p_bringup.spinner import Spinner
from c3p_description.reading.files import share_file
from c3p_ros.executor import make_executor, steady_process
from c3p_simulation.pacing import WAIT

Factory = Callable[..., Node]


@dataclass(frozen=True)
class SimOptions:
    """
    What to simulate, and how.

    Attributes
    ----------
    robot : str
        Name or path of the description.
    start : (3,) sequence
        x, y, yaw, m and rad.
    duration : float, s
        Of robot time; None lasts until Ctrl-C.
    realtime_factor : float
        Other than 1 makes a /clock.
    realtime : str
        ``wait`` makes one, too: a robot on casters waits for its controllers while the computer is
        busy; ``strict``: it does not.
    parameters : sequence of Path
        ROS 2 parameter files, later ones win.
    chosen : mapping
        Parameters of the node that moves the robot, which win over the files.
    """

    robot: str
    start: Sequence[float] = (0.0, 0.0, 0.0)
    duration: float | None = None
    realtime_factor: float = 1.0
    realtime: str = WAIT
    parameters: Sequence[Path] = ()
    chosen: Mapping[str, Any] = field(default_factory=dict)


def simulate_tricycle(options: SimOptions, say: Callable[[str], None] = print) -> dict[str, Any]:
    """
    Drive the tricycle over its ground; return the figures of the run.

    Parameters
    ----------
    options : SimOptions
    say : callable
        Takes one line of text for the user.

    Raises
    ------
    ValueError
        Options, parameters, a vehicle or a ground that cannot be.
    """
    from c3p_simulation.tricycle.rough_ground_node import RoughGroundNode
    from c3p_viewers.marker_node import MarkerNode

    shown = False

    def told(node: RoughGroundNode) -> bool:
        nonlocal shown
        if not shown:
            shown = True
            say('on the topics joint_states, odom, rough_ground/terrain and '
                'rough_ground/contact_paths; cmd_vel drives; Ctrl-C ends')
            say(f'RViz: rviz2 -d {share_file("c3p_description/rviz/pvc.rviz")}')
        return node.run.time >= _duration(options) or bool(
            node.run.ended and options.duration is not None)

    # the ground that the vehicle drives on is the one that is drawn
    node = _run(options, [(RoughGroundNode, {**_time(options), **options.chosen,
                                             'start_pose': list(options.start)})], told,
                lambda node: (MarkerNode, {'terrain': node.parameters.value.terrain}))
    run = node.run
    return {'robot': options.robot, 'terrain': node.parameters.value.terrain,
            'robot_time_s': run.time, 'distance_m': run.distance,
            'position_m': run.state.position.tolist(), 'camber_max_rad': run.largest_camber,
            'closure_max': run.closure, 'ended': run.ended}


def simulate_casters(options: SimOptions, say: Callable[[str], None] = print) -> dict[str, Any]:
    """
    Run a caster robot with its control chain; return the figures of the run.

    Parameters
    ----------
    options : SimOptions
    say : callable
        As in `simulate_tricycle`.

    Raises
    ------
    ValueError
        Options, parameters or a robot that cannot be.
    """
    from c3p_bringup.robot_nodes import CHAIN
    from c3p_controller.velocity_controller_node import VelocityControllerNode
    from c3p_simulation.simulation_node import SimulationNode

    own_clock = options.realtime == WAIT or options.realtime_factor != 1.0
    follows = {'use_sim_time': own_clock}
    latency = {VelocityControllerNode: known_latency('analytic')}
    factories = [(factory, {**follows, **latency.get(factory, {})}) for factory in CHAIN]
    factories.append((SimulationNode, {
        **_time(options), 'realtime': options.realtime, 'publish_clock': own_clock,
        **options.chosen, 'start_pose': list(options.start)}))
    shown = False

    def told(node: SimulationNode) -> bool:
        nonlocal shown
        if not shown:
            shown = True
            say('on the topics joint_states, odom and ground_truth/odom; cmd_vel and goal_pose '
                'drive; Ctrl-C ends')
            say(f'RViz: rviz2 -d {share_file("c3p_description/rviz/c3p.rviz")}')
        return node.plant.time >= _duration(options)

    node = _run(options, factories, told)
    pose = node.plant.truth().pose
    return {'robot': options.robot, 'robot_time_s': node.plant.time, 'pose': pose.tolist(),
            'cycles': node.cycles, 'answered': node.pace.answered, 'overruns': node.overruns,
            'realtime_factor_achieved': node.pace.achieved}


def _duration(options: SimOptions) -> float:
    return math.inf if options.duration is None else options.duration


def _time(options: SimOptions) -> dict[str, Any]:
    """Return the parameters of the node that makes the time."""
    return {'realtime_factor': options.realtime_factor,
            'publish_clock': options.realtime_factor != 1.0}


Start = tuple[Factory, Mapping[str, Any]]


def _run(options: SimOptions, nodes: Sequence[Start], over: Callable[[Any], bool],
         beside: Callable[[Any], Start] | None = None) -> Any:
    """
    Run nodes with these parameters until `over(last node)` or Ctrl-C; return the last node.

    `beside` takes the last node and returns one more to run.
    """
    # a simulated robot must not be heard by the real one on the laboratory's network
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    for path in options.parameters:
        if not path.is_file():
            raise ValueError(f'{path}: no such file; name a ROS 2 parameter file')
    arguments = [part for path in options.parameters for part in ('--params-file', str(path))]
    with ExitStack() as stack:
        try:
            rclpy.init(args=['--ros-args', *arguments],
                       signal_handler_options=SignalHandlerOptions.NO)
        except RuntimeError as error:  # a parameter file that ROS cannot read
            raise ValueError(f'{error}'.replace('\n', ' ')) from error
        stack.callback(rclpy.try_shutdown)
        executor = make_executor()
        stack.callback(executor.shutdown, timeout_sec=1.0)

        def add(factory: Factory, parameters: Mapping[str, Any]) -> Node:
            made = factory(parameter_overrides=[
                Parameter(name, value=value)
                for name, value in {'robot': options.robot, **parameters}.items()])
            stack.callback(made.destroy_node)
            executor.add_node(made)
            return made

        for factory, parameters in nodes:
            node = add(factory, parameters)
        if beside is not None:
            add(*beside(node))
        steady_process()
        with Spinner(executor) as spinner:
            try:
                spinner.until(lambda: over(node))
            except KeyboardInterrupt:
                pass  # how it is meant to end
    return node
