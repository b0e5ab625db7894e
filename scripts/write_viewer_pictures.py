# SPDX-License-Identifier: Apache-2.0
"""
Generate the images of docs/viewers.md from a drive: MuJoCo, Rerun, the layouts' plots, a film.

Needs the extras sim and view, and for Rerun Vulkan, in software at least (mesa-vulkan-drivers).
Run from the root of the repository: ``python scripts/write_viewer_pictures.py`` (two minutes).
The plots of the Foxglove and PlotJuggler layouts are read from the bag by the paths of the layout,
and drawn by matplotlib in the same arrangement.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from c3p_bags.runs.log_reader import read_run
from c3p_bags.storage.bag import Bag
from c3p_description.reading.loader import load_casters
from c3p_plots.style import dress, figure, legend
from c3p_viewers.foxglove.scene_channel import NUMBERS, numbers
from c3p_viewers.sources.bag_source import BagSource

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / 'docs' / 'images'

# the goal of the drive, x, y and yaw; colours in a picture of the documentation; largest width
GOAL, COLOURS, WIDTH = ('2', '1', '0.6'), 256, 1440
# of the tricycle's run, s
CLIMB = 20
# the film and its part of the drive, s
FILM, FILMED = 'drive.gif', ('1.4', '4.4')


def run(*arguments: str) -> None:
    """Run a command of ``c3p``."""
    subprocess.run([sys.executable, '-m', 'c3p_bringup', *arguments], cwd=ROOT, check=True)


def shrink(source: Path, name: str) -> None:
    """Write a picture into the documentation, with few colours."""
    with Image.open(source) as picture:
        picture = picture.convert('RGB')
        if picture.width > WIDTH:
            picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)),
                                     Image.Resampling.LANCZOS)
        # keeps what is rare, as thin lines are
        picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1,
                         dither=Image.Dither.NONE).save(IMAGES / name, optimize=True)
    print(IMAGES / name, (IMAGES / name).stat().st_size)


def value(message: Any, path: str) -> float:
    """Return the value of a Foxglove path without its topic, such as ``position[0]``."""
    for name, index in re.findall(r'(\w+)(?:\[(\d+)\])?', path):
        message = message[name] if isinstance(message, dict) else getattr(message, name)
        if index:
            message = message[int(index)]
    return float(message)


def layout_plots(bag: Path, to: Path) -> None:
    """Draw every plot of the Foxglove layout with the data that its paths find in a bag."""
    robot = load_casters('c3p')
    with Bag(bag) as opened:
        source = BagSource(read_run(opened, robot))
    start = source.log.start_ns
    panels = [panel for panel in json.loads(
        (ROOT / 'config/foxglove/c3p.json').read_text(encoding='utf-8'))['configById'].values()
        if 'paths' in panel]
    wanted = {path['value'].split('.')[0] for panel in panels for path in panel['paths']}
    series: dict[str, list[tuple[float, Any]]] = {topic: [] for topic in wanted}
    with Bag(bag) as opened:
        for entry in opened.messages(wanted - {NUMBERS}):
            stamp = entry.message.header.stamp
            series[entry.topic].append(
                ((stamp.sec * 10**9 + stamp.nanosec - start) * 1e-9, entry.message))
    series[NUMBERS] = [(m.time, numbers(robot, m)) for m in source.moments(20.0)]
    page = figure(10.0, 7.4)
    grid = page.subplots(4, 2).T.ravel()
    for axes, panel in zip(grid, panels, strict=False):
        for path in panel['paths']:
            topic, _, fields = path['value'].partition('.')
            axes.plot(*np.transpose([(t, value(m, fields)) for t, m in series[topic]]),
                      color=path['color'], label=path['label'], linewidth=1.1)
        dress(axes, panel['title'], '', '')
        legend(axes)
    for axes in grid[len(panels):]:
        axes.axis('off')
    for axes in (grid[3], grid[len(panels) - 1]):
        axes.set_xlabel('time [s]', fontsize=8)
    page.tight_layout()
    page.savefig(to, dpi=140)


def climb(to: Path) -> None:
    """Record the tricycle on the climb of the paper."""
    recorder = subprocess.Popen([sys.executable, '-m', 'c3p_bringup', 'record', '--robot',
                                 'pvc_tricycle', '--out', str(to)], cwd=ROOT)
    try:
        run('sim', '--robot', 'pvc_tricycle', '--terrain', 'plateau_20deg', '--duration',
            str(CLIMB))
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait()


# one wheel slips in it
SLIPPING = 'view_slip.png', ROOT / 'test' / 'data' / 'golden_bag'

TRICYCLE = 'view_tricycle.png'

# name → arguments of `c3p view`; the last one is drawn here
PICTURES = {
    'view_mujoco.png': ['--time', '2.35', '--size', '1440', '810'],
    'view_singular.png': ['--time', '0', '--size', '1440', '810'],
    'view_slip.png': ['--time', '3.63', '--size', '1440', '810'],
    'view_rerun.png': ['--viewer', 'rerun', '--time', '2.35'],
    TRICYCLE: ['--time', '11'],
    'view_plots.png': [],
    FILM: [],
}


def film(bag: Path) -> None:
    """Write the start of the README: out of the singular start at half speed, then to the goal."""
    run('film', str(bag), '--scene', '--span', *FILMED, '--speed', '0.5', '--rate', '12',
        '--size', '640', '360', '--out', str(IMAGES / FILM))


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.strip().split('\n')[0])
    parser.add_argument('names', nargs='*', metavar='NAME', choices=[*PICTURES, []],
                        help=f'only these of {", ".join(PICTURES)}')
    parser.add_argument('--bag', type=Path, help='use this one instead of driving')
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='c3p_pictures_') as folder:
        place = Path(folder)
        if chosen.bag is None and set(chosen.names or PICTURES) - {SLIPPING[0], TRICYCLE}:
            run('drive', *GOAL, '--plant', 'mujoco', '--realtime-factor', '0', '--bag', '--out',
                folder)
        bag = chosen.bag or place / 'bag'
        bags = {SLIPPING[0]: SLIPPING[1], TRICYCLE: place / 'climb'}
        if TRICYCLE in (chosen.names or PICTURES):
            climb(bags[TRICYCLE])
        for name in chosen.names or PICTURES:
            shown = bags.get(name, bag.absolute())
            if name == FILM:
                film(shown)
                continue
            if PICTURES[name]:
                run('view', str(shown), '--headless-screenshot', str(place / name),
                    *PICTURES[name])
            else:
                layout_plots(bag, place / name)
            shrink(place / name, name)


if __name__ == '__main__':
    main()
