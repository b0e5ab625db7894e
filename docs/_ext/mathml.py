# SPDX-License-Identifier: Apache-2.0
"""Sphinx extension: formulas as MathML, which browsers draw themselves; nothing is loaded."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

# an accent and a subscript of one symbol, which docutils puts above and below it
ACCENTED = re.compile(r'<munderover>\s*(<mi>[^<]*</mi>)\s*(<mi>[^<]*</mi>)\s*'
                      r'(<mo stretchy="false">[^<]*</mo>)\s*</munderover>')


def mathml(source: str, block: bool) -> str:
    r"""
    Return a formula in LaTeX as MathML; `block` is a line of its own.

    Examples
    --------
    >>> 'munderover' in mathml(r'{\dot q}_x', False)
    False
    """
    return ACCENTED.sub(r'<msub><mover>\1\3</mover>\2</msub>',
                        tex2mathml(source, as_block=block))


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext(), block=False))
    raise nodes.SkipNode


def _display(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append('<div class="formula">'
                       + mathml(node.astext(), block=True) + '</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the extension to a build."""
    app.add_html_math_renderer('mathml', (_inline, None), (_display, None))
    return {'version': '1', 'parallel_read_safe': True, 'parallel_write_safe': True}
