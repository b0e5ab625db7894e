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

from c3p_rough_ground.worlds.clearing import Clearing
from c3p_rough_ground.worlds.gazebo import GAZEBO_SIDES, write_world
from c3p_rough_ground.worlds.terrain_files import load_terrain

WORLDS = Path(__file__).parents[1] / 'c3p_description' / 'worlds'
# the terrain, the length and the samples of a side of the rough world of the package
ROUGH = 'gentle', 12.8, 65
# radius of the level disc around the origin, m: the robot is spawned there, and must neither roll
# away before its first command nor be in the ground. All cells below its wheels are level.
CLEARING = 0.8
NOTE = 'SPDX-License-Identifier: Apache-2.0; written by scripts/write_worlds.py'


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
