# SPDX-License-Identifier: Apache-2.0
"""``c3p dashboard``: a live page of a caster robot in a browser on this computer."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from c3p_description.model import CasterRobot
from c3p_ros.session import Session
from c3p_viewers.dashboard.command_queue import Requests
from c3p_viewers.dashboard.link import DashboardLink
from c3p_viewers.dashboard.samples import RATE, History
from c3p_viewers.dashboard.server import DashboardServer
from c3p_viewers.dashboard.static_page import static_page, welcome


def _is_due(requests: Requests, due: float) -> bool:
    return requests.waiting or time.monotonic() >= due


def dashboard(robot: CasterRobot, namespace: str | None = None, port: int = 0,
              announce: Callable[[str], None] = print,
              opened: Callable[[str], None] | None = None) -> dict[str, Any]:
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
        Receives the address of the page, and after its first use the next one, for other devices.
    opened : callable, optional
        Receives an address of its own, for the browser of this computer.

    Returns
    -------
    dict
        For JSON: ``url`` without its code, and ``e_stop_held`` at the end.

    Raises
    ------
    ValueError
        The port cannot be used.
    """
    history = History()
    with Session(namespace=namespace or '', remap_frames=False) as session:
        link = session.add(DashboardLink, robot=robot, history=history)
        requests = Requests(link.commands)
        server = DashboardServer(static_page(), welcome(robot), history, requests, port, announce)
        session.at_end(server.close)
        server.start()
        announce(server.access.url)
        if opened:
            opened(server.access.address(server.access.new_code()))
        try:
            due = time.monotonic()
            while True:
                # a command does not wait for the next sample
                session.until(partial(_is_due, requests, due), period=0.01)
                requests.carry_out()
                if time.monotonic() >= due:
                    link.step()
                    due = time.monotonic() + 1.0 / RATE
        except KeyboardInterrupt:
            # the intended end
            link.halt()
        return {'url': server.access.url.partition('?')[0], 'e_stop_held': link.pressed}
