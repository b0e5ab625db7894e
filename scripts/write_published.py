# SPDX-License-Identifier: Apache-2.0
"""
Drive the battery of published descriptions and write its table into docs/robots.md.

The descriptions are not part of the repository: the argument is a folder with them, expanded, in
files of the names in `ROBOTS`. Each robot is checked as by ``c3p robot``, whose JSON is kept in
the folder of results; a robot with results is not driven again. A battery takes about a minute of
a processor, and needs no packages of plots:

    python scripts/write_published.py ~/descriptions --results out/published --workers 16
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from c3p_description.reading.robot_options import parse_option
from c3p_experiments.robots.check import check_json, check_robot, with_battery

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / 'docs/robots.md'
BEGIN = '<!-- batteries, by scripts/write_published.py -->\n'
END = '<!-- end of batteries -->\n'
HEADER = ('robot', 'options', 'controller', 'drives reached', 'path error, true, worst [cm]',
          'final error, true, worst [cm]', 'missed, or not possible')

# processes of one robot: more wait for its longest drive
OF_ROBOT = 4

# drives of the table by name, before their number is given alone
NAMED = 2


class Published(NamedTuple):
    """A published robot: its name in the table, the file without ``.urdf``, and options."""

    name: str
    file: str
    options: tuple[str, ...] = ()


ROBOTS = (
    Published('active caster base', 'active_caster_urdf'),
    Published('active caster base, steering passively', 'active_caster_urdf', ('steered=false',)),
    Published('KELO Robile, 2 drives and 2 casters', 'robile_2'),
    Published('KELO Robile, 4 drives', 'robile_4'),
    Published('KELO Robile, 4 drives, both wheels', 'robile_4', ('twins=apart',)),
    Published('Neobotix MPO-700, neo_mpo_700-2', 'mpo_700-2'),
    Published('Neobotix MPO-700, neo_simulation2', 'mpo_700_sim2'),
    Published('Neobotix ROX Argo', 'rox_argo'),
    Published('Neobotix MP-400', 'mp_400_sim2'),
    Published('Neobotix MP-500', 'mp_500_sim'),
    Published('PR2', 'pr2'),
    Published('Care-O-bot 4', 'cob4'),
    Published('Ranger Mini 3', 'ranger_v3g'),
    Published('lerobot swerve platform', 'lerobot', (
        'wheel_radius=0.05', 'platform.mass=20', 'platform.inertia=1', 'wheel.mass=0.3',
        'wheel.spin_inertia=0.0004', 'wheel.yaw_inertia=0.0003')),
    Published('Rainbow RB-Y1', 'rby1a', ('wheel_radius=0.1',)),
    Published('Toyota HSR', 'hsr'),
    Published('MiR 100', 'mir100'),
    Published('TurtleBot 3', 'burger'),
    Published('TurtleBot 4', 'turtlebot4'),
    Published('Magni', 'magni'),
    Published('Fetch', 'fetch', ('wheel_radius=0.06',)),
    Published('LIMO, Ackermann steering', 'limo_ack'),
)


def result_file(results: Path, robot: Published) -> Path:
    """Return the place of the JSON of a robot."""
    words = (robot.file, *(option.replace('=', '_') for option in robot.options))
    return results / f'{"-".join(words)}.json'


def check(robot: Published, folder: Path, results: Path, workers: int) -> None:
    """Drive the battery of a robot in `workers` processes, and keep its JSON."""
    options = dict(map(parse_option, robot.options))
    found = check_json(with_battery(
        check_robot(str(folder / f'{robot.file}.urdf'), options), workers=workers))
    result_file(results, robot).write_text(json.dumps(found, indent=1), encoding='utf-8')
    print(f'{robot.name}: {", ".join(row(robot, found)[3:])}', flush=True)


def row(robot: Published, found: dict[str, Any]) -> list[str]:
    """
    Return the cells of a robot, by the JSON of ``c3p robot``.

    Errors are the largest of the drives that reached their goals. Drives that the robot cannot do,
    by its model, do not count, and have their reason.
    """
    battery = found['battery']
    able = {name: drive for name, drive in battery.items() if drive.get('possible', True)}
    reached = [drive for drive in able.values() if drive['reached']]
    missed = [name for name, drive in able.items() if not drive['reached']]
    shown = [', '.join(f'`{name}`' for name in missed[:NAMED])]
    if len(missed) > NAMED:
        shown[0] += f' and {len(missed) - NAMED} more'
    # the remedy, after a semicolon, is for its user
    reasons = {drive['failure'].partition(';')[0] for drive in battery.values()
               if not drive.get('possible', True)}
    shown += [f'{len(battery) - len(able)} not driven: {reason}' for reason in sorted(reasons)[:1]]
    worst = [f'{max(100.0 * drive[key] for drive in reached):.2f}' if reached else '–'
             for key in ('ground_truth_path_error_max_m', 'ground_truth_final_error_m')]
    return [robot.name, ', '.join(f'`{option}`' for option in robot.options),
            f'`{found["controller"]}`', f'{len(reached)} of {len(able)}', *worst,
            '; '.join(filter(None, shown))]


def whole(found: dict[str, Any]) -> bool:
    """Return whether a robot did all drives that it can do, and can do some."""
    able = [drive for drive in found['battery'].values() if drive.get('possible', True)]
    return bool(able) and all(drive['reached'] for drive in able)


def count(checks: list[dict[str, Any]]) -> str:
    """Return how many robots did all their drives, as a sentence."""
    every = sum(bool(found['reached']) for found in checks)
    more = sum(map(whole, checks)) - every
    text = f'All drives are done by {every} of {len(checks)}'
    return text + (f', and all that it can do by {more} more' if more else '')


def table(results: Path) -> str:
    """Return the table of all robots that have results, and how many did all their drives."""
    lines = [f'| {" | ".join(HEADER)} |', '|' + '---|' * len(HEADER)]
    checks = []
    for robot in ROBOTS:
        file = result_file(results, robot)
        if file.is_file():
            found = json.loads(file.read_text(encoding='utf-8'))
            lines.append(f'| {" | ".join(row(robot, found))} |')
            checks.append(found)
    return f'{count(checks)}:\n\n' + '\n'.join(lines) + '\n'


def written(page: str, text: str) -> str:
    """Return the `page` with the `text` between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f'{PAGE.name}: the marks {BEGIN.strip()} and {END.strip()} are missing')
    return before + BEGIN + text + END + after


def main() -> None:
    """Check the robots that have no result, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('folder', type=Path, nargs='?',
                        help='expanded descriptions, NAME.urdf; without it nothing is driven, and '
                             'the table has the robots with a result')
    parser.add_argument('--results', type=Path, default=Path('out/published'),
                        help='folder of the JSON of each robot')
    parser.add_argument('--workers', type=int, default=1, metavar='N', help='processes')
    arguments = parser.parse_args()
    arguments.results.mkdir(parents=True, exist_ok=True)
    if arguments.folder is not None:
        missing = [robot for robot in ROBOTS
                   if not result_file(arguments.results, robot).is_file()]
        each = min(OF_ROBOT, arguments.workers)
        with ThreadPoolExecutor(max(1, arguments.workers // each)) as pool:
            for done in [pool.submit(check, robot, arguments.folder, arguments.results, each)
                         for robot in missing]:
                done.result()
    PAGE.write_text(written(PAGE.read_text(encoding='utf-8'), table(arguments.results)),
                    encoding='utf-8')


if __name__ == '__main__':
    main()
