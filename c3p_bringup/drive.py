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
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from c3p_bringup.drive_client import DriveClient
from c3p_bringup.drive_story import distinct
from c3p_bringup.options import DriveOptions, parameter_files
from c3p_bringup.processes import NodeProcess
from c3p_bringup.spinner import Spinner
from c3p_description.reading.loader import load_casters
from c3p_ros.executor import make_executor, steady_process

MODULES = {
    'sensed_kinematics': 'c3p_kinematics.sensed_kinematics_node',
    'position_controller': 'c3p_controller.position_controller_node',
    'velocity_controller': 'c3p_controller.velocity_controller_node',
    'inverse_dynamics': 'c3p_dynamics.inverse_dynamics_node',
    'recorder': 'c3p_bags.recorder.recorder_node',
}
# what is behind the joints: a node that owns the cycle, and whoever it needs
ROBOTS = {
    'none': {'simulation': 'c3p_simulation.simulation_node'},
    'emulated': {'emulated_cards': 'c3p_simulation.emulated_cards_node',
                 'hardware_interface': 'c3p_hardware.hardware_interface_node'},
}

# real time that the nodes may take to get ready; the first run ever compiles all kernels, s
READY_WITHIN = 120.0

# how long other robots on the network are looked for, s
LOOK_AROUND = 0.5


class DriveError(ValueError):
    """A drive that could not be carried out; the text says what was missing."""


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
        As `metrics.drive_metrics`, with ``failures`` (what nodes reported or how they ended),
        ``files`` and, when the goal was missed, ``missed``: why, in one line.

    Raises
    ------
    DriveError
        The nodes did not get ready, or another robot is on the same topics.
    ValueError
        Options or parameters that cannot be.
    KeyboardInterrupt
        SIGINT or SIGTERM came, while the nodes ran; all have been ended, and the bag is kept.
    """
    load_casters(options.robot)  # an unknown robot is told before anything starts
    # a simulated robot must not be heard by the real one on the laboratory's network
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    options.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='c3p_drive_')))
        bag = place / 'bag'
        try:
            client, failures = _run(options, bag, place, say, progress)
        finally:
            # also of a drive that was interrupted, or could not be carried out
            kept = keep_bag(options, bag)
            if kept is not None:
                say(f'the bag is {kept}')
        figures = report(options, bag, failures, client.zone)
        if kept is not None:
            figures['files']['bag'] = str(kept)
        if not figures['reached']:
            figures['missed'] = client.story.missed(figures, options.timeout, client.distance)
        return figures


def keep_bag(options: DriveOptions, bag: Path) -> Path | None:
    """
    Copy a bag to where the options keep it; return the place, None where there is none to keep.

    Parameters
    ----------
    options : DriveOptions
    bag : Path
        Directory; what is there of it when the recorder has ended.
    """
    if not options.keep_bag or not bag.is_dir():
        return None
    kept, made = options.out / 'bag', options.out / '.bag'
    for old in (made, kept):
        shutil.rmtree(old, ignore_errors=True)
    # whole or not at all: a second Ctrl-C may come
    shutil.copytree(bag, made)
    made.rename(kept)
    return kept


def _run(options: DriveOptions, bag: Path, place: Path, say: Callable[[str], None],
         progress: Callable[[float, float], None]) -> tuple[DriveClient, list[str]]:
    """Run all nodes until the goal is held or missed; return what is known of it, and faults."""
    arguments = [part for path in parameter_files(options, bag, place)
                 for part in ('--params-file', str(path))]
    with ExitStack() as stack:
        try:
            rclpy.init(args=['--ros-args', *arguments],
                       signal_handler_options=SignalHandlerOptions.NO)
        except RuntimeError as error:  # a parameter file that ROS cannot read
            raise DriveError(f'{error}'.replace('\n', ' ')) from error
        stack.callback(rclpy.try_shutdown)
        executor = make_executor()
        stack.callback(executor.shutdown, timeout_sec=1.0)
        client = _add(stack, executor, lambda: DriveClient(options.hardware != 'none'))
        spinner = stack.enter_context(Spinner(executor))
        _refuse_company(spinner, client)
        processes = _start(options, arguments, place, stack, executor)
        _wait_until_ready(options, spinner, client, processes, say)
        # who was not found at once has been by now: discovery may take seconds
        if client.count_publishers('joint_states') > 1:
            raise _company(client)
        steady_process()
        _send_goal(options, spinner, client)
        ended = _follow(options, spinner, client, processes, progress)
        failures = distinct(client.errors) + ended
        # one more second of diagnostics, so that the bag ends with the figures of the whole run
        spinner.wait(1.1)
        client.zone = client.goal_zone()
    return client, failures


def _add(stack: ExitStack, executor: Executor, factory: type[Node]) -> Any:
    node = factory()
    stack.callback(node.destroy_node)
    executor.add_node(node)
    return node


def _refuse_company(spinner: Spinner, client: DriveClient) -> None:
    spinner.wait(LOOK_AROUND)
    if client.others_on_the_air():
        raise _company(client)


def _company(client: DriveClient) -> DriveError:
    return DriveError(f'another robot is on these topics: {client.others_on_the_air()}. Stop it, '
                      'or choose another ROS_DOMAIN_ID, so that two robots do not follow one goal')


def _start(options: DriveOptions, arguments: Sequence[str], place: Path, stack: ExitStack,
           executor: Executor) -> list[NodeProcess]:
    """Start every node, here or in a process of its own."""
    modules = {**ROBOTS[options.hardware], **MODULES}
    apart = [name for name in modules if options.nodes == 'processes'
             # the cards are a computer of their own
             or name == 'emulated_cards'
             # in lockstep the recorder sits with the others, so that nothing is ever dropped
             or (name == 'recorder' and not options.lockstep)]
    processes = []
    for name in apart:
        process = NodeProcess(name, modules[name], arguments, place / f'{name}.log')
        stack.callback(process.stop)
        processes.append(process)
    if options.nodes == 'one-process':
        from c3p_bringup.robot_nodes import CHAIN, robot_node
        if 'recorder' not in apart:
            from c3p_bags.recorder.recorder_node import RecorderNode
            _add(stack, executor, RecorderNode)
        for factory in (*CHAIN, robot_node(options.hardware)):
            _add(stack, executor, factory)
    return processes


def _ended(processes: Sequence[NodeProcess]) -> list[str]:
    return [how for how in (process.ended() for process in processes) if how]


def _wait_until_ready(options: DriveOptions, spinner: Spinner, client: DriveClient,
                      processes: Sequence[NodeProcess], say: Callable[[str], None]) -> None:
    begin, told = time.monotonic(), False
    nodes = [*MODULES, *ROBOTS[options.hardware]]
    while lacking := client.missing(nodes, recorded=True):
        waited = time.monotonic() - begin
        if ended := _ended(processes):
            raise DriveError('; '.join(ended))
        if waited > READY_WITHIN or not rclpy.ok():
            raise DriveError(f'not ready after {waited:.0f} s: {lacking}')
        if waited > 8.0 and not told:
            say('waiting for the nodes; the first run compiles the kernels ...')
            told = True
        spinner.wait(0.1)


def _send_goal(options: DriveOptions, spinner: Spinner, client: DriveClient) -> None:
    """Send the goal; in lockstep the simulation goes on once it has been taken."""
    end = time.monotonic() + READY_WITHIN
    if options.lockstep:
        spinner.until(lambda: client.held() or time.monotonic() > end)
    counting = client.count_afresh()
    spinner.until(lambda: counting.done() or time.monotonic() > end, period=0.02)
    if options.hardware != 'none':
        _arm(spinner, client, end)
    client.send(np.asarray(options.goal, float))
    spinner.until(lambda: client.accepted or time.monotonic() > end, period=0.02)
    if not client.accepted:
        raise DriveError('the position controller did not take the goal: '
                         + '; '.join(f'{s.name} {s.message}' for s in client.health.values()))
    if options.lockstep:
        client.resume()


def _arm(spinner: Spinner, client: DriveClient, end: float) -> None:
    """Ask the hardware interface to arm the motors, until it does."""
    refused = 'no answer'
    while time.monotonic() < end:
        for name, ask in (('enable', client.enable), ('recover', client.recover)):
            answer = _answer(spinner, ask(), end)
            if answer is not None and name == 'enable' and answer.success:
                return
            if answer is not None and not answer.success:
                refused = answer.message
        spinner.wait(0.1)
    raise DriveError(f'the motors cannot be armed: {refused}')


def _answer(spinner: Spinner, asked: Future, end: float) -> Any:
    """Spin until a service has answered; None when it does not before `end`."""
    spinner.until(lambda: asked.done() or time.monotonic() > end, period=0.02)
    return asked.result() if asked.done() else None


def _follow(options: DriveOptions, spinner: Spinner, client: DriveClient,
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
        # a goal that was given up is not reached any more
        ended = bool(client.story.ended) or bool(_ended(processes))
        return held or ended or now - begin > options.timeout

    spinner.until(over)
    return _ended(processes)


def report(options: DriveOptions, bag: Path, failures: Sequence[str],
           zone: tuple[float, float]) -> dict[str, Any]:
    """
    Compute figures and picture from the bag.

    Parameters
    ----------
    options : DriveOptions
    bag : Path
    failures : sequence of str
        Go into the figures.
    zone : (float, float), m and rad
        Goal and yaw tolerance.
    """
    from c3p_bags.report.write import write_drive
    from c3p_bags.runs.log_reader import read_run
    from c3p_bags.runs.metrics import drive_metrics
    from c3p_bags.storage.bag import Bag

    robot = load_casters(options.robot)
    with Bag(bag) as opened:
        log = read_run(opened, robot)
    metrics = drive_metrics(log, robot, options.goal, *zone)
    metrics['files'] = write_drive(log, robot, metrics, options.out)
    metrics['failures'] = list(failures)
    return metrics
