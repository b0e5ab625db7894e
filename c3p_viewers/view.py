# SPDX-License-Identifier: Apache-2.0
"""``c3p view``: a viewer on a bag or on the live topics, or a file for it, or a picture."""

from __future__ import annotations

import sys
import threading
import time as clock
from typing import Any

import numpy as np

from c3p_bags.storage.bag import Bag
from c3p_description.model import CasterRobot
from c3p_description.pvc_model import PvcTricycle
from c3p_description.reading.loader import load, load_casters, robot_description
from c3p_kinematics.singularity import shown_singularity
from c3p_viewers.options import ViewOptions
from c3p_viewers.sources.moment import Moment

# moments a second of a live robot
RATE = 30.0

# viewers are imported when they are used: each has libraries of its own


def view(options: ViewOptions, bag: Bag | None = None) -> dict[str, Any]:
    """
    Show a robot until its viewer is closed or Ctrl-C, or write the requested file.

    Parameters
    ----------
    options : ViewOptions
    bag : Bag, optional
        Open bag of the options; None for the live topics.

    Returns
    -------
    dict
        For JSON: ``viewer``, ``robot``, ``bag`` and ``files``; of a picture also its time and the
        robot's state, of a recording its duration.

    Raises
    ------
    ValueError
        A bag, robot or viewer that cannot be used here; the text has the remedy.
    """
    if isinstance(load(options.robot), PvcTricycle):
        from c3p_viewers.rerun.tricycle import view_tricycle

        return view_tricycle(options, bag)
    robot = load_casters(options.robot)
    viewer = options.viewer or ('rerun' if options.picture is None else 'mujoco')
    shown: dict[str, Any] = {'viewer': viewer, 'robot': robot.name, 'files': {},
                             'bag': None if options.bag is None else str(options.bag)}
    if bag is None:
        LIVE[viewer](options, robot)
    elif viewer == 'foxglove':
        _bag_in_foxglove(options, robot, bag)
    else:
        shown |= _show_run(options, robot, viewer, bag)
    return shown


def _show_run(options: ViewOptions, robot: CasterRobot, viewer: str, bag: Bag
              ) -> dict[str, Any]:
    """Show a bag in Rerun or MuJoCo; return files and values for JSON."""
    from c3p_bags.runs.log_reader import read_run
    from c3p_viewers.sources.bag_source import BagSource

    source = BagSource(read_run(bag, robot, options.namespace))
    if options.time is not None and not source.start <= options.time <= source.end:
        raise ValueError(f'--time {options.time:g}: the bag has {source.start:.2f} to '
                         f'{source.end:.2f} s')
    moment = source.at(source.halfway if options.time is None else options.time)
    state = shown_singularity(robot, moment.steering)
    figures: dict[str, Any] = {}
    if options.picture is not None:
        figures = {'time_s': moment.time, 'pose': np.asarray(moment.place, float).tolist(),
                   'steering_rad': np.asarray(moment.steering, float).tolist(),
                   'sigma_min': None if state is None else abs(float(state.sigma_min))}
    elif options.save is not None:
        figures = {'duration_s': source.end - source.start}
    if viewer == 'rerun':
        from c3p_viewers.rerun.caster import CasterLog, log_run
        from c3p_viewers.rerun.layout import blueprint, titles
        from c3p_viewers.rerun.show import show_run

        return {**figures, 'files': show_run(
            options, blueprint(titles(robot)), moment.time, lambda recording: log_run(
                CasterLog(recording, robot, options.robot), source))}
    if options.picture is not None:
        from c3p_viewers.mujoco.pictures import picture

        return {**figures, 'files': {'picture': str(picture(
            source, robot, options.robot, options.picture, moment.time, options.size))}}
    from c3p_viewers.mujoco.window import Window

    # the run is played over and over, as fast as it was
    window = Window(robot, options.robot)
    begin = clock.monotonic()
    length = max(source.end - source.start, 0.1)
    window.show(lambda: source.at(source.start + (clock.monotonic() - begin) % length))
    return {}


def _bag_in_foxglove(options: ViewOptions, robot: CasterRobot, bag: Bag) -> None:
    from c3p_viewers.foxglove.bag_player import BagPlayer

    player = BagPlayer(bag.path, robot, robot_description(options.robot), options.host,
                       options.port, bag.namespace(options.namespace), options.robot)
    _print(_invitation(player.server.url))
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


def _live_in_rerun(options: ViewOptions, robot: CasterRobot) -> None:
    from c3p_viewers.rerun.caster import follow
    from c3p_viewers.sources.live import live_moments, live_node

    with live_node(options.namespace) as (node, going):
        follow(robot, options.robot, live_moments(node, robot),
               lambda: going(clock.monotonic() + 1.0 / RATE))


def _live_in_mujoco(options: ViewOptions, robot: CasterRobot) -> None:
    from c3p_viewers.mujoco.window import Window
    from c3p_viewers.sources.live import live_moments, live_node

    window = Window(robot, options.robot)
    with live_node(options.namespace) as (node, going):
        moments = live_moments(node, robot)

        def moment() -> Moment | None:
            if not going(clock.monotonic() + 0.5 / RATE):
                raise KeyboardInterrupt
            return moments()

        try:
            window.show(moment)
        except KeyboardInterrupt:
            pass


def _live_in_foxglove(options: ViewOptions, robot: CasterRobot) -> None:
    from c3p_viewers.foxglove.live_topics import FoxgloveLive
    from c3p_viewers.sources.live import live_node

    with live_node(options.namespace) as (node, going):
        live = FoxgloveLive(node, robot, options.robot, options.host, options.port, _print)
        _print(_invitation(live.server.url))
        try:
            while going(clock.monotonic() + 1.0):
                pass
        finally:
            live.close()


LIVE = {'rerun': _live_in_rerun, 'mujoco': _live_in_mujoco, 'foxglove': _live_in_foxglove}


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _invitation(url: str) -> str:
    return (f'{url}: in the Foxglove app choose "Open connection", "Foxglove WebSocket" and this '
            'address, and import the layout config/foxglove/c3p.json; Ctrl-C ends')
