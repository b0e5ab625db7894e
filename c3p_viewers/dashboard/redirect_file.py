# SPDX-License-Identifier: Apache-2.0
"""
File that leads a browser to the live page: its name may be read by every user, its text not.

The arguments of a process are readable by all users of a computer (/proc/PID/cmdline), so a
browser is given the name of a file of mode 0600, as by Jupyter, and no address with a code.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from c3p_bags.report.markup import html

# browsers in a sandbox (snap) read visible files of the home folder, and neither /tmp nor .local
PREFIX = 'c3p_live_page_'
PAGE = ('<!DOCTYPE html><html><head><meta charset="utf-8"><meta name="referrer" '
        'content="no-referrer"><meta http-equiv="refresh" content="0; url=$url">'
        '<title>c3p: live</title></head><body>to <a href="$url">the live page</a></body></html>\n')


def redirect_file(url: str, folders: Sequence[Path] | None = None) -> Path:
    """
    Write a file that leads to `url` and that only its owner can read; return its path.

    Parameters
    ----------
    url : str
        With a code.
    folders : sequence of Path, optional
        The first that can be written is taken; by default the home folder, then the temporary one.

    Raises
    ------
    OSError
        No folder can be written.
    """
    last: OSError | None = None
    for folder in folders or places():
        try:
            # mode 0600, and a name that did not exist
            with tempfile.NamedTemporaryFile('w', encoding='utf-8', dir=folder, prefix=PREFIX,
                                             suffix='.html', delete=False) as file:
                file.write(html(PAGE, url=url))
            return Path(file.name)
        except OSError as error:
            last = error
    raise last or OSError('no folder for the file that opens the live page')


def places() -> list[Path]:
    """Return the folders for the file, the best first."""
    temporary = Path(tempfile.gettempdir())
    try:
        return [Path.home(), temporary]
    except RuntimeError:  # no home
        return [temporary]
