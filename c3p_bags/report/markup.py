# SPDX-License-Identifier: Apache-2.0
"""
HTML from templates: one pass of substitution, and every text is escaped unless it is Markup.

Names, messages and parameters come from robots and bags, so any text may contain markup. All pages
of the suite are made with `html`; a text that reaches a page on another path is escaped as well,
since only `html` and `joined` return Markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from string import Template

# a tag, and the quoted values of its attributes: a value outside of quotes could end it
TAG = re.compile(r"""<[a-zA-Z/!$](?:"[^"]*"|'[^']*'|[^"'>])*>""")
QUOTED = re.compile(r""""[^"]*"|'[^']*'""")


class Markup(str):
    """
    Text that is HTML already.

    Operations of str return str, which is escaped when it is substituted: a mistake is visible in
    the page, and harmless.
    """

    __slots__ = ()


def html(template: str, /, **values: object) -> Markup:
    """
    Return a template with its values; each is escaped unless it is Markup.

    Values are not searched for placeholders: a robot named ``$title`` keeps its name.

    Parameters
    ----------
    template : str
        HTML with ``$name`` for each value; in attributes between quotes. ``$$`` is a dollar.
    **values : object
        Markup, or anything else that becomes text by ``str``.

    Raises
    ------
    ValueError
        A placeholder in a tag that is not between quotes.
    KeyError
        A placeholder without a value.

    Examples
    --------
    >>> html('<b title="$why">$name</b>', name='<i>', why='"$name"')
    '<b title="&quot;$name&quot;">&lt;i&gt;</b>'
    """
    for tag in TAG.findall(template):
        if '$' in QUOTED.sub('', tag).replace('$$', ''):
            raise ValueError(f'{tag!r}: a value in a tag must be between quotes')
    return Markup(Template(template).substitute(
        {name: escaped(value) for name, value in values.items()}))


def escaped(value: object) -> Markup:
    """Return a value as Markup: itself if it is Markup, else its text with escapes."""
    return value if isinstance(value, Markup) else Markup(escape(f'{value}', quote=True))


def joined(parts: Iterable[object]) -> Markup:
    """
    Return values one after the other, each escaped unless it is Markup.

    Examples
    --------
    >>> joined([Markup('<br>'), '<br>'])
    '<br>&lt;br&gt;'
    """
    return Markup(''.join(map(escaped, parts)))
