# SPDX-License-Identifier: Apache-2.0
"""
Scripts of interactive pages, and the description of a robot that they draw.

uPlot (MIT licence, ``uPlot.LICENSE``) draws the plots; ``plots.js`` links them, ``robot.js`` draws
a robot from above, ``map.js`` its path, and ``dom.js`` makes elements from texts. Pages contain
them, so that they need neither a network nor other files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.report.markup import Markup, html
from c3p_description.model import CasterRobot
from c3p_plots.palette import DASHES, caster_colour

LIBRARY = ('uPlot.iife.min.js', 'dom.js', 'robot.js', 'plots.js', 'map.js')
STYLE = 'uPlot.min.css'

# a unit of the dashes of plots, pixels
DASH = 2.0


def read_text(name: str) -> str:
    """Return the text of a file of this folder."""
    return Path(__file__).with_name(name).read_text(encoding='utf-8')


def script_text(*own: str) -> Markup:
    """Return the scripts of the library and then the texts `own`, for a script element."""
    text = '\n'.join([*map(read_text, LIBRARY), *own])
    # the end of a script in a string would end the element
    return Markup(text.replace('</script', '<\\/script'))


def library(*own: str) -> Markup:
    """Return the script element of the library and then the texts `own`."""
    return html('<script>$text</script>', text=script_text(*own))


def as_json(value: Any) -> str:
    """Return a value as JSON that may be inside a script element."""
    return json.dumps(value, separators=(',', ':'), allow_nan=False).replace('<', '\\u003c')


def caster_dash(index: int) -> list[float]:
    """Return the dashes of a caster, counted from 0, in pixels; empty is a solid line."""
    dash = DASHES[index % len(DASHES)]
    return [] if dash == '-' else [DASH * float(part) for part in dash[1]]


def robot_geometry(robot: CasterRobot, near: float | None, outline: Any) -> dict[str, Any]:
    """
    Return what ``robot.js`` draws: metres in ``base_link``, colours and dashes by caster.

    Below the singularity measure `near` the lost direction is drawn, with None never; `outline`
    (k, 2) [m] is the edge of the platform.
    """
    count = range(robot.count)
    limit = robot.torque_limit[robot.driven]
    return {
        'name': robot.name, 'hips': np.round(robot.hip_position, 5).tolist(),
        'offset': robot.caster_offset.tolist(), 'beside': robot.lateral_offset.tolist(),
        'radius': robot.wheel_radius.tolist(),
        'driven': [bool(driven) for driven in robot.driven], 'near': near,
        'outline': np.round(outline, 5).tolist(),
        'reach': float(np.linalg.norm(robot.hip_position, axis=1).max()),
        'limit': float(limit.max()) if len(limit) and np.isfinite(limit).all() else None,
        'colours': [caster_colour(i) for i in count], 'dashes': [caster_dash(i) for i in count]}
