# SPDX-License-Identifier: Apache-2.0
"""
Sphinx extension: mathematics typed in Unicode is set as formulas.

Pages and docstrings write equations so that they are read in a terminal and on a forge, too:
``A q̈ + c = τ + Bᵀλ``. On the site they become MathML: in code spans, in indented blocks, and where
words of a sentence or a table are symbols. Code, commands and their outputs remain as they are.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

# letters of a formula that may be wider than a phone: it scrolls separately
WIDE = 24

# combining marks above a symbol, and the accents that MathML places there
ACCENTS = {'\u0307': '˙', '\u0308': '¨', '\u0302': '^', '\u0303': '~', '\u0304': '¯'}
ABOVE = ''.join(ACCENTS)
GREEK = 'Α-Ωα-ωϑϕ'
LOW = str.maketrans('₀₁₂₃₄₅₆₇₈₉₊₋ₓᵢⱼₖₙ', '0123456789+−xijkn')
HIGH = str.maketrans('⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀˣⁿ', '0123456789+−Txn')
LOWERED, RAISED = ''.join(map(chr, LOW)), ''.join(map(chr, HIGH))
FUNCTIONS = {'cos', 'sin', 'tan', 'arctan', 'arccos', 'arcsin', 'asin', 'atan2', 'cosh', 'sinh',
             'tanh', 'exp', 'log', 'ln', 'max', 'min', 'argmin', 'sign', 'diag', 'rank', 'det',
             'tr', 'wrap', 'grad', 'mod'}
RELATIONS = '=≤≥≠≈∝→←≡<>'
OPERATORS = f'{RELATIONS}+−±∓·×/∈∘⊗'

SYMBOL = re.compile(f'[A-Za-z{GREEK}ℓ∂∇][{ABOVE}]*')
TOKEN = re.compile(
    rf'(?P<space>\s+)|(?P<number>\d+(?:\.\d+)?(?:e[-−]?\d+)?)|(?P<word>[A-Za-z]{{2,}}(?![{ABOVE}]))'
    rf'|(?P<big>[ΣΠ∑∏∫])|(?P<symbol>{SYMBOL.pattern})|(?P<half>½)|(?P<root>√)|(?P<other>.)',
    re.DOTALL)
SUBSCRIPT = re.compile(rf'_(?:\{{([^}}]*)\}}|((?:(?![{RAISED}{LOWERED}])[\w⊥∥{ABOVE}])+'
                       rf'(?:,[a-z](?![A-Za-z0-9_]))?))'
                       rf'|([{LOWERED}]+)')
SUPERSCRIPT = re.compile(rf"\^(?:\(([^)]*)\)|\{{([^}}]*)\}}|([\w{GREEK}*]+))|([{RAISED}'*′]+)")

# signs of mathematics, and of code, units and diagrams, which are not mathematics
MATHS = re.compile(rf'(?<![^\W\d_{GREEK}])[A-Za-z{GREEK}][{ABOVE}]|[{GREEK}∂∇√∫∑½∝]|[\w′)][ᵀ⁻⁺]'
                   rf'|(?<![^\W\d_])[A-Za-z][{ABOVE}]*_(?:\w{{1,3}}(?!\w)|[⊥∥])|[A-Za-z)|][{LOWERED}²³]')
CODE = re.compile(r'["`#$\\]|>>>|--\w|\w\.\w*[a-z]{2}|[A-Za-z]{2,}_\w|[A-Za-z]\d+[a-z]+_\w|'
                  r'__|::|\w\(\)|\w=\w|'
                  r'[┌┐└┘│─├┤▲▼]|^\s*[-*] |\[[^\]]*(?:N·m|m/s|rad)[^\]]*\]|\.\.\.|@')
# letters that are a product beside other symbols
CAPITALS = re.compile(r'[A-Z]{2,3}')
UNIT = re.compile(r'^(?:[\d.–−-]*\s*(?:k?N|[kmµcn]?m[²³]?|kg|m?s|rad|W|J|Hz|°|V|A|Ω|kΩ|µs|µm)'
                  r'(?:[·/](?:k?N|[kmc]?m|kg|m?s|rad|Hz|A|V|√?[a-z]+)[²³⁴]?)*'
                  r'|µ[sm]|10[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)$')


def _normal(text: str) -> str:
    return unicodedata.normalize('NFD', text)


def _atom(kind: str, text: str) -> str:
    """Return a token without its scripts as MathML."""
    if kind == 'number':
        return f'<mn>{text}</mn>'
    if kind == 'half':
        return '<mfrac><mn>1</mn><mn>2</mn></mfrac>'
    if kind == 'symbol':
        made = f'<mo>{text[0]}</mo>' if text[0] in '∂∇' else f'<mi>{text[0]}</mi>'
        for mark in text[1:]:
            made = f'<mover>{made}<mo stretchy="false">{ACCENTS[mark]}</mo></mover>'
        return made
    if kind == 'big':
        return f'<mo largeop="false">{"∑" if text == "Σ" else text}</mo>'
    if text in '()[]{}|':
        return f'<mo stretchy="false">{text}</mo>'
    return f'<mo>{escape("−" if text == "-" else text)}</mo>'


def _closing(text: str, at: int) -> int:
    """Return the place of the bracket that closes the one at `at`, or the end."""
    depth = 0
    for k in range(at, len(text)):
        depth += (text[k] in '([{') - (text[k] in ')]}')
        if not depth:
            return k
    return len(text)


def row(source: str) -> str:
    """
    Return the content of a formula in Unicode as MathML, without ``<math>``.

    Examples
    --------
    >>> row('q̇_x²')
    '<msubsup><mover><mi>q</mi><mo stretchy="false">˙</mo></mover><mi>x</mi>\
<mn>2</mn></msubsup>'
    >>> row('√(a+b)')
    '<msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt>'
    """
    text, at, made = _normal(source), 0, []
    while at < len(text):
        found = TOKEN.match(text, at)
        assert found
        kind, part = str(found.lastgroup), found[0]
        at = found.end()
        if kind == 'space':
            if len(part) > 1:
                made.append('<mspace width="1.4em"/>')
            continue
        if kind == 'root':
            end = _closing(text, at) if text[at:at + 1] == '(' else at
            inner = text[at + 1:end] if end > at else text[at:at + 1]
            at = end + 1
            core = f'<msqrt>{row(inner)}</msqrt>'
        elif kind == 'word':
            if part in FUNCTIONS:
                core = f'<mi>{part}</mi>'
            elif len(part) > 3:
                made.append(f'<mtext>&#160;{part}&#160;</mtext>')
                continue
            else:
                # letters side by side are a product: scripts belong to the last
                made += [_atom('symbol', letter) for letter in part[:-1]]
                core = _atom('symbol', part[-1])
        else:
            core = _atom(kind, part)
        low = high = ''
        digits = re.match(r'\d+(?:,\d)?(?!\.)', text[at:])
        if kind == 'symbol' and not part.isascii() and digits:
            low, at = f'<mn>{digits[0]}</mn>', at + digits.end()
        for _ in range(2):
            if not low and (sub := SUBSCRIPT.match(text, at)):
                low, at = _script((sub[1] or sub[2] or sub[3]).translate(LOW)), sub.end()
            if not high and (sup := SUPERSCRIPT.match(text, at)):
                raised = next(filter(None, sup.groups()))
                high, at = _script(raised.translate(HIGH).replace("'", '′')), sup.end()
        name = {(1, 0): 'msub', (0, 1): 'msup', (1, 1): 'msubsup'}.get((bool(low), bool(high)))
        made.append(f'<{name}>{core}{low}{high}</{name}>' if name else core)
        if kind == 'word' and part in FUNCTIONS and text[at:at + 1] not in ('(', ''):
            made.append('<mspace width="0.17em"/>')
    return ''.join(made)


def _script(text: str) -> str:
    """Return a subscript or superscript; words in it are upright."""
    if re.fullmatch(r'[A-Za-z]{2,}', text):
        return f'<mi>{text}</mi>' if len(text) > 2 else f'<mrow>{row(text)}</mrow>'
    content = row(text)
    return content if re.fullmatch(r'<m([ino])[^>]*>[^<]*</m\1>', content) else \
        f'<mrow>{content}</mrow>'


def inline(source: str) -> str:
    """Return a formula in a line as MathML: one element for each side of a relation, to wrap."""
    text, parts, begin, depth = _normal(source), [], 0, 0
    for k, letter in enumerate(text):
        depth += (letter in '([{') - (letter in ')]}')
        if letter in RELATIONS and not depth and k > begin and text[k - 1:k] == ' ':
            parts.append(text[begin:k])
            begin = k
    parts.append(text[begin:])
    relation = '<mo form="infix" lspace="0" rspace="0.28em">'
    made = [(len(part), '<math>' + re.sub(r'^<mo>', relation, row(part.strip())) + '</math>')
            for part in parts if part.strip()]
    return ' '.join(f'<span class="wide">{one}</span>' if size > WIDE else one
                    for size, one in made)


def block(source: str) -> str:
    """Return lines of formulas as MathML, one element each."""
    return '<div class="formula unicode">' + ''.join(
        f'<div><math display="block">{row(line.strip())}</math></div>'
        for line in source.split('\n') if line.strip()) + '</div>'


def is_formula(text: str) -> bool:
    """
    Return True if code is a formula, not a name, a unit, a command or a drawing.

    Examples
    --------
    >>> [is_formula(text) for text in ('A q̈ + c = τ', 'σ_min', 'goal_tolerance', 'kg·m²')]
    [True, True, False, False]
    """
    text = _normal(text)
    return bool(MATHS.search(text)) and not CODE.search(text) and not UNIT.match(text.strip()) \
        and not [w for w in re.findall(r'[A-Za-z]{5,}', re.sub(r'_\w+', '', text))
                 if w not in FUNCTIONS][2:]


def _strength(word: str) -> int:
    """Return 2 for a word that is mathematics, 1 for one that may belong to it, otherwise 0."""
    core = word.strip('()[],.;:|')
    if not core:
        return 1 if word in ('|', '||') else 0
    if UNIT.match(core) and not re.fullmatch(r'[\d.]+|[A-Za-z]|s[³⁴⁵⁶]', core):
        return 0
    if set(core) <= set(OPERATORS):
        return 1
    if CODE.search(core) or re.search(r'[µ°%§’“”]', core):
        return 0
    names = re.findall(r'[A-Za-z]{3,}', re.sub(rf'_[\w{GREEK}]+', '', core))
    if {name for name in names if not CAPITALS.fullmatch(name)} - FUNCTIONS:
        return 0
    if MATHS.search(core):
        return 2
    pieces = re.split(rf'[()\[\]|,\-{OPERATORS}]+', core)
    weak = re.compile(r'[\d.]*(?:[A-Za-z]|[gR][xyz]{1,2}|[A-Z]{2,3})?′?')
    return int(all(weak.fullmatch(piece) or piece in FUNCTIONS for piece in pieces))


def runs(source: str) -> list[tuple[bool, str]]:
    """
    Return a sentence as parts (is it mathematics, text).

    Examples
    --------
    >>> runs('with the rate q̇_x = 2 v, and a mass of 3 kg')
    [(False, 'with the rate '), (True, 'q̇_x = 2 v'), (False, ', and a mass of 3 kg')]
    """
    words = re.split(r'(\s+)', _normal(source))
    strength = [_strength(word) if k % 2 == 0 else 0 for k, word in enumerate(words)]
    for k in range(2, len(words), 2):
        # a letter behind a number is a unit
        if re.fullmatch(r'[msNJWVAKg]', words[k].rstrip('.,;:)')) and re.fullmatch(
                r'[(±−-]*\d[\d.]*', words[k - 2]):
            strength[k] = 0
    found: list[tuple[bool, str]] = []
    k = 0
    while k < len(words):
        end, depth = k, 0
        while end < len(words) and strength[end]:
            depth += sum(words[end].count(c) for c in '([') - sum(
                words[end].count(c) for c in ')]')
            end += 2
            if words[end - 2].rstrip(')')[-1:] in ',.;:' and depth <= 0:
                break
        # operators and letters at the ends belong to the sentence, unless they are joined
        begin, last = k, min(end, len(words) + 1) - 2
        equation = any(word.strip('()') in RELATIONS for word in words[begin:last + 1:2] if word)
        while begin <= last and strength[begin] == 1 and not (
                _joins(words[begin], equation)
                or begin + 2 <= last and _operator(words[begin + 2])):
            begin += 2
        while last >= begin and strength[last] == 1 and not (
                _joins(words[last], equation)
                or last - 2 >= begin and _operator(words[last - 2])):
            last -= 2
        while last >= begin and _operator(words[last]):
            last -= 2
        if last >= begin and (any(strength[j] == 2 for j in range(begin, last + 1, 2))
                              or equation and last >= begin + 4
                              and re.match(r'[A-Za-z]\b', words[begin])):
            text = ''.join(words[begin:last + 1])
            head = re.match(r'[.,;:]*', text)[0] + _unpaired(text)[0]
            tail = _unpaired(text)[1]
            found += [(False, ''.join(words[k:begin]) + head),
                      (True, text[len(head):len(text) - len(tail)]), (False, tail)]
            k = last + 1
        else:
            found.append((False, ''.join(words[k:max(end - 1, k + 1)])))
            k = max(end - 1, k + 1)
    joined: list[tuple[bool, str]] = []
    for maths, text in found:
        if joined and not maths and not joined[-1][0]:
            joined[-1] = (False, joined[-1][1] + text)
        elif text:
            joined.append((maths, text))
    return [(maths, unicodedata.normalize('NFC', text)) for maths, text in joined]


def _joins(word: str, equation: bool) -> bool:
    """Return True for a word that belongs to the mathematics beside it, unlike an article."""
    core = word.strip('()[],.;:')
    return core in FUNCTIONS or not re.fullmatch(r'[\d.]*|a|[A-Z]{2,3}', core) and (
        core not in ('A', 'I') or equation)


def _operator(word: str) -> bool:
    return bool(word) and set(word.strip('()[]')) <= set(OPERATORS) and word.strip('()[]') != ''


def _unpaired(text: str) -> tuple[str, str]:
    """Return a bracket that is never closed at the begin, and punctuation or such at the end."""
    tail = re.search(r'[.,;:]*$', text)[0]
    core = text[:len(text) - len(tail)]
    head = ''
    opens, closes = (sum(core.count(c) for c in '(['), sum(core.count(c) for c in ')]'))
    if core[:1] in '([' and opens > closes:
        head = core[0]
    elif core[-1:] in ')]' and closes > opens:
        tail = core[-1] + tail
    return head, tail


# texts that are names, not sentences
NAMES = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.title, nodes.raw,
         nodes.doctest_block, addnodes.desc_signature, addnodes.literal_strong,
         addnodes.literal_emphasis, nodes.reference, nodes.comment)


class UnicodeMath(SphinxPostTransform):
    """Replaces Unicode mathematics by MathML."""

    default_priority = 900
    formats = ('html',)

    def run(self, **_: Any) -> None:
        """Set the formulas of a page."""
        for node in list(self.document.findall(nodes.literal_block)):
            if node.get('language', 'none') in ('none', 'default') and all(
                    is_formula(line) or _continues(line) for line in node.astext().split('\n')
                    if line.strip()) and MATHS.search(_normal(node.astext())):
                node.replace_self(_html(block(node.astext())))
        for node in list(self.document.findall(nodes.literal)):
            if not set(node['classes']) & {'xref', 'file', 'kbd'} and not isinstance(
                    node.parent, nodes.reference) and is_formula(node.astext()):
                node.replace_self(_html(inline(node.astext())))
        for node in list(self.document.findall(nodes.Text)):
            if self._in_names(node):
                continue
            parts = runs(node.astext())
            if any(maths for maths, _ in parts):
                node.parent.replace(node, [_html(inline(text)) if maths else nodes.Text(text)
                                           for maths, text in parts])

    def _in_names(self, node: nodes.Node) -> bool:
        while node is not None:
            if isinstance(node, NAMES):
                return True
            node = node.parent
        return False


def _continues(line: str) -> bool:
    """Return True for a line of numbers and operators, or of words, below a formula."""
    return not CODE.search(_normal(line)) and len(re.findall(r'[A-Za-z]{4,}', line)) <= 2


def _html(text: str) -> nodes.raw:
    return nodes.raw('', text, format='html')


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the extension to a build."""
    app.add_post_transform(UnicodeMath)
    return {'version': '1', 'parallel_read_safe': True, 'parallel_write_safe': True}
