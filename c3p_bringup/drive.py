# SPDX-License-Identifier: Apache-2.0
"""
``c3p drive``: nodes, simulated robot and recorder on real topics, one goal, metrics and a plot.

The metrics are computed from the recorded bag alone, so they can be obtained from any bag.
"""

from __future__ import annotations

import gc
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from rclpy.task import Future

from c3p_bringup.drive_client import DriveClient
from c3p_bringup.drive_report import Job, Reporter
from c3p_bringup.drive_story import distinct
from c3p_bringup.near import stay_near
from c3p_bringup.nodes import CHAIN, ROBOTS, module_of, node_class
from c3p_bringup.options import DriveOptions, bus_channel, check_cards, parameter_files
from c3p_bringup.other_robots import OtherRobotError, OtherRobots
from c3p_bringup.processes import NodeProcess
from c3p_controller import chosen_law
from c3p_controller.controllers import check_motors
from c3p_controller.predictive.standing_start import check_start
from c3p_description.model import CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_ros.executor import steady_process
from c3p_ros.session import Session

# time limit for the start of the nodes; the first run compiles all kernels, s
READY_WITHIN = 120.0
# a goal that is not accepted is sent again after so long, s
SENT_AGAIN = 2.0

# time limit for the cancellation of a goal that another robot may follow, s
CANCELLED_WITHIN = 1.0

# time until the last diagnostics are recorded, s: of nodes of this process, which publish them
# on request, and of others, which publish once a second
RECORDED_WITHIN = 0.2
DIAGNOSED_WITHIN = 1.1


class DriveError(ValueError):
    """The drive could not be carried out; the text names the cause."""


def drive(options: DriveOptions, announce: Callable[[str], None] = print,
          progress: Callable[[float, float], None] = lambda time, distance: None
          ) -> dict[str, Any]:
    """
    Drive to the goal on real topics and return the metrics of the run.

    Parameters
    ----------
    options : DriveOptions
    announce : callable
        Takes one line of text for the user.
    progress : callable
        Takes robot time since the goal, s, and the distance to it, m.

    Returns
    -------
    dict
        As `metrics.drive_metrics`, with ``failures`` (errors reported by nodes and their exit),
        ``files`` and, if the goal was missed, ``missed``: the reason in one line. A goal is missed
        also where a fault ended the drive.

    Raises
    ------
    DriveError
        The nodes did not start in time.
    OtherRobotError
        Another robot uses the same topics, or did so during the drive.
    ValueError
        Invalid options or parameters.
    KeyboardInterrupt
        SIGINT or SIGTERM while the nodes ran; all of them have ended, and the bag is kept.
    """
    # before any node starts
    robot = load_casters(options.robot)
    options = replace(options, controller=chosen_law(options.controller, robot))
    check_motors(options.controller, robot)
    if options.hardware != 'none':
        check_cards(options.robot, options.parameters)
    # a simulated robot must not reach the real one on the laboratory's network
    if warning := stay_near():
        announce(f'warning: {warning}')
    with tempfile.TemporaryDirectory(prefix='c3p_drive_') as folder, Reporter() as reporter:
        # it is prepared before the robot drives, and does not disturb the loop
        reporter.start()
        place = Path(folder)
        bag = Path(folder) / 'bag'
        try:
            client, failures = _run(options, robot, bag, place, announce, progress)
        finally:
            # also of a drive that was interrupted or failed
            kept = keep_bag(options, bag)
            if kept is not None:
                announce(f'the bag is {kept}')
        metrics = reporter.write(
            Job(bag, options.robot, tuple(options.goal), client.zone, options.out),
            lambda found: client.story.missed(found, options.timeout, client.distance))
        metrics['failures'] = failures
        if kept is not None:
            metrics['files']['bag'] = str(kept)
        return metrics


def keep_bag(options: DriveOptions, bag: Path) -> Path | None:
    """Copy the `bag` to the directory of the `options`; return its path, None if not kept."""
    if not options.keep_bag or not bag.is_dir():
        return None
    kept = options.out / 'bag'
    made = options.out / '.bag'
    for old in (made, kept):
        shutil.rmtree(old, ignore_errors=True)
    # atomic: a second Ctrl-C may interrupt the copy
    shutil.copytree(bag, made)
    made.rename(kept)
    return kept


def _run(options: DriveOptions, robot: CasterRobot, bag: Path, place: Path,
         announce: Callable[[str], None], progress: Callable[[float, float], None]
         ) -> tuple[DriveClient, list[str]]:
    """Run all nodes until the goal is held or missed; return the client and the failures."""
    arguments = [part for path in parameter_files(options, bag, place)
                 for part in ('--params-file', str(path))]
    with Session(['--ros-args', *arguments]) as session:
        client = session.add(DriveClient, hardware=options.hardware != 'none')
        others = OtherRobots(session, client)
        # while other robots are discovered
        start = np.resize(np.asarray(options.start_steering, float), robot.count)
        check_start(robot, start, np.asarray(options.goal, float))
        options.out.mkdir(parents=True, exist_ok=True)
        _import(options)
        others.search()
        others.joined(f'/{name}' for name in _nodes(options))
        processes, nodes = _start(options, arguments, place, session)
        _wait_until_ready(options, client, processes, others, announce)
        steady_process()
        gc.enable()
        # started meanwhile
        others.search()
        try:
            _send_goal(options, others, client)
            ended = _follow(options, others, client, processes, progress)
            failures = distinct(client.errors) + ended
            # the bag ends with the statistics of the whole run
            for node in nodes:
                node.diagnostics.publish()
            others.wait(RECORDED_WITHIN if options.nodes == 'one-process' else DIAGNOSED_WITHIN)
        except OtherRobotError:
            # the other robot may have accepted it, too
            cancelled = client.request('cancel')
            end = time.monotonic() + CANCELLED_WITHIN
            session.until(lambda: cancelled.done() or time.monotonic() > end)
            raise
        client.zone = client.goal_zone()
    return client, failures


def _import(options: DriveOptions) -> None:
    """Import the nodes that will run in this process."""
    for name in _nodes(options) if options.nodes == 'one-process' else ():
        if not _apart(options, name):
            node_class(name)


def _start(options: DriveOptions, arguments: Sequence[str], place: Path, session: Session
           ) -> tuple[list[NodeProcess], list[Any]]:
    """Start every node; return the processes of some, and the nodes of this process."""
    processes: list[NodeProcess] = []
    nodes: list[Any] = []

    def start(name: str) -> None:
        if _apart(options, name):
            process = NodeProcess(name, module_of(name), arguments, place / f'{name}.log')
            session.at_end(process.stop)
            processes.append(process)
        else:
            nodes.append(session.add(node_class(name)))

    *first, owner = _nodes(options)
    # processes start while this one creates its nodes
    for name in sorted(first, key=lambda name: not _apart(options, name)):
        start(name)
    if options.hardware == 'emulated':
        # without the bus the interface would report an error, and try again a second later
        end = time.monotonic() + READY_WITHIN
        bus = bus_channel(place)
        session.until(lambda: bus.exists() or bool(_ended(processes)) or time.monotonic() > end,
                      period=0.02)
    start(owner)
    return processes, nodes


def _apart(options: DriveOptions, name: str) -> bool:
    """Return whether a node runs in a process of its own."""
    # the cards are a computer of their own; in lockstep the recorder runs with the other nodes,
    # so that no message is dropped
    return (options.nodes == 'processes' or name == 'emulated_cards'
            or (name == 'recorder' and not options.lockstep))


def _nodes(options: DriveOptions) -> list[str]:
    """Return the nodes of a drive in the order in which they start; the cycle's owner last."""
    return ['recorder', *CHAIN, *ROBOTS[options.hardware]]


def _ended(processes: Sequence[NodeProcess]) -> list[str]:
    return [how for how in (process.ended() for process in processes) if how]


def _wait_until_ready(options: DriveOptions, client: DriveClient,
                      processes: Sequence[NodeProcess], others: OtherRobots,
                      announce: Callable[[str], None]) -> None:
    begin = time.monotonic()
    announced = False
    while True:
        lacking = client.missing(_nodes(options), recorded=True)
        if not lacking:
            return
        waited = time.monotonic() - begin
        if ended := _ended(processes):
            raise DriveError('; '.join(ended))
        if waited > READY_WITHIN or not rclpy.ok():
            raise DriveError(f'not ready after {waited:.0f} s: {lacking}')
        if waited > 8.0 and not announced:
            announce('waiting for the nodes; the first run compiles the kernels ...')
            announced = True
        others.wait(0.02, period=0.02)


def _send_goal(options: DriveOptions, others: OtherRobots, client: DriveClient) -> None:
    """Send the goal; in lockstep the simulation continues once the goal is accepted."""
    end = time.monotonic() + READY_WITHIN
    if options.lockstep:
        others.until(lambda: client.held() or time.monotonic() > end)
    if options.hardware != 'none':
        _arm(others, client, end)
    # start-up is not latency
    counting = client.request('reset_statistics')
    others.until(lambda: counting.done() or time.monotonic() > end, period=0.02)
    while not client.accepted and time.monotonic() < end:
        # again where the odometry was late, as on a busy computer; in lockstep it waits
        client.send(np.asarray(options.goal, float))
        _wait_accepted(others, client, end if options.lockstep else time.monotonic() + SENT_AGAIN)
    if not client.accepted:
        raise DriveError('the position controller did not accept the goal: '
                         + '; '.join(f'{s.name} {s.message}' for s in client.health.values()))
    if options.lockstep:
        client.request('resume')


def _wait_accepted(others: OtherRobots, client: DriveClient, end: float) -> None:
    """Spin until the goal is accepted, at most until `end`."""
    others.until(lambda: client.accepted or time.monotonic() > end, period=0.02)


def _arm(others: OtherRobots, client: DriveClient, end: float) -> None:
    """Enable the motors through the hardware interface; retry until it accepts."""
    refused = 'no response'
    while time.monotonic() < end:
        for name in ('enable', 'recover'):
            answer = _answer(others, client.request(name), end)
            if answer is not None and name == 'enable' and answer.success:
                return
            if answer is not None and not answer.success:
                refused = answer.message
        others.wait(0.1)
    raise DriveError(f'the motors could not be enabled: {refused}')


def _answer(others: OtherRobots, request: Future, end: float) -> Any:
    """Spin until a service has responded; None if it does not before `end`."""
    others.until(lambda: request.done() or time.monotonic() > end, period=0.02)
    return request.result() if request.done() else None


def _follow(options: DriveOptions, others: OtherRobots, client: DriveClient,
            processes: Sequence[NodeProcess], progress: Callable[[float, float], None]
            ) -> list[str]:
    """Spin until the goal zone is held, the timeout, a fault, or the end of a process."""
    begin = client.robot_time
    shown = 0.0

    def over() -> bool:
        nonlocal shown
        now = client.robot_time
        if time.monotonic() - shown > 0.1 and client.distance is not None:
            shown = time.monotonic()
            progress(now - begin, client.distance)
        held = client.reached_since is not None and now - client.reached_since >= options.dwell
        # an aborted goal cannot be reached any more, nor one that the robot cannot reach
        ended = bool(client.story.ended) or client.story.look(now) or bool(_ended(processes))
        return held or ended or now - begin > options.timeout

    others.until(over)
    return _ended(processes)
