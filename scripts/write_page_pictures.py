# SPDX-License-Identifier: Apache-2.0
"""
Generate the pictures of interactive pages in docs/images, by a browser without a window.

Needs the extra test and Chromium. Run from the root of the repository:
``python scripts/write_page_pictures.py`` (four minutes). The live page shows ``c3p sim --web``.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from write_viewer_pictures import IMAGES, ROOT, run, shrink

sys.path.insert(0, str(ROOT / 'test'))

from headless_browser import Browser  # noqa: E402

# windows of a computer and of a phone, pixels
COMPUTER, PHONE = (1280, 1000), (390, 844)
GOAL = (1.6, 0.8, 0.6)
# the time of the slip in the golden bag, s
GOLDEN, SLIP = ROOT / 'test/data/golden_bag', 3.63


def live_page(place: Path) -> None:
    """Write the live page during a drive, and on a phone with its e-stop pressed."""
    sim = subprocess.Popen([sys.executable, '-m', 'c3p_bringup', 'sim', '--web', '--port', '0'],
                           cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        url = next(found[1] for line in sim.stderr
                   if (found := re.search(r'live page: (\S+)', line)))
        with Browser(*COMPUTER) as page:
            page.open(url)
            page.until('last() && last().p && status.drivable && status.mux')
            page.value('view.scale && (view.scale *= 0.75)')
            page.value(f'send("goal", {{x: {GOAL[0]}, y: {GOAL[1]}, yaw: {GOAL[2]}}})')
            page.until('last().p[0] > 0.5')
            page.picture(place / 'dashboard.png')
            page.key('Escape')
            page.until('status.pressed')
            page.size(*PHONE)
            page.do('Emulation.setEmulatedMedia', features=[
                {'name': 'prefers-color-scheme', 'value': 'dark'}])
            time.sleep(1.0)
            page.picture(place / 'dashboard_phone.png')
    finally:
        sim.terminate()
        sim.communicate(timeout=60)


def report_cursor(place: Path) -> None:
    """Write the report of the golden bag with the cursor in its slip."""
    run('report', str(GOLDEN), '--out', str(place / 'report'))
    with Browser(1280, 860) as page:
        page.open((place / 'report/report.html').as_uri())
        page.until('window.C3P_REPORT')
        page.value('Plots.zoom(3.0, 7.0)')
        left, top, wide, high = page.box('#slip .plot:nth-child(2) .u-over')
        page.mouse('mouseMoved', left + (SLIP - 3.0) / 4.0 * wide, top + 0.5 * high)
        page.until('!document.getElementById("robot").hidden')
        time.sleep(0.5)
        page.picture(place / 'report_cursor.png')


def robot_check(place: Path) -> None:
    """Write the top of the page on the URDF of the tutorial."""
    run('robot', 'docs/tutorials/cart.urdf.xacro', '--out', str(place / 'cart'))
    with Browser(1280, 1000) as page:
        page.open(next((place / 'cart').glob('*.html')).as_uri())
        time.sleep(1.0)
        page.picture(place / 'robot_check.png')


def main() -> None:
    """Write the pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix='c3p_pages_') as folder:
        place = Path(folder)
        live_page(place)
        report_cursor(place)
        robot_check(place)
        for picture in sorted(place.glob('*.png')):
            shrink(picture, picture.name)


if __name__ == '__main__':
    main()
