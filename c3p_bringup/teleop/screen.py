# SPDX-License-Identifier: Apache-2.0
"""The small screen of ``c3p teleop``: what is asked for, what the robot does, who may drive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from c3p_description.model import Array

HELP = ('   u  i  o    ahead, turning      U  I  O   without turning, or the arrows',
        '   j  k  l    turn                J     L   to the sides',
        '   m  ,  .    back, turning       M  <  >   without turning',
        '   space, and every other key: stop     e  e-stop     r  release     Ctrl-C  end',
        '   q z  faster, slower      w x  speed only      d c  yaw rate only')

# an odometry that is older is not of now, s
OLD = 0.5
# measure of the distance from the singularity, as wide as the screen has room
BAR = 20

RED, BOLD, PLAIN = '\x1b[1;31m', '\x1b[1m', '\x1b[0m'
# another screen without a cursor, and back
ENTER, LEAVE = '\x1b[?1049h\x1b[?25l\x1b[2J', '\x1b[?25h\x1b[?1049l'


@dataclass
class View:
    """
    What is shown.

    Attributes
    ----------
    robot, place : str
        Which robot, and to which topic the commands go.
    command : (3,) array or None
        Twist sent, m/s and rad/s; None is silence.
    speed, yaw_rate : float
        What the keys ask for, m/s and rad/s.
    twist : (3,) array or None
        Of the odometry.
    twist_age : float, s
    steering : (n,) array or None
        rad.
    sigma_min : float or None
    slip : str
        The wheel that slips and how fast, 'none' or '' for not known.
    e_stop : str
    locked : bool
    note : str
        What hinders; '' is nothing.
    """

    robot: str
    place: str
    command: Array | None = None
    speed: float = 0.0
    yaw_rate: float = 0.0
    twist: Array | None = None
    twist_age: float = 0.0
    steering: Array | None = None
    sigma_min: float | None = None
    slip: str = ''
    e_stop: str = ''
    locked: bool = False
    note: str = ''


def lines(view: View) -> list[str]:
    """Return the screen as lines without colour."""
    unknown = '-'
    steering = unknown if view.steering is None else '  '.join(
        f'{angle * 57.29577951308232:7.1f}°' for angle in view.steering)
    measure = unknown if view.sigma_min is None else (
        f'{view.sigma_min:7.3f}   |{"#" * round(BAR * min(view.sigma_min, 1.0)):{BAR}}|')
    odometry = _twist(view.twist)
    if view.twist is not None and view.twist_age > OLD:
        odometry += f'   {view.twist_age:.1f} s old'
    return [f' c3p teleop   {view.robot}   to {view.place}', '', *HELP, '',
            f'   keys      {view.speed:7.2f} m/s   {view.yaw_rate:7.2f} rad/s',
            f'   command   {"silent" if view.command is None else _twist(view.command)}',
            f'   odometry  {odometry}',
            f'   steering  {steering}',
            f'   sigma_min {measure}',
            f'   slip      {view.slip or unknown}',
            f'   e-stop    {view.e_stop}', f'   {view.note}']


def _twist(twist: Array | None) -> str:
    return '-' if twist is None else (f'x {twist[0]:6.2f}  y {twist[1]:6.2f} m/s   '
                                      f'turn {twist[2]:6.2f} rad/s')


def painted(view: View, columns: int, rows: int) -> str:
    """Return what brings the screen to a terminal of this size, over what it shows."""
    return paint(lines(view), {2: RED if view.locked else BOLD, 1: BOLD}, columns, rows)


def paint(text: Sequence[str], colours: dict[int, str], columns: int, rows: int) -> str:
    """
    Return ANSI sequences that show lines from the top; what does not fit is cut.

    Parameters
    ----------
    text : sequence of str
    colours : dict
        Of lines counted from the last one, which is 1.
    columns, rows : int
        Of the terminal.
    """
    shown = []
    # the last lines are those that change
    for k, line in enumerate(text[-rows:] if rows < len(text) else text):
        colour = colours.get(min(len(text), max(rows, 1)) - k, '')
        cut = line[:columns]
        shown.append(f'{colour}{cut}{PLAIN if colour else ""}\x1b[K')
    return '\x1b[H' + '\r\n'.join(shown) + '\x1b[J'
