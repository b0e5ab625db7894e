# SPDX-License-Identifier: Apache-2.0
"""What ``c3p view`` opens: one of the viewers, on a bag or on the live topics."""

from __future__ import annotations

import sys
import threading
import time as clock
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from c3p_description.model import CasterRobot
from c3p_description.reading.loader import load_casters, robot_description
from c3p_viewers.sources.bag_source import BagSource
from c3p_viewers.sources.moment import Moment

# moments a second of a live robot
RATE = 30.0


def show(arguments: Namespace) -> dict[str, Any]:
    """
    Open a viewer and keep it up until it is closed, or until Ctrl-C.

    Parameters
    ----------
    arguments : Namespace
        Of ``c3p view``.

    Returns
    -------
    dict
        For JSON: ``viewer``, ``robot``, ``bag`` and, empty, ``files``.

    Raises
    ------
    ValueError
        A bag, robot or viewer that cannot be used; the text says what is missing.
    """
    robot = load_casters(arguments.robot)
    viewer = arguments.viewer or 'rerun'
    if arguments.bag is None:
        LIVE[viewer](arguments, robot)
    else:
        BAG[viewer](arguments, robot)
    return {'viewer': viewer, 'robot': robot.name,
            'bag': None if arguments.bag is None else str(arguments.bag), 'files': {}}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _source(arguments: Namespace, robot: CasterRobot) -> BagSource:
    from c3p_bags.runs.log_reader import read_run

    return BagSource(read_run(arguments.bag, robot, arguments.namespace))


def _bag_in_rerun(arguments: Namespace, robot: CasterRobot) -> None:
    from c3p_viewers.rerun.rerun_view import open_run

    open_run(_source(arguments, robot), robot, arguments.robot)


def _bag_in_mujoco(arguments: Namespace, robot: CasterRobot) -> None:
    """Play the run over and over, as fast as it was."""
    from c3p_viewers.mujoco.window import Window

    window, source = Window(robot, arguments.robot), _source(arguments, robot)
    begin, length = clock.monotonic(), max(source.end - source.start, 0.1)
    window.show(lambda: source.at(source.start + (clock.monotonic() - begin) % length))


def _bag_in_foxglove(arguments: Namespace, robot: CasterRobot) -> None:
    from c3p_bags.runs.log_reader import namespace_of
    from c3p_bags.storage.bags import topics_of
    from c3p_viewers.foxglove.foxglove_bag import BagPlayer

    space = arguments.namespace
    if space is None:
        space = namespace_of(topics_of(arguments.bag), arguments.bag)
    player = BagPlayer(arguments.bag, robot, robot_description(arguments.robot), arguments.host,
                       arguments.port, space.rstrip('/'), arguments.robot)
    _say(_invitation(player.server.url))
    # Ctrl-C ends the waiting, and with it the thread
    thread = threading.Thread(target=player.run, name='player', daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.2)
    except KeyboardInterrupt:
        pass
    finally:
        player.close()
        thread.join()


def _invitation(url: str) -> str:
    return (f'{url}: in the Foxglove app choose "Open connection", "Foxglove WebSocket" and this '
            'address, and import the layout config/foxglove/c3p.json; Ctrl-C ends')


@contextmanager
def on_air(namespace: str | None) -> Iterator[tuple[Any, Callable[[float], bool]]]:
    """Give a node in the robot's namespace, and what spins it until a time; False at the end."""
    import rclpy

    from c3p_ros.executor import StopRequest, make_executor, spin

    stop = StopRequest()
    stop.starting = False
    rclpy.init(args=[], signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
    executor = make_executor()
    node = rclpy.create_node('view', namespace=namespace or '',
                             start_parameter_services=False, enable_rosout=False)
    executor.add_node(node)

    def going(until: float) -> bool:
        # how often it is looked whether the time is over: a part of what is left
        period = min(max(0.2 * (until - clock.monotonic()), 0.002), 0.2)
        spin(executor, lambda: stop.asked or clock.monotonic() >= until, period=period)
        return not stop.asked

    try:
        yield node, going
    finally:
        executor.shutdown(timeout_sec=1.0)
        node.destroy_node()
        rclpy.try_shutdown()


def _live_in_rerun(arguments: Namespace, robot: CasterRobot) -> None:
    from c3p_viewers.rerun.rerun_view import follow
    from c3p_viewers.sources.live_source import LiveSource

    with on_air(arguments.namespace) as (node, going):
        source = LiveSource(node, robot)
        follow(robot, arguments.robot, source.moment,
               lambda: going(clock.monotonic() + 1.0 / RATE))


def _live_in_mujoco(arguments: Namespace, robot: CasterRobot) -> None:
    from c3p_viewers.mujoco.window import Window
    from c3p_viewers.sources.live_source import LiveSource

    window = Window(robot, arguments.robot)
    with on_air(arguments.namespace) as (node, going):
        source = LiveSource(node, robot)

        def moment() -> Moment | None:
            if not going(clock.monotonic() + 0.5 / RATE):
                raise KeyboardInterrupt
            return source.moment()

        try:
            window.show(moment)
        except KeyboardInterrupt:
            pass


def _live_in_foxglove(arguments: Namespace, robot: CasterRobot) -> None:
    from c3p_viewers.foxglove.foxglove_live import FoxgloveLive

    with on_air(arguments.namespace) as (node, going):
        live = FoxgloveLive(node, robot, arguments.robot, arguments.host, arguments.port, _say)
        _say(_invitation(live.server.url))
        try:
            while going(clock.monotonic() + 1.0):
                pass
        finally:
            live.close()


BAG = {'rerun': _bag_in_rerun, 'mujoco': _bag_in_mujoco, 'foxglove': _bag_in_foxglove}
LIVE = {'rerun': _live_in_rerun, 'mujoco': _live_in_mujoco, 'foxglove': _live_in_foxglove}
