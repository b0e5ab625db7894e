# SPDX-License-Identifier: Apache-2.0
"""
Write Gazebo worlds: those of the package, or one with a given terrain.

``python scripts/write_worlds.py`` writes ``flat.sdf`` and ``rough.sdf`` of c3p_description/worlds;
``python scripts/write_worlds.py --terrain hills --size 20 --out hills.sdf`` one more, for
``ros2 launch c3p sim_gazebo.launch.py world:=hills.sdf``. Run from the root of the repository.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_rough_ground.terrain import Terrain, TerrainError
from c3p_rough_ground.worlds.gazebo import GAZEBO_SIDES, write_world
from c3p_rough_ground.worlds.terrain_files import load_terrain

WORLDS = Path(__file__).parents[1] / 'c3p_description' / 'worlds'
# the terrain, the length and the samples of a side of the rough world of the package
ROUGH = 'gentle', 12.8, 65
# radius of the level disc around the origin, m: the robot is spawned there, and must neither roll
# away before its first command nor be in the ground. All cells below its wheels are level.
CLEARING = 0.8
NOTE = 'SPDX-License-Identifier: Apache-2.0; written by scripts/write_worlds.py'


class Clearing(Terrain):
    """
    A terrain with a level disc of height 0 around the origin, for worlds of simulators.

    With r the distance from the origin, h₀ the height there and s a step with two continuous
    derivatives from 0 at `radius` to 1 at ``radius + fade``,

        g(x, y) = s(r) (h(x, y) − h₀)

    It has no compiled formula: `derivatives` and what depends on them alone are available.

    Parameters
    ----------
    terrain : Terrain
        h.
    radius, fade : float, m
        Of the disc, and the width of the ring around it; greater than zero.

    Raises
    ------
    TerrainError
        A radius or a width that is not greater than zero.

    Examples
    --------
    >>> from c3p_rough_ground.terrain import Incline
    >>> ground = Clearing(Incline(0.1), radius=1.0, fade=2.0)
    >>> [round(float(ground.height(x, 0.0)), 3) + 0.0 for x in (-0.9, 0.9, 2.0, 4.0)]
    [0.0, 0.0, 0.1, 0.4]
    """

    def __init__(self, terrain: Terrain, radius: float = 0.8, fade: float = 1.6) -> None:
        """Look up the height at the origin."""
        for name, value in (('radius', radius), ('fade', fade)):
            if not value > 0.0:
                raise TerrainError(f'{name} = {value}: must be greater than zero')
        self.terrain = terrain
        self.radius = radius
        self.fade = fade
        self.feature_length = min(terrain.feature_length, fade)
        self._level = float(terrain.height(0.0, 0.0))

    def derivatives(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, ...]:
        """Return g, gx, gy, gxx, gxy, gyy at x and y, which broadcast."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        h, hx, hy, hxx, hxy, hyy = self.terrain.derivatives(x, y)
        h = h - self._level
        # inside the disc the step and its derivatives are zero for any r
        r = np.maximum(np.hypot(x, y), self.radius)
        u = np.minimum((r - self.radius) / self.fade, 1.0)
        s = u**3 * (10.0 + u * (6.0 * u - 15.0))
        first = 30.0 * (u * (1.0 - u))**2 / self.fade
        second = 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / self.fade**2
        # directions and derivatives of r
        c = x / r
        n = y / r
        sx, sy = first * c, first * n
        sxx = second * c * c + first * n * n / r
        sxy = (second - first / r) * c * n
        syy = second * n * n + first * c * c / r
        return (s * h, sx * h + s * hx, sy * h + s * hy,
                sxx * h + 2.0 * sx * hx + s * hxx, sxy * h + sx * hy + sy * hx + s * hxy,
                syy * h + 2.0 * sy * hy + s * hyy)


def write_all(folder: Path) -> list[Path]:
    """Write the worlds of the package; return their files."""
    terrain, size, side = ROUGH
    half = size / 2
    return [write_world(folder / 'flat.sdf', comment=NOTE),
            write_world(folder / 'rough.sdf', Clearing(load_terrain(terrain), CLEARING),
                        (-half, half), (-half, half), side,
                        f'{NOTE} from the terrain {terrain}, level within {CLEARING} m')]


def main() -> None:
    """Write the requested worlds."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[1])
    parser.add_argument('--terrain', help='name of a file in c3p_description/terrains, or the '
                        'path of a YAML file; without it the worlds of the package are written')
    parser.add_argument('--size', type=float, default=12.8,
                        help='length of a side around the origin, m (%(default)s)')
    parser.add_argument('--side', type=int, default=129, choices=GAZEBO_SIDES, metavar='N',
                        help='samples along a side, 2^n + 1 (%(default)s)')
    parser.add_argument('--level', type=float, default=0.0, metavar='R',
                        help='radius of a level disc of height 0 around the origin, m; 0: none')
    parser.add_argument('--out', type=Path, help='the .sdf file (TERRAIN.sdf)')
    options = parser.parse_args()
    if options.terrain is None:
        written = write_all(WORLDS)
    else:
        out = options.out or Path(f'{Path(options.terrain).stem}.sdf')
        half, terrain = options.size / 2, load_terrain(options.terrain)
        if options.level > 0.0:
            terrain = Clearing(terrain, options.level)
        written = [write_world(out, terrain, (-half, half), (-half, half), options.side)]
    print('\n'.join(map(str, written)))


if __name__ == '__main__':
    main()
