# SPDX-License-Identifier: Apache-2.0
"""``c3p dashboard``: a live page of a caster robot in a browser on this computer."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, TimeoutError
from functools import partial
from pathlib import Path
from typing import Any

from c3p_bags.report import web
from c3p_bags.report.motion_panels import NEAR
from c3p_bags.report.path import outline
from c3p_description.model import CasterRobot
from c3p_ros.session import Session
from c3p_viewers.dashboard.link import DashboardLink
from c3p_viewers.dashboard.samples import KEPT, RATE, History
from c3p_viewers.dashboard.server import DashboardServer, Refusal

# time limit of a command of the page, s
PATIENCE = 2.0

Command = Callable[[Mapping[str, Any]], str]


class Requests:
    """
    Commands of the page, carried out in the thread that spins the node.

    Parameters
    ----------
    commands : mapping
        Name → function of the JSON object of a command.
    """

    def __init__(self, commands: Mapping[str, Command]) -> None:
        """Begin without requests."""
        self._waiting: queue.SimpleQueue[tuple[Command, Mapping[str, Any], Future[str]]] = (
            queue.SimpleQueue())
        self.commands: dict[str, Command] = {
            name: partial(self._ask, act) for name, act in commands.items()}

    def _ask(self, act: Command, body: Mapping[str, Any]) -> str:
        result: Future[str] = Future()
        self._waiting.put((act, body, result))
        try:
            return result.result(PATIENCE)
        except TimeoutError as error:
            # not later, when it is no longer expected
            result.cancel()
            raise Refusal(503, f'no response in {PATIENCE:g} s: the dashboard is busy') from error

    def carry_out(self) -> None:
        """Carry out the waiting requests."""
        while not self._waiting.empty():
            act, body, result = self._waiting.get()
            if not result.set_running_or_notify_cancel():
                continue
            try:
                result.set_result(act(body))
            except Exception as error:
                result.set_exception(error)


def page(robot: CasterRobot) -> str:
    """Return the page of a robot, with ``NONCE`` at its scripts."""
    here = Path(__file__).parent
    report = Path(web.__file__).parents[1]
    style = '\n'.join([(report / 'page.css').read_text(encoding='utf-8'),
                       web.read_text(web.STYLE), web.read_text('plots.css'),
                       (here / 'dashboard.css').read_text(encoding='utf-8')])
    given = f'const ROBOT={web.as_json(web.robot_geometry(robot, NEAR, outline(robot)))};' \
            f'const KEPT={KEPT:g};'
    scripts = web.library(given, (here / 'dashboard.js').read_text(encoding='utf-8'))
    text = (here / 'dashboard.html').read_text(encoding='utf-8')
    return text.replace('STYLE', style).replace('ROBOT_NAME', robot.name).replace(
        'SCRIPTS', scripts.replace('<script>', '<script nonce="NONCE">', 1))


def _passed(moment: float) -> bool:
    return time.monotonic() >= moment


def dashboard(robot: CasterRobot, namespace: str | None = None, port: int = 0,
              announce: Callable[[str], None] = print) -> dict[str, Any]:
    """
    Serve the live page of a robot until Ctrl-C.

    Parameters
    ----------
    robot : CasterRobot
    namespace : str, optional
        Of the robot's topics.
    port : int
        Of the server; 0 takes a free one.
    announce : callable
        Receives the address of the page.

    Returns
    -------
    dict
        For JSON: ``url`` without its token, and ``e_stop_held`` at the end.

    Raises
    ------
    ValueError
        The port cannot be used.
    """
    history = History()
    with Session(namespace=namespace or '', remap_frames=False) as session:
        link = session.add(DashboardLink, robot=robot, history=history)
        requests = Requests(link.commands)
        server = DashboardServer(page(robot), history, requests.commands, port)
        session.at_end(server.close)
        server.start()
        announce(server.place.url)
        try:
            while True:
                session.until(partial(_passed, time.monotonic() + 1.0 / RATE), period=0.01)
                requests.carry_out()
                link.step()
        except KeyboardInterrupt:
            pass  # the intended end
        return {'url': server.place.url.partition('?')[0], 'e_stop_held': link.pressed}
