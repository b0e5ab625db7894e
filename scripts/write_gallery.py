# SPDX-License-Identifier: Apache-2.0
"""
Generate docs/gallery.md, and those of its pictures that are missing in docs/images.

Each experiment has one picture, drawn by the command below it. Run from the root of the
repository: ``python scripts/write_gallery.py``; names of experiments draw them again, ``all`` all
of them (more than an hour). Pictures of other pages have scripts of their own and are only shown
here.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
IMAGES, PAGE = ROOT / 'docs' / 'images', ROOT / 'docs' / 'gallery.md'

# of a picture: largest width [pixel], and colours
WIDTH, COLOURS = 1440, 128


class Entry(NamedTuple):
    """A picture: its title, file in docs/images, command, and where that writes it (or '')."""

    title: str
    file: str
    command: str
    drawn: str = ''


def experiment(name: str, title: str, plant: str = '', file: str = '') -> Entry:
    """Return the entry of an experiment, on `plant` unless empty."""
    command = f'c3p experiment {name}' + (f' --plant {plant}' if plant else '')
    return Entry(title, file or f'{name}.png', command, f'{name}.png')


GALLERY = {
    'First look': (
        Entry('Start from a singular posture', 'drive.gif',
              'c3p drive 2 1 0.6 --plant mujoco --bag && c3p film out/drive/bag --scene'),
        Entry('Page of a drive', 'drive.png', 'c3p drive 4 0 0 --plant mujoco --realtime-factor 0',
              'drive.png'),
        Entry('Report of a bag', 'report.png', 'c3p report BAG'),
        Entry('The wheel that slipped', 'report_slip.png', 'c3p report BAG'),
        Entry('Robot at the cursor’s time', 'report_cursor.png', 'c3p report BAG'),
        Entry('Live page', 'dashboard.png', 'c3p sim --web'),
    ),
    'Viewers': (
        Entry('Rolling lines in MuJoCo', 'view_mujoco.png', 'c3p view BAG --viewer mujoco'),
        Entry('Rerun', 'view_rerun.png', 'c3p view BAG'),
        Entry('RViz', 'rviz_c3p.png', 'ros2 launch c3p bringup.launch.py sim:=mujoco rviz:=true'),
        Entry('Two robots in RViz', 'rviz_two_robots.png', 'ros2 launch c3p two_robots.launch.py'),
        Entry('Plots of the Foxglove layout', 'view_plots.png', 'c3p view BAG --viewer foxglove'),
        Entry('Tricycle in Rerun', 'view_tricycle.png', 'c3p sim --robot pvc_tricycle'),
    ),
    'A robot of your own': (
        Entry('Check of a URDF', 'robot_check.png',
              'c3p robot docs/tutorials/cart.urdf.xacro'),
        Entry('Calibration from a drive', 'calibrate.png',
              'c3p calibrate --drive --simulated ROBOT --plant mujoco'),
        Entry('Identification from a drive', 'identify.png',
              'c3p identify --excite --simulated c3p_25kg --plant mujoco', 'identify.png'),
        Entry('Campaign over model uncertainty', 'campaign.png', 'c3p campaign --draws 30',
              'campaign.png'),
    ),
    'El-Shenawy, Wagner and Badreddin': (
        experiment('postures', 'Paper I, Fig. 4: singular postures'),
        experiment('structure', 'Paper I, Figs 5-8: control structure and angles'),
        experiment('line', 'Paper I, Fig. 9: 4 m from a singular start', 'mujoco'),
        experiment('triangle', 'Paper I, Fig. 10: triangle', 'mujoco'),
        experiment('figure_eight', 'Paper I, Fig. 11: figure eight', 'mujoco'),
        experiment('feed_forward', 'Paper II, Fig. 6: inverse model alone'),
        experiment('ramp_y', 'Paper II, Fig. 6: ramp along Y', 'mujoco'),
        experiment('ramp_x', 'Paper II, Fig. 7: ramp along X', 'mujoco'),
        experiment('flip', 'Paper II, Fig. 9: casters flip', 'mujoco'),
    ),
    'Further drives': (
        experiment('spin', 'Half a turn in place', 'mujoco'),
        experiment('sideways', '2 m along Y', 'mujoco'),
        experiment('goal_behind', '2 m back', 'mujoco'),
        experiment('steerings', '36 random start steerings', 'mujoco'),
        experiment('pushes', '4 m with pushes', 'mujoco'),
        experiment('slope', '4 m across a slope of 4°', 'mujoco'),
        experiment('oil_patch', 'One wheel accelerates on oil', 'mujoco'),
        Entry('Slip and wrong encoders distinguished', 'slip_faults.png',
              'c3p experiment slip_faults --plant mujoco --seed 1', 'slip_faults.png'),
        experiment('self_calibration', 'Odometry that calibrates itself', 'mujoco'),
        experiment('consistency', 'Errors of odometry against its covariance', 'mujoco'),
    ),
    'Auchter and Moore': (
        experiment('hill', 'The tricycle climbs onto a plateau', file='hill_page.png'),
        Entry('Stills of the climb', 'hill_stills.png', 'c3p experiment hill --film'),
        experiment('random_terrain', 'Random hills', file='random_terrain_page.png'),
        experiment('camber_power', 'Drive power with and without camber'),
        experiment('planar_models', 'Planar wheel models on uneven ground'),
        Entry('Camber on the edge of a plateau', 'camber.png',
              'ros2 launch c3p rough_ground.launch.py'),
        Entry('The tricycle in RViz', 'rviz_pvc.png',
              'ros2 launch c3p rough_ground.launch.py rviz:=true'),
        Entry('The rover in RViz', 'rviz_rover.png',
              'ros2 launch c3p rough_ground.launch.py robot:=rover rviz:=true'),
    ),
    'Saha and Angeles; Kelly': (
        experiment('agv', 'AGV on a circle'),
        experiment('berthing', 'An arm captures a satellite'),
        experiment('grasp', 'Two arms catch a box'),
        experiment('chain', 'A chain falls against a wall'),
        experiment('flexible', 'An elastic arm slews'),
        experiment('crossover', 'Composite against articulated bodies'),
        experiment('methods', 'Methods compared'),
    ),
}


def cell(entry: Entry | None) -> str:
    """Return a cell of the page: the picture, which leads to its full size, and its command."""
    if entry is None:
        return ''
    image = f'images/{entry.file}'
    return f'[![{entry.title}]({image})]({image})<br>{entry.title}<br>`{entry.command}`'


def page() -> str:
    """Return the page."""
    text = ['# Gallery', '', 'Each experiment with one picture, and the command that draws it. '
            '`BAG` is the folder of a bag,', 'for example `out/drive/bag` after '
            '`c3p drive 2 1 0.6 --plant mujoco --bag`; `ROBOT` is a robot file that differs from',
            'the description.', '']
    for title, entries in GALLERY.items():
        text += [f'## {title}', '', '| | |', '|---|---|']
        text += [f'| {cell(a)} | {cell(b)} |'
                 for a, b in zip_longest(entries[::2], entries[1::2])]
        text.append('')
    return '\n'.join([*text, '`python scripts/write_gallery.py` writes this page, and the '
                      'pictures that are missing.', ''])


def draw(entry: Entry) -> None:
    """Run the command of an entry, and write its picture small."""
    with tempfile.TemporaryDirectory(prefix='c3p_gallery_') as folder:
        words = entry.command.removeprefix('c3p ').split(' --out')[0].split()
        subprocess.run([sys.executable, '-m', 'c3p_bringup', *words, '--out', folder], cwd=ROOT,
                       check=False, stdout=subprocess.DEVNULL)
        shrink(Path(folder) / Path(entry.drawn).name, entry.file)


def shrink(source: Path, name: str) -> None:
    """Write a picture into docs/images, smaller and with few colours."""
    with Image.open(source) as picture:
        # transparent edges are white
        shown = Image.new('RGB', picture.size, 'white')
        shown.paste(picture, mask=picture.getchannel('A') if picture.mode == 'RGBA' else None)
    if shown.width > WIDTH:
        shown = shown.resize((WIDTH, round(shown.height * WIDTH / shown.width)),
                             Image.Resampling.LANCZOS)
    shown.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1,
                   dither=Image.Dither.NONE).save(IMAGES / name, optimize=True)
    print(f'{name}: {(IMAGES / name).stat().st_size / 1000:.0f} kB', flush=True)


def main(names: list[str]) -> None:
    """Draw the pictures of `names`, or those that are missing; write the page."""
    for entry in (entry for entries in GALLERY.values() for entry in entries):
        wanted = Path(entry.file).stem in names or 'all' in names
        if entry.drawn and (wanted or not (IMAGES / entry.file).exists()):
            draw(entry)
    PAGE.write_text(page(), 'utf-8')


if __name__ == '__main__':
    main(sys.argv[1:])
