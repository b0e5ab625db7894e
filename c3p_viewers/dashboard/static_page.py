# SPDX-License-Identifier: Apache-2.0
"""The page of the live view: static, the same for every robot, with one script of known hash."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from c3p_bags.report import web
from c3p_bags.report.markup import Markup, html
from c3p_bags.report.motion_panels import NEAR
from c3p_bags.report.path import outline
from c3p_description.model import CasterRobot
from c3p_viewers.dashboard.samples import KEPT

# scripts of the page, in this order
SCRIPTS = ('connection.js', 'hand.js', 'dashboard.js')


class StaticPage(NamedTuple):
    """HTML of a page, and the hash of its script for a Content-Security-Policy."""

    text: str
    script_hash: str


def static_page() -> StaticPage:
    """Return the page; the robot's name and sizes follow by the WebSocket, as JSON."""
    report = Path(web.__file__).parents[1]
    style = '\n'.join([(report / 'page.css').read_text(encoding='utf-8'),
                       web.read_text(web.STYLE), web.read_text('plots.css'),
                       _own('dashboard.css')])
    script = web.script_text(*map(_own, SCRIPTS))
    text = html(_own('dashboard.html'), style=Markup(style), script=script)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return StaticPage(text, f'sha256-{digest}')


def welcome(robot: CasterRobot) -> dict[str, Any]:
    """Return what a page receives first: the robot that it draws, and the time it keeps, s."""
    return {'robot': web.robot_geometry(robot, None if robot.other_wheels else NEAR,
                                        outline(robot)), 'kept': KEPT}


def _own(name: str) -> str:
    """Return the text of a file of this folder."""
    return Path(__file__).with_name(name).read_text(encoding='utf-8')
