# SPDX-License-Identifier: Apache-2.0
"""Text of robots and bags never becomes markup in a page of the suite."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_tree import ROOT, SOURCES, name_of

from c3p_bags.report import web
from c3p_bags.report.markup import Markup, escaped, html, joined
from c3p_bags.report.tables import sentences, table

# texts that would be markup, a placeholder of a template, or the end of an element
HOSTILE = ('<img src=x onerror=alert(1)>', '</title><script nonce=NONCE>alert(1)</script>',
           '$name', '${style}', '"><svg onload=alert(1)>', "'><b>", '&lt;script&gt;', 'SCRIPTS',
           'NONCE', '</script><script>alert(1)</script>', '<!--', ']]>', '\\1', '%s', '{name}')


class Texts(HTMLParser):
    """Tags, and the text of a page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text = [], [], ''
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [value for _, value in attributes]

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize('name', HOSTILE)
def test_a_value_is_text_and_is_not_searched_for_placeholders(name):
    page = html('<p title="$name"><b>$name</b>$other</p>', name=name, other=Markup('<i>1</i>'))
    found = Texts(page)
    assert found.tags == ['p', 'b', 'i'] and found.attributes == [name]
    assert found.text == f'{name}1'


@given(st.text(), st.text())
def test_any_text_comes_back_unchanged(one, other):
    found = Texts(html('<p title="$one">$other</p>', one=one, other=other))
    assert found.tags == ['p'] and found.attributes == [one]
    # a parser of HTML reads a return as a new line, and what follows a lone < as text
    assert found.text.replace('\r', '\n') == other.replace('\r', '\n')


def test_what_is_put_together_by_operations_of_text_is_escaped():
    bold = html('<b>$name</b>', name='a')
    assert isinstance(bold, Markup) and escaped(bold) is bold
    for mistake in (bold + bold, f'{bold}', ''.join([bold]), bold.upper(), bold[:3]):
        assert '<' not in html('$text', text=mistake)
    assert joined([bold, '<']) == '<b>a</b>&lt;'


def test_a_placeholder_in_a_tag_must_be_between_quotes():
    for template in ('<p id=$name>', '<$name>', '<p $name="a">', '<p class="a" id=$name>'):
        with pytest.raises(ValueError, match='between quotes'):
            html(template, name='a')
    assert html('<p id="a=$name">it costs $$1</p>', name='b') == '<p id="a=b">it costs $1</p>'
    with pytest.raises(KeyError):
        html('$missing')


def test_cells_of_tables_are_escaped():
    text = table(HOSTILE, [HOSTILE, (Markup('<i>1</i>'), *HOSTILE[1:])])
    assert set(Texts(text).tags) <= {'div', 'table', 'thead', 'tbody', 'tr', 'td', 'th', 'i'}
    assert Texts(text).text == ''.join([*HOSTILE, *HOSTILE, '1', *HOSTILE[1:]])
    text = sentences(HOSTILE, [HOSTILE])
    assert set(Texts(text).tags) <= {'div', 'table', 'thead', 'tbody', 'tr', 'td', 'th'}
    assert Texts(text).text == ''.join([*HOSTILE, *HOSTILE])


@pytest.mark.parametrize('name', HOSTILE)
def test_json_and_scripts_cannot_end_their_element(name):
    page = html('<script>const A=$json;</script><p>1</p>', json=Markup(web.as_json({'a': name})))
    assert Texts(page).tags == ['script', 'p']
    assert Texts(web.library(f'"{name}"')).tags == ['script']


def test_no_other_place_writes_html():
    # one function makes pages, so that no place can forget to escape
    names = r'a|b|p|i|h\d|td|tr|th|li|ul|div|span|section|figure|html|head|body|title|script|img'
    tag = re.compile(rf"""f['"][^'"]*</?({names})[ >]""")
    text = {name_of(path): path.read_text(encoding='utf-8') for path in SOURCES}
    assert [name for name, content in text.items() if tag.search(content)] == []
    own = re.compile(r'^(from html import|import html\b)', re.MULTILINE)
    assert [name for name, content in text.items() if own.search(content)] == [
        'c3p_bags/report/markup.py']
    # of browsers, too: elements are made with their texts
    makes = re.compile(r'innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser')
    scripts = [path for path in ROOT.glob('c3p_*/**/*.js') if 'uPlot' not in path.name]
    assert len(scripts) >= 6
    assert [path.name for path in scripts if makes.search(path.read_text(encoding='utf-8'))] == []
