# SPDX-License-Identifier: Apache-2.0
"""Options of ``c3p view``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

VIEWERS = ('rerun', 'mujoco', 'foxglove')


@dataclass(frozen=True)
class ViewOptions:
    """
    Selection of robot, source and viewer.

    Attributes
    ----------
    robot : str or Path
        Name or path of the description, as for `loader.load`.
    bag : Path, optional
        Default: the live topics.
    viewer : str, optional
        Of `VIEWERS`; default Rerun, and MuJoCo for a picture of a caster robot.
    namespace : str, optional
        Of the robot's topics; default the only one in the bag, live the root.
    picture, save : Path, optional
        A ``.png`` or an ``.rrd`` to write instead of opening a viewer.
    time : float, s, optional
        Of the picture, since the first joint states.
    size : (int, int), pixels
        Of a picture by MuJoCo.
    host, port
        Of the Foxglove server; port 0 takes a free one.

    Raises
    ------
    ValueError
        Options that exclude each other.
    """

    robot: str | Path
    bag: Path | None = None
    viewer: str | None = None
    namespace: str | None = None
    picture: Path | None = None
    save: Path | None = None
    time: float | None = None
    size: tuple[int, int] = (1280, 720)
    host: str = '127.0.0.1'
    port: int = 8765

    def __post_init__(self) -> None:
        """Check before anything is read."""
        for name, path, suffix in (('headless-screenshot', self.picture, '.png'),
                                   ('save', self.save, '.rrd')):
            if path is not None and path.suffix != suffix:
                raise ValueError(f'--{name} {path}: its name must end in {suffix}')
            if path is not None and self.bag is None:
                raise ValueError(f'--{name} needs a bag: c3p view BAG --{name} FILE{suffix}')
        if self.picture is not None and self.save is not None:
            raise ValueError('--headless-screenshot and --save: give one of them')
        if self.picture is not None and self.viewer == 'foxglove':
            raise ValueError('--headless-screenshot: the Foxglove app cannot be pictured from '
                             'here; choose --viewer mujoco or rerun')
        if self.save is not None and self.viewer not in (None, 'rerun'):
            raise ValueError(f'--save writes for Rerun, and not for {self.viewer}')
        if self.time is not None and self.picture is None:
            raise ValueError('--time belongs to --headless-screenshot; a viewer has its own time '
                             'line')
