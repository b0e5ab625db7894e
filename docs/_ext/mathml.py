# SPDX-License-Identifier: Apache-2.0
"""Sphinx extension: formulas as MathML, which browsers draw themselves; nothing is loaded."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _display(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append('<div class="formula">'
                       + tex2mathml(node.astext(), as_block=True) + '</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the extension to a build."""
    app.add_html_math_renderer('mathml', (_inline, None), (_display, None))
    return {'version': '1', 'parallel_read_safe': True, 'parallel_write_safe': True}
