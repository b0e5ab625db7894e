# SPDX-License-Identifier: Apache-2.0
"""
Data of the interactive plots: the lines, boxes and texts of drawn panels, and the robot over time.

The panels of a figure are read back from matplotlib, so that the interactive plots show what the
pictures show. Values have 16 bits of the range of their line, which no screen resolves.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation
from matplotlib.ticker import FixedLocator

from c3p_bags.report.motion_panels import NEAR
from c3p_bags.report.path import outline
from c3p_bags.report.run import AnalysedRun
from c3p_bags.report.sheet import TIMED, samples_of
from c3p_bags.report.web import caster_dash, robot_geometry
from c3p_bags.runs import mapped
from c3p_bags.runs.metrics import pose_at
from c3p_description.model import Array
from c3p_plots.palette import INK, MUTED, RULE
from c3p_plots.style import AtMost

# most samples of a line; longer ones keep the extremes of equal intervals
MOST = 4000
# steps of a value, and the code of a missing one
STEPS = 65534
MISSING = 65535
# height of a plot for an inch of its panel, pixels, at least
INCH = 105
LEAST_HEIGHT = 120

# labels of lines of one wheel, counted from 1
CASTER = re.compile(r'(?:caster|wheel|steering) (\d+)$')

THEME = {INK: '--ink', MUTED: '--muted', RULE: '--rule', '#000000': '--ink', '#ffffff': '--paper'}


def packed(values: Array, log: bool = False) -> dict[str, Any]:
    """
    Return values as 16-bit numbers in base64, with their range; NaN is missing.

    Examples
    --------
    >>> packed(np.array([0.0, np.nan, 2.0]))
    {'low': 0.0, 'high': 2.0, 'log': 0, 'data': 'AAD///7/'}
    """
    values = np.asarray(values, float)
    with np.errstate(divide='ignore', invalid='ignore'):
        scaled = np.log10(values) if log else values
    known = np.isfinite(scaled)
    low, high = (float(scaled[known].min()), float(scaled[known].max())) if known.any() else (
        0.0, 0.0)
    code = np.full(len(values), MISSING, '<u2')
    code[known] = np.rint((scaled[known] - low) * (STEPS / max(high - low, 1e-300)))
    return {'low': low, 'high': high, 'log': int(log),
            'data': base64.b64encode(code.tobytes()).decode()}


def times(values: Array) -> str:
    """Return times as 32-bit floats in base64."""
    return base64.b64encode(np.asarray(values, '<f4').tobytes()).decode()


def reduced(time: Array, values: Sequence[Array]) -> tuple[Array, list[Array]]:
    """Return lines of one time with the extremes of equal intervals, in their order."""
    if len(time) <= MOST:
        return time, list(values)
    edges = np.linspace(0, len(time), MOST // 2 + 1).astype(int)[:-1]
    found = []
    for value in values:
        # a sample that is not finite is not an extreme
        low = np.minimum.reduceat(np.where(np.isfinite(value), value, np.inf), edges)
        high = np.maximum.reduceat(np.where(np.isfinite(value), value, -np.inf), edges)
        # the first extreme of an interval first: rising, or falling
        rises = value[np.append(edges[1:], len(time)) - 1] >= value[edges]
        pair = np.stack([np.where(rises, low, high), np.where(rises, high, low)], axis=1).ravel()
        found.append(np.where(np.isfinite(pair), pair, np.nan))
    middle = np.minimum(edges + (len(time) // (MOST // 2)) // 2, len(time) - 1)
    return np.stack([time[edges], time[middle]], axis=1).ravel(), found


def _colour(value: Any) -> str:
    name = to_hex(value)
    return {key.lower(): to for key, to in THEME.items()}.get(name, name)


def _dash(drawn: Line2D) -> list[float]:
    """Return the dashes of a line, pixels; lines of a wheel have those of its caster."""
    of_caster = CASTER.match(_name(drawn))
    if of_caster:
        return caster_dash(int(of_caster[1]) - 1)
    return {'--': [6.0, 3.0], ':': [2.0, 3.0]}.get(str(drawn.get_linestyle()), [])


def _series(axes: Axes) -> list[tuple[Line2D, Array, Array]]:
    """Return the lines over time; those without a label join the one before of their colour."""
    found: list[tuple[Line2D, Array, Array]] = []
    for drawn in axes.lines:
        if drawn.get_transform() != axes.transData:
            continue
        time, value = samples_of(drawn)
        if not len(time):
            continue
        before = found[-1] if found else None
        if before and not _name(drawn) and drawn.get_color() == before[0].get_color():
            gap = np.array([np.nan])
            found[-1] = (before[0], np.concatenate([before[1], [time[0]], time]),
                         np.concatenate([before[2], gap, value]))
        else:
            found.append((drawn, np.asarray(time, float), np.asarray(value, float)))
    return found


def _name(drawn: Line2D) -> str:
    label = str(drawn.get_label())
    return '' if label.startswith('_') else label


def _boxes(axes: Axes) -> list[list[Any]]:
    """Return bars and bands as [left, right, low, high, colour, opacity]; None is the edge."""
    found: list[list[Any]] = []
    for bars in axes.collections:
        for path, colour in zip(bars.get_paths(), np.resize(
                bars.get_facecolor(), (len(bars.get_paths()), 4)), strict=True):
            corners = np.asarray(path.vertices)
            (left, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
            found.append([float(left), float(right), float(low), float(high), _colour(colour),
                          float(colour[3])])
    for patch in axes.patches:
        if isinstance(patch, Rectangle):
            low = patch.get_y()
            high = patch.get_y() + patch.get_height()
            found.append([None, None, float(low), float(high), _colour(patch.get_facecolor()),
                          float(to_rgba(patch.get_facecolor())[3])])
    return found


def _texts(axes: Axes) -> list[list[Any]]:
    """Return texts as [x, y, text], x and y None for the middle of the panel."""
    return [[float(text.xy[0]), float(text.xy[1]), text.get_text()]
            if isinstance(text, Annotation) and text.xycoords == 'data' else
            [None, None, text.get_text()] for text in axes.texts if text.get_text()]


def panel(axes: Axes, store: dict[str, int], texts: list[str]) -> dict[str, Any]:
    """
    Return a panel over time; its times are numbers of `texts`, in which equal ones are once.

    `store` maps the text of a time to its number.
    """
    log = axes.get_yscale() == 'log'
    formatter = axes.yaxis.get_major_formatter()
    tables: dict[int, list[tuple[Line2D, Array, Array]]] = {}
    for item in _series(axes):
        for key, others in tables.items():
            if len(others[0][1]) == len(item[1]) and np.array_equal(others[0][1], item[1]):
                tables[key].append(item)
                break
        else:
            tables[len(tables)] = [item]
    lines = []
    for items in tables.values():
        time, values = reduced(items[0][1], [value for _, _, value in items])
        text = times(time)
        number = store.setdefault(text, len(texts))
        if number == len(texts):
            texts.append(text)
        for (drawn, _, _), value in zip(items, values, strict=True):
            lines.append({'time': number, 'value': packed(value, log), 'label': _name(drawn),
                          'colour': _colour(drawn.get_color()), 'dash': _dash(drawn),
                          'width': max(float(drawn.get_linewidth()), 1.2),
                          'points': drawn.get_linestyle() == 'None',
                          'step': -1 if drawn.get_drawstyle() == 'steps-pre' else 0})
    rows = None
    if isinstance(axes.yaxis.get_major_locator(), FixedLocator) and len(axes.get_yticks()):
        at = axes.get_yticks().tolist()
        rows = [[float(y), str(name)] for y, name in zip(at, formatter.format_ticks(at),
                                                         strict=True)]
    across = [(drawn, np.asarray(drawn.get_ydata(), float).tolist()) for drawn in axes.lines
              if drawn.get_transform() != axes.transData]
    levels = [[level[0], _colour(drawn.get_color()), _name(drawn)]
              for drawn, level in across if len(set(level)) == 1]
    page = axes.figure
    assert isinstance(page, Figure)
    height = axes.get_position().height * page.get_figheight()
    low, high = axes.get_ylim()
    return {'run': int(str(axes.get_label()).removeprefix(TIMED)),
            'label': axes.get_ylabel().replace('\n', ' '), 'log': log,
            'y': [float(low), float(high)],
            'floor': formatter.low if isinstance(formatter, AtMost) else None,
            'rows': rows, 'lines': lines, 'levels': levels,
            'boxes': _boxes(axes), 'texts': _texts(axes),
            'height': max(round(INCH * height), LEAST_HEIGHT)}


def panels(page: Figure, store: dict[str, int], texts: list[str]) -> list[dict[str, Any]]:
    """
    Return the panels over time of a figure, row by row; empty if it has other panels.

    `store` and `texts` are those of `panel`, common to a page.
    """
    timed = [str(axes.get_label()).startswith(TIMED) for axes in page.axes]
    return [panel(axes, store, texts) for axes in page.axes] if all(timed) else []


def motion(run: AnalysedRun) -> dict[str, Any]:
    """Return geometry, poses and steering angles of a robot for the picture at the cursor."""
    time = run.log.joints.time
    robot = run.robot
    some = np.unique(np.linspace(0, len(time) - 1, min(len(time), MOST)).astype(int))
    shown = run.truth or run.odom
    at = time[some]
    pose = np.stack([np.interp(at, shown.time, mapped.unwrapped(column) if k == 2 else column)
                     for k, column in enumerate(shown.pose.T)])
    steering = mapped.unwrapped(run.log.joints.steering)[some]
    speed = mapped.computed(lambda part: np.hypot(part[..., 0], part[..., 1]), run.slip.slip)
    odom = run.log.odom if run.truth is not None else None
    return {'robot': robot_geometry(robot, NEAR, outline(robot)), 'name': run.name,
            'time': times(at), 'pose': [packed(column) for column in pose],
            'steering': [packed(column) for column in steering.T],
            # of casters alone
            'sigma': None if robot.other_wheels else packed(run.sigma[some]),
            'slip': [packed(np.interp(at, run.slip.time, column)) for column in speed.T],
            'events': [[e.begin, e.end, e.wheel] for e in run.events],
            'goals': [[g['begin_s'], g['end_s'], *map(float, g['goal_pose'])]
                      for g in run.goals], 'end': float(time[-1]),
            'odom': None if odom is None else [
                packed(np.interp(at, odom.time, odom.pose[:, k])) for k in range(2)],
            'start': pose_at(shown, shown.time[0]).tolist()}
