# SPDX-License-Identifier: Apache-2.0
"""
Sphinx extension: links from pages to source files, which a forge shows and a site has not.

``[text](../c3p_ros/wire.py)`` leads to the description of the module or, where the text is the
name of something in it, to that. Other files are copied into the site; other folders and pages
of the root are named.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from public_names import ROOT, modules, resolved
from sphinx.application import Sphinx

LINK = re.compile(r'(?<!!)\[([^\]\n]+)\]\(((?:\.\./)+[^)#\s]+)(#[^)\s]*)?\)')


def _target(page: Path, text: str, link: str) -> str | None:
    """Return the full name that a link from a page means, None where it is no public module."""
    place = (page.parent / link).resolve()
    if not place.is_relative_to(ROOT):
        return None
    module = '.'.join(place.relative_to(ROOT).with_suffix('').parts)
    if module not in modules():
        return None
    # `casters.inverse`: the function, not only its file
    name = text.strip('`').removesuffix('()')
    inside = resolved(module, name.removeprefix(module.rpartition('.')[2] + '.'))
    return inside if inside and inside.startswith(f'{module}.') else module


def rewritten(page: Path, text: str) -> str:
    """Return the Markdown of a page, links to public modules leading to their descriptions."""
    def changed(found: re.Match[str]) -> str:
        label, link, _ = found.groups()
        full = _target(page, label, link)
        label = label.replace('`', '')
        if full:
            return f'{{py:obj}}`{label} <{full}>`'
        place = (page.parent / link).resolve()
        # a page of the root is not one of the site, and Sphinx would take it for one
        named = place.is_dir() or (place.suffix == '.md' and place.parent == ROOT)
        return f'`{label}`' if named else found.group(0)

    return LINK.sub(changed, text)


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    path = Path(app.env.doc2path(docname))
    if path.suffix == '.md':
        source[0] = rewritten(path, source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the extension to a build."""
    app.connect('source-read', _read)
    return {'version': '1', 'parallel_read_safe': True, 'parallel_write_safe': True}
