# SPDX-License-Identifier: Apache-2.0
"""
``c3p drive``: nodes, simulated robot and recorder on real topics, one goal, numbers and a picture.

What is reported comes from the recorded bag alone, so the same figures can be had of any bag.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
import yaml
from rclpy.executors import Executor
from rclpy.node import Node

from c3p_description.loader import load
from c3p_ros.executor import make_executor, spin, steady_process
from c3p_simulation.drive_client import DriveClient
from c3p_simulation.processes import NodeProcess

MODULES = {
    'sensed_kinematics': 'c3p_kinematics.sensed_kinematics_node',
    'position_controller': 'c3p_controller.position_controller_node',
    'velocity_controller': 'c3p_controller.velocity_controller_node',
    'inverse_dynamics': 'c3p_dynamics.inverse_dynamics_node',
    'simulation': 'c3p_simulation.simulation_node',
    'recorder': 'c3p_simulation.recorder_node',
}

# real time that the nodes may take to get ready; the first run ever compiles all kernels, s
READY_WITHIN = 120.0

# cycle at which lockstep waits for the goal: the nodes are ready by then, and every drive begins
# there, so that two drives are the same bit for bit
HOLD_AT = 300

# how long other robots on the network are looked for, s
LOOK_AROUND = 0.5


class DriveError(RuntimeError):
    """A drive that could not be carried out; the text says what was missing."""


@dataclass(frozen=True)
class DriveOptions:
    """
    What to drive, and how.

    Attributes
    ----------
    goal : (3,) sequence, m and rad
        x, y and yaw in the odometry frame; the robot starts at its origin.
    out : Path
        Directory for pictures, numbers and the bag.
    robot : str
        Name or path of the description.
    start_steering : sequence of float, rad
        One for all casters or one for each.
    plant : str
    nodes : str
        ``one-process`` or ``processes``.
    realtime_factor : float
        Robot time per real time; 0 is lockstep, as fast as possible.
    rate : float, Hz
        Control cycles per second of robot time.
    keep_bag : bool
    timeout : float, s
        Robot time after which the goal counts as missed.
    dwell : float, s
        Robot time that the goal zone must be held.
    parameters : sequence of Path
        Parameter files, applied in order before the options above.
    """

    goal: Sequence[float]
    out: Path
    robot: str = 'c3p'
    start_steering: Sequence[float] = (0.0,)
    plant: str = 'analytic'
    nodes: str = 'one-process'
    realtime_factor: float = 1.0
    rate: float = 200.0
    keep_bag: bool = False
    timeout: float = 60.0
    dwell: float = 1.0
    parameters: Sequence[Path] = field(default_factory=tuple)

    @property
    def lockstep(self) -> bool:
        """True for as fast as possible."""
        return self.realtime_factor == 0.0

    @property
    def simulated_time(self) -> bool:
        """True where the robot's clock is not the system's."""
        return self.realtime_factor != 1.0


def parameter_file(options: DriveOptions, bag: Path, place: Path) -> Path:
    """Write the parameters of all nodes for these options and return the file."""
    simulated = options.simulated_time
    content = {
        '/**': {'ros__parameters': {'use_sim_time': simulated, 'robot': options.robot}},
        'simulation': {'ros__parameters': {
            'hold_at_cycle': HOLD_AT if options.lockstep else 0,
            'plant': options.plant, 'rate': float(options.rate), 'lockstep': options.lockstep,
            'realtime_factor': 1.0 if options.lockstep else float(options.realtime_factor),
            'publish_clock': simulated,
            'start_steering': [float(s) for s in options.start_steering],
            # the simulation makes the clock and must not wait for it
            'use_sim_time': False}},
        # who commands here is started here, so nobody has to be waited for
        'velocity_controller': {'ros__parameters': {'start_silence': 0.5}},
        'recorder': {'ros__parameters': {'bag': str(bag)}},
    }
    path = place / 'parameters.yaml'
    path.write_text(yaml.safe_dump(content), encoding='utf-8')
    return path


def drive(options: DriveOptions, say: Callable[[str], None] = print,
          progress: Callable[[float, float], None] = lambda time, distance: None
          ) -> dict[str, Any]:
    """
    Drive to the goal on real topics and return the figures of the run.

    Parameters
    ----------
    options : DriveOptions
    say : callable
        Takes one line of text for the user.
    progress : callable
        Takes robot time since the goal, s, and the distance to it, m.

    Returns
    -------
    dict
        As `metrics.drive_metrics`, with ``failures`` (what nodes reported or how they ended) and
        ``files``.

    Raises
    ------
    DriveError
        The nodes did not get ready, or another robot is on the same topics.
    ValueError
        Options or parameters that cannot be.
    """
    load(options.robot)  # an unknown robot is told before anything starts
    # a simulated robot must not be heard by the real one on the laboratory's network
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    options.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='c3p_drive_')))
        bag = place / 'bag'
        failures = _run(options, bag, place, say, progress)
        return report(options, bag, failures)


def _run(options: DriveOptions, bag: Path, place: Path, say: Callable[[str], None],
         progress: Callable[[float, float], None]) -> list[str]:
    """Run all nodes until the goal is held or missed; return what went wrong."""
    files = [*options.parameters, parameter_file(options, bag, place)]
    arguments = [part for path in files for part in ('--params-file', str(path))]
    with ExitStack() as stack:
        try:
            rclpy.init(args=['--ros-args', *arguments])
        except RuntimeError as error:  # a parameter file that ROS cannot read
            raise DriveError(f'{error}'.replace('\n', ' ')) from error
        stack.callback(rclpy.try_shutdown)
        executor = make_executor()
        stack.callback(executor.shutdown, timeout_sec=1.0)
        client = _add(stack, executor, DriveClient)
        _refuse_company(executor, client)
        processes = _start(options, arguments, place, stack, executor)
        _wait_until_ready(executor, client, processes, say)
        # who was not found at once has been by now: discovery may take seconds
        if client.count_publishers('joint_states') > 1:
            raise _company(client)
        steady_process()
        _send_goal(options, executor, client)
        ended = _follow(options, executor, client, processes, progress)
        failures = client.errors + ended
        # one more second of diagnostics, so that the bag ends with the figures of the whole run
        _spin_for(executor, 1.1)
    return failures


def _add(stack: ExitStack, executor: Executor, factory: type[Node]) -> Any:
    node = factory()
    stack.callback(node.destroy_node)
    executor.add_node(node)
    return node


def _refuse_company(executor: Executor, client: DriveClient) -> None:
    _spin_for(executor, LOOK_AROUND)
    if client.others_on_the_air():
        raise _company(client)


def _company(client: DriveClient) -> DriveError:
    return DriveError(f'another robot is on these topics: {client.others_on_the_air()}. Stop it, '
                      'or choose another ROS_DOMAIN_ID, so that two robots do not follow one goal')


def _spin_for(executor: Executor, seconds: float) -> None:
    end = time.monotonic() + seconds
    spin(executor, lambda: time.monotonic() > end, period=0.05)


def _start(options: DriveOptions, arguments: Sequence[str], place: Path, stack: ExitStack,
           executor: Executor) -> list[NodeProcess]:
    """Start every node, here or in a process of its own."""
    apart = [name for name in MODULES if options.nodes == 'processes'
             # in lockstep the recorder sits with the others, so that nothing is ever dropped
             or (name == 'recorder' and not options.lockstep)]
    processes = []
    for name in apart:
        process = NodeProcess(name, MODULES[name], arguments, place / f'{name}.log')
        stack.callback(process.stop)
        processes.append(process)
    if options.nodes == 'one-process':
        from c3p_simulation.robot_nodes import CHAIN
        from c3p_simulation.simulation_node import SimulationNode
        if 'recorder' not in apart:
            from c3p_simulation.recorder_node import RecorderNode
            _add(stack, executor, RecorderNode)
        for factory in (*CHAIN, SimulationNode):
            _add(stack, executor, factory)
    return processes


def _ended(processes: Sequence[NodeProcess]) -> list[str]:
    return [how for how in (process.ended() for process in processes) if how]


def _wait_until_ready(executor: Executor, client: DriveClient, processes: Sequence[NodeProcess],
                      say: Callable[[str], None]) -> None:
    begin, told = time.monotonic(), False
    while lacking := client.missing(list(MODULES), recorded=True):
        waited = time.monotonic() - begin
        if ended := _ended(processes):
            raise DriveError('; '.join(ended))
        if waited > READY_WITHIN or not rclpy.ok():
            raise DriveError(f'not ready after {waited:.0f} s: {lacking}')
        if waited > 8.0 and not told:
            say('waiting for the nodes; the first run compiles the kernels ...')
            told = True
        _spin_for(executor, 0.1)


def _send_goal(options: DriveOptions, executor: Executor, client: DriveClient) -> None:
    """Send the goal; in lockstep the simulation goes on once it has been taken."""
    end = time.monotonic() + READY_WITHIN
    if options.lockstep:
        spin(executor, lambda: client.held() or time.monotonic() > end, period=0.05)
    counting = client.count_afresh()
    spin(executor, lambda: counting.done() or time.monotonic() > end, period=0.02)
    client.send(np.asarray(options.goal, float))
    spin(executor, lambda: client.accepted or time.monotonic() > end, period=0.02)
    if not client.accepted:
        raise DriveError('the position controller did not take the goal: '
                         + '; '.join(f'{s.name} {s.message}' for s in client.health.values()))
    if options.lockstep:
        client.resume()


def _follow(options: DriveOptions, executor: Executor, client: DriveClient,
            processes: Sequence[NodeProcess], progress: Callable[[float, float], None]
            ) -> list[str]:
    """Spin until the goal zone is held, the time is up, or a process has ended."""
    begin, shown = client.robot_time, 0.0

    def over() -> bool:
        nonlocal shown
        now = client.robot_time
        if time.monotonic() - shown > 0.1 and client.distance is not None:
            shown = time.monotonic()
            progress(now - begin, client.distance)
        held = client.reached_since is not None and now - client.reached_since >= options.dwell
        return held or now - begin > options.timeout or bool(_ended(processes))

    spin(executor, over, period=0.05)
    return _ended(processes)


def report(options: DriveOptions, bag: Path, failures: Sequence[str]) -> dict[str, Any]:
    """Compute figures and picture from the bag; keep the bag when asked to."""
    from c3p_controller.position_controller import PositionGains
    from c3p_simulation.bag_report import bag_report

    gains = PositionGains()
    figures = bag_report(bag, options.robot, gains.goal_tolerance, options.out,
                         gains.yaw_tolerance, options.goal)
    figures['failures'] = list(failures)
    if options.keep_bag:
        kept = options.out / 'bag'
        if kept.exists():
            shutil.rmtree(kept)
        shutil.copytree(bag, kept)
        figures['files']['bag'] = str(kept)
    return figures
