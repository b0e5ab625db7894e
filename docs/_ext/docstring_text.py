# SPDX-License-Identifier: Apache-2.0
"""
Docstrings of the suite as reStructuredText.

They are numpydoc with Unicode mathematics: a bar is an absolute value, not a substitution, and a
name between backticks is a name of the suite where there is one, and code otherwise.
"""

from __future__ import annotations

import re

from public_names import modules, resolved
from sphinx.ext.napoleon import Config, NumpyDocstring

CONFIG = Config(napoleon_use_param=False, napoleon_use_rtype=False, napoleon_use_ivar=False,
                napoleon_custom_sections=[('Attributes', 'params_style'),
                                          ('Fields', 'params_style')])

LITERAL = re.compile(r'(``.+?``)', re.DOTALL)
NAME = re.compile(r'(?<![`\w:])`([A-Za-z_][\w.]*)(\(\))?`(?![`\w])')
PAGE = re.compile(r'\bdocs/([\w/]+)\.md\b')
RAISES = re.compile(r'^:raises [^\n]*(?:\n[ \t]*(?!:raises)\S[^\n]*)+', re.MULTILINE)
# paragraphs of list items are indented by less
FORMULA_INDENT = 4
# x_ would be a reference
HANGING = re.compile(r'(?<=\w)_(?=[^\w`]|$)')


def _prose(text: str, module: str) -> str:
    """Return prose with bars escaped and names linked; what stands in ``…`` stays."""
    def linked(found: re.Match[str]) -> str:
        name, call = found.group(1), found.group(2) or ''
        full = resolved(module, name)
        return f':py:obj:`{name}{call} <{full}>`' if full else f'``{name}{call}``'

    parts = LITERAL.split(text)
    for k in range(0, len(parts), 2):
        part = parts[k].replace('|', r'\|')
        part = HANGING.sub(r'\\_', part)
        part = NAME.sub(linked, part)
        parts[k] = PAGE.sub(r':doc:`/\1`', part)
    return ''.join(parts)


def _blocks(text: str) -> list[tuple[bool, str]]:
    """
    Return (is it prose, lines) of a docstring: examples, code and tables are not.

    Before the first section, indented paragraphs are formulas: they keep their lines.
    """
    blocks: list[tuple[bool, str]] = []
    literal_indent: int | None = None
    sections = False
    for paragraph in re.split(r'(\n\s*\n)', text):
        lines = paragraph.split('\n')
        first = next((line for line in lines if line.strip()), '')
        indent = len(first) - len(first.lstrip())
        if first and literal_indent is not None and indent <= literal_indent:
            literal_indent = None
        sections |= any(re.fullmatch(r'---+', line) for line in lines)
        table = any(re.fullmatch(r'\s*=+( +=+)+', line) for line in lines)
        prose = bool(first) and literal_indent is None and not (
            first.lstrip().startswith('>>>') or table)
        if prose and indent >= FORMULA_INDENT and not sections:
            blocks.append((False, f'::\n\n{paragraph}'))
            continue
        blocks.append((prose, paragraph))
        if prose and paragraph.rstrip().endswith('::'):
            literal_indent = len(lines[-1]) - len(lines[-1].lstrip())
    return blocks


def restructured(docstring: str, module: str) -> list[str]:
    """
    Return a docstring as lines of reStructuredText.

    Parameters
    ----------
    docstring : str
        Dedented, as ``ast.get_docstring`` returns it.
    module : str
        Where it stands, for the names in it.
    """
    assert module in modules()
    text = ''.join(_prose(block, module) if prose else block
                   for prose, block in _blocks(docstring))
    lines = '\n'.join(NumpyDocstring(text, CONFIG).lines())
    # napoleon lets the lines after the first of an error stand beside the field
    return RAISES.sub(lambda found: ' '.join(found.group(0).split()), lines).split('\n')
