# SPDX-License-Identifier: Apache-2.0
"""Public text uses plain technical English and the terms of docs/glossary.md.

Checked: docstrings, comments, string literals with a space (error texts, log lines, argparse help,
launch descriptions), the descriptions of parameter files, and the prose of the documents. Code
spans, code blocks, doctests and link targets are skipped.
"""

import ast
import bisect
import io
import re
import tokenize

import pytest
import yaml
from source_tree import EVERYTHING, ROOT, SOURCES, name_of, nodes_of, tree_of

# verbs of speech are for persons and publications, not for interfaces
PERSON = ''.join(f'(?<!{word} )' for word in (
    'operator', 'operators', 'user', 'users', 'person', 'persons', 'people', 'reader', 'you'))
SOURCE = PERSON + ''.join(f'(?<!{word} )' for word in (
    'paper', 'papers', 'author', 'authors', 'standard', 'manual', 'specification', 'licence'))
TO_PERSON = '(?! (the|an|every) (operator|user))'
COMPARED = ('longer|more|less|fewer|better|worse|later|earlier|sooner|slower|faster|larger|smaller'
            '|greater|higher|lower|wider|further|different|new|way to')

# (pattern, suggested replacement); lower case is matched in either case unless (?-i:...)
WORDS = [(re.compile(pattern, re.I), instead) for pattern, instead in (
    # persons for programs
    (rf'{PERSON}\bwho\b', 'name the component: node, subscriber, client, device, caller'),
    (r'\b(whoever|whomever|whom|nobody|somebody|anybody|everybody|someone|anyone|everyone'
     r'|no[ -]one)\b', 'name the component: node, subscriber, client, device, caller'),
    (r'^whose\b|\b(whose is|by whose|on whose behalf|decides whose|says whose)\b',
     'name the component'),
    # interfaces do not speak, hear or wish
    (rf'{PERSON}\b(told|tells?|telling)\b{TO_PERSON}',
     'command, report, send, set; "tell apart": distinguish'),
    (rf'{PERSON}\b(asks?|asked|asking)\b{TO_PERSON}', 'request, require, prompt, command'),
    (rf'{SOURCE}\b(says?|said|saying)\b{TO_PERSON}', 'state, report, specify, print, show'),
    (rf'{PERSON}\b(believe|believes|believed|believing)\b', 'assume, accept, trust'),
    (r'\b(hears?|heard|hearing)\b', 'receive'),
    (rf'{PERSON}\b(knows|knew|(does not|do not|cannot) know)\b',
     'has, supports, recognises; "does not know X": "X is unknown to"'),
    (rf'{PERSON}\b(wish|wishes|wished|wishing)\b', 'task, desired, requested'),
    (rf'{PERSON}\b(wants?|wanted)\b', 'require, request, need'),
    # negations as predicates
    (r'\b(is|are|was|were|be|being|been) (?-i:none)\b', 'is not a ..., not available, not found'),
    (rf'(?<!there )\b(is|are|was|were) no\b(?! ({COMPARED})\b)(?!-)', '"X is not a Y"'),
    (r'\b(cannot|can not) be(?=[.:;,)]|$)', 'is invalid, is not possible'),
    # turns of phrase
    (r'\bin(to)? the bargain\b', 'also, additionally'),
    (r'(?<!multiplied )(?<!divided )\bby (itself|themselves)\b', 'automatically, on its own'),
    (r'\b(?-i:lies?)\b', 'is, is located'),
    (r'\bso many\b', 'N, the number of'),
    (r'\bas far as\b(?! possible)', 'in proportion to, up to, to the extent'),
    # terms
    (r'\b(on|along) (the|its|their|a) way\b|\b(of (the|its)|both) ways?\b'
     r'|\b(the|its|their|whose) way (to|from|back|of|along|through|ahead|driven)\b'
     r'|\b(curved|straight|shortest|driven|planned|whole|long) way (to|from|of|along)\b'
     r'|\bway (driven|there|ahead|back)\b',
     'path, trajectory, distance; both senses, both directions'),
    (r'\bshares? of\b|\bas a share\b|\b(the|a|its|their|each|largest|smallest) share\b'
     r'(?!/| director)', 'fraction, proportion'),
    (r'\b(a|an|the|this|that|each|every|one|of|long|short|straight|level|last|first|longest'
     r'|shortest|quiet|few|two|all) stretch(es)?\b|\bstretch(es)? of\b',
     'segment, interval, section'),
    (r'\b(lean|leans|leaned|leaning)\b', 'camber, roll angle, tilt'),
    (r'\bstands? (above|below|between|behind|in)\b(?! for\b)', 'is, is located'),
    (r'\bfigures of (the|a|this|that|each|every|its) (drive|run|node|bag|robot)'
     r'|\bfigures (as JSON|and (a |the )?(picture|chart|plot|diagram)s?)'
     r'|\b(in|the|its|their|same) figures\b',
     'metrics, statistics, values (plots are plots)'),
)]
# noun clauses as titles and summaries
CLAUSE = re.compile(r'(What|Whether|Where|Which|Who|Whose|Whom|Between|How(?! to\b))\b(?!.*\?$)'
                    r'|From\b.* to\b')
INSTEAD = 'a noun phrase with the standard term first, or an imperative sentence'

CODE = re.compile(
    r'``.+?``|`[^`]+`|\$\$?[^$]+\$\$?|\]\([^)]*\)|https?://\S+|<[^<>\s][^<>]*>', re.S)
FENCE = re.compile(r'^( *)(```|~~~|:::).*?^\1\2', re.S | re.M)


def blank(match):
    """Return a code span as one word that keeps the lines of the text."""
    return ' X ' + '\n' * match.group().count('\n')


def findings(text, line=1, patterns=WORDS):
    """Yield (line, words found, replacement) of a text that begins at a line."""
    words, starts, lines, at = [], [], [], 0
    for k, row in enumerate(CODE.sub(blank, text).split('\n')):
        for word in row.split():
            words.append(word)
            starts.append(at)
            lines.append(line + k)
            at += len(word) + 1
    flat = ' '.join(words)
    for pattern, instead in patterns:
        for hit in pattern.finditer(flat):
            yield lines[bisect.bisect(starts, hit.start()) - 1], hit.group(), instead


def clauses(title, line):
    """Yield the finding of a title or summary that is a noun clause."""
    hit = CLAUSE.match(title.strip())
    if hit:
        yield line, ' '.join(title.split())[:60], INSTEAD


def doc_node(node):
    """Return the node of a docstring, None without one."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(
            first.value.value, str):
        return first.value
    return None


def in_docstrings(nodes, private):
    """Yield the findings in docstrings, of private names in their summaries."""
    for node in nodes:
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            continue
        doc = doc_node(node)
        if doc is None:
            continue
        # doctests are code
        text = re.sub(r'^ *(>>>|\.\.\. ).*$', '', doc.value, flags=re.M)
        summary = text.split('\n\n')[0]
        name = getattr(node, 'name', '')
        hidden = private or (name.startswith('_') and not name.startswith('__'))
        yield from clauses(summary, doc.lineno)
        yield from findings(summary if hidden else text, doc.lineno)


def in_literals(tree, nodes):
    """Yield the findings in string literals with a space, f-strings as one text."""
    docs = {id(doc_node(node)) for node in nodes if isinstance(
        node, (ast.Module, ast.ClassDef, ast.FunctionDef))}
    todo = [tree]
    while todo:
        node = todo.pop()
        # an f-string is one text; its constant parts are not visited again
        if isinstance(node, ast.JoinedStr):
            text = ''.join(part.value if isinstance(part, ast.Constant) else 'X'
                           for part in node.values)
            todo += [p.value for p in node.values if isinstance(p, ast.FormattedValue)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value if id(node) not in docs else ''
        else:
            text = ''
            todo += ast.iter_child_nodes(node)
        if isinstance(node, ast.keyword) and node.arg in ('help', 'description', 'title'):
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                sentence = node.value.value
                if not re.match(r'(which|where) to\b', sentence):
                    yield from clauses(sentence[:1].upper() + sentence[1:], node.value.lineno)
        if ' ' in text:
            for _, words, instead in findings(text):
                yield node.lineno, words, instead


def comments(source):
    """Return (line, text) of each comment of a source; comment lines in sequence are one."""
    found = []
    last, whole = -1, False
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, text = token.start[0], token.string.lstrip('#: ')
        alone = token.line.lstrip().startswith('#')
        if alone and whole and line == last + 1:
            found[-1] = (found[-1][0], found[-1][1] + '\n' + text)
        else:
            found.append((line, text))
        last, whole = line, alone
    return found


def in_comments(path):
    """Yield the findings in the comments of a Python file."""
    for line, text in comments(path.read_text(encoding='utf-8')):
        yield from findings(text, line)


def in_python(path):
    """Yield the findings in a Python file."""
    private = path.name.startswith('_') and path.name != '__init__.py'
    yield from in_docstrings(nodes_of(path), private)
    yield from in_literals(tree_of(path), nodes_of(path))


def descriptions(node):
    """Yield the nodes of all values with the key 'description' below a YAML node."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == 'description' and isinstance(value, yaml.ScalarNode):
                yield value
            else:
                yield from descriptions(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from descriptions(value)


def in_parameters(path):
    """Yield the findings in the descriptions of a parameter file."""
    for value in descriptions(yaml.compose(path.read_text(encoding='utf-8'), yaml.SafeLoader)):
        line = value.start_mark.line + 1
        yield from clauses(value.value, line)
        for _, words, instead in findings(value.value):
            yield line, words, instead


def in_document(path):
    """Yield the findings in the prose and the headings of a document."""
    text = path.read_text(encoding='utf-8')
    text = FENCE.sub(lambda m: '\n' * m.group().count('\n'), text)
    for k, row in enumerate(text.split('\n')):
        heading = re.match(r'#+ +(.*)', row)
        if heading:
            yield from clauses(heading.group(1), k + 1)
    # paragraphs, list items, headings and table cells are texts of their own
    rows = text.split('\n')
    start = 0
    for k in range(len(rows) + 1):
        if k == len(rows) or not rows[k].strip() or re.match(r' *([-*|#]|\d+\.) ?', rows[k]):
            yield from findings('\n'.join(rows[start:k]), start + 1)
            start = k


PYTHON = sorted([*SOURCES, *ROOT.glob('launch/*.py'), *(
    p for p in ROOT.glob('scripts/*') if p.is_file() and p.suffix in ('', '.py'))])
PARAMETERS = sorted(ROOT.glob('c3p_*/**/*_parameters.yaml'))
DOCUMENTS = sorted([*ROOT.glob('*.md'), ROOT / 'CHANGELOG.rst', *ROOT.glob('docs/**/*.md')])
COMMENTED = [*(p for p in EVERYTHING if ROOT / 'test' not in p.parents),
             *ROOT.glob('docs/**/*.py')]
CHECKS = [*((p, in_python) for p in PYTHON), *((p, in_comments) for p in COMMENTED),
          *((p, in_parameters) for p in PARAMETERS), *((p, in_document) for p in DOCUMENTS)]


def report(path, check):
    """Return one line for each finding in a file, sorted."""
    return [f'{name_of(path)}:{line}: "{words}" -> {instead}'
            for line, words, instead in sorted(set(check(path)))]


def test_public_text_is_plain_technical_english():
    found = [line for path, check in CHECKS for line in report(path, check)]
    assert not found, '\n'.join(found)


@pytest.mark.parametrize('text', [
    'There is no planner.', 'The gain is no longer used.', 'It has no effect.',
    'It is no larger than 3 mm.', 'the operator who holds the switch', 'if the user asked for it',
    'a matrix whose columns sum to zero', 'the paper says so', 'a known latency',
    'threads share a buffer', 'panels that share an axis', 'the share directory', 'share/c3p',
    'the same way as before', 'in one way', 'multiplied by itself', 'x is None',
    'it stands in for a rigid contact', '`told` and ``asked who``', 'If you want a page, add it.',
    'elements of the Lie group', 'Prompts and asks the operator.'])
def test_plain_text_passes(text):
    assert not list(findings(text))


@pytest.mark.parametrize('text, words', [
    ('Whoever\nis found', 'Whoever'), ('nodes are told to stop', 'told'),
    ('it is no planner', 'is no'), ('there is none', 'is none'), ('starts by itself', 'by itself'),
    ('on its way', 'on its way'), ('by the share of slip', 'the share'),
    ('a node who listens', 'who'), ('a stretch of it', 'a stretch'), ('it lies on it', 'lies')])
def test_banned_words_are_found(text, words):
    assert words in [found for _, found, _ in findings(text)]


@pytest.mark.parametrize('title, wrong', [
    ('What becomes of a goal', True), ('From torques to accelerations', True), ('Is it?', False),
    ('How to drive', False), ('How it drives', True), ('Whether it slips.', True),
    ('Goals', False), ('What is new?', False)])
def test_noun_clauses_are_found(title, wrong):
    assert bool(list(clauses(title, 1))) is wrong


def test_comments_below_each_other_are_one_text():
    source = "# so\n# many\nx = 1  # told\n# it\n\n# is none\ny = '# heard'\n"
    assert comments(source) == [(1, 'so\nmany'), (3, 'told'), (4, 'it'), (6, 'is none')]


def test_findings_name_the_line():
    assert [line for line, _, _ in findings('A `code\nspan`, and\nit is told.', 5)] == [7]
