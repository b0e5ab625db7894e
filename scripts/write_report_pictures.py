# SPDX-License-Identifier: Apache-2.0
"""
Take screenshots of the report of the golden bag for docs/reports.md.

Writes docs/images/report.png (the top of the page), report_slip.png (details of the slip) and
report_dark.png (dark theme). Needs Chromium and Pillow; run from the root of the
repository: ``python scripts/write_report_pictures.py``.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

from c3p_bags.report.write import report

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / 'docs' / 'images'
GOLDEN = ROOT / 'test' / 'data' / 'golden_bag'
BROWSERS = 'chromium', 'chromium-browser', 'google-chrome'

# of the window, pixels; of the pictures, heights in the page and colours
WIDTH, HEIGHT, TOP, COLOURS = 1160, 2300, 1180, 200


def photograph(page: Path, out: Path, dark: bool, folder: Path) -> None:
    """Write a screenshot of a page."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f'none of {BROWSERS} is installed')
    # 0 is dark, 1 is light
    scheme = f'--blink-settings=preferredColorScheme={0 if dark else 1}'
    subprocess.run([browser, '--headless=new', '--no-sandbox', '--hide-scrollbars', scheme,
                    f'--user-data-dir={folder / "profile"}', f'--window-size={WIDTH},{HEIGHT}',
                    f'--screenshot={out}', page.as_uri()], check=True, capture_output=True)


def keep(picture: Image.Image, name: str) -> None:
    """Write an image with few colours to reduce its size."""
    picture.convert('RGB').quantize(COLOURS).save(IMAGES / name, optimize=True)
    print(f'{name}: {(IMAGES / name).stat().st_size / 1000:.0f} kB')


def main() -> int:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        report([GOLDEN], folder)
        shots = {}
        for dark in (False, True):
            shots[dark] = folder / f'{dark}.png'
            photograph(folder / 'report.html', shots[dark], dark, folder)
        keep(Image.open(shots[False]).crop((0, 0, WIDTH, TOP)), 'report.png')
        keep(Image.open(shots[True]).crop((0, 0, WIDTH, TOP)), 'report_dark.png')
        looks = Image.open(folder / 'looks.png')
        keep(looks, 'report_slip.png')
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
