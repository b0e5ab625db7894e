# SPDX-License-Identifier: Apache-2.0
"""Every public name says what it is, every function what it takes, every file its licence."""

import ast
import re
from itertools import chain

from source_tree import EVERYTHING, SOURCES, name_of, tree_of

LONGEST, FEW = 99, 3
# a docstring may refer to another one instead of repeating it
REFERENCE = re.compile(r'[Aa]s (in |for )?`|[Ss]ee `|`\w+\.\w+`|`[a-z_]+`\.')
# helpers of one other file, described by what they do; this list may only become shorter
HELPERS = {'report_of', 'caster_of', 'geometry', 'numbers', 'align_time', 'entry_time',
           'draw_path', 'draw_steering', 'dress'}
LICENCE = '# SPDX-License-Identifier: Apache-2.0'
UNFINISHED = re.compile('TO' + 'DO|FIX' + 'ME|XX' + 'X')


def public(path):
    """Yield (name, node) of the module and of every public class, function and method in it."""
    tree = tree_of(path)
    if not path.name.startswith('_'):
        yield name_of(path), tree
    todo = [('', tree)]
    while todo:
        prefix, parent = todo.pop()
        for node in parent.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith('_'):
                yield prefix + node.name, node
                if isinstance(node, ast.ClassDef):
                    todo.append((f'{prefix}{node.name}.', node))


def summary(docstring):
    """Return the summary: everything up to the first empty line."""
    return docstring.strip().split('\n\n')[0]


def parameters(node):
    """Return the names of all parameters but self and cls."""
    takes = node.args
    named = [a.arg for a in (*takes.posonlyargs, *takes.args, *takes.kwonlyargs,
                             *filter(None, [takes.vararg, takes.kwarg]))]
    return [n for n in named if n not in ('self', 'cls') and not n.startswith('_')]


def test_every_public_name_has_a_summary_of_one_line_that_ends_in_a_period():
    wrong = []
    for name, node in chain.from_iterable(map(public, SOURCES)):
        text = ast.get_docstring(node)
        if text is None:
            wrong.append(f'{name}: no docstring')
            continue
        first = summary(text)
        if '\n' in first or len(first) > LONGEST or first[-1] not in '.:':
            wrong.append(f'{name}: {first!r}')
    assert not wrong, '\n'.join(wrong)


def documented(text):
    """Return the names in the section 'Parameters' of a docstring, None without the section."""
    section = re.search(r'^Parameters\n-+\n(.*?)(\n\n\w[\w ]*\n-+\n|\Z)', text, re.S | re.M)
    if section is None:
        return None
    heads = re.findall(r'^(\S.*)$', section.group(1), re.M)
    return {n.strip(' *`') for head in heads for n in head.split(' : ')[0].split(',')}


def misnamed_parameters(path):
    """Return what is wrong with the parameters of a public module's functions."""
    wrong = []
    for name, node in public(path):
        if not isinstance(node, ast.FunctionDef):
            continue
        text, takes = ast.get_docstring(node) or '', set(parameters(node))
        section = documented(text)
        if section is not None and section != takes:
            wrong.append(f'{name} takes {sorted(takes)} and documents {sorted(section)}')
        # few, annotated and plainly named parameters need no list
        missing = [p for p in takes if not re.search(rf'\b{p}\b', text)]
        if (len(takes) > FEW and missing and not REFERENCE.search(text)
                and node.name not in HELPERS):
            wrong.append(f'{name} does not name {missing}')
    return wrong


def test_functions_document_the_parameters_that_they_have():
    wrong = [line for path in SOURCES if not path.name.startswith('_')
             for line in misnamed_parameters(path)]
    assert not wrong, '\n'.join(wrong)


def test_every_file_says_its_licence_and_is_finished():
    texts = {name_of(path): path.read_text(encoding='utf-8') for path in EVERYTHING}
    assert not [name for name, text in texts.items() if LICENCE not in text.split('\n')[:3]]
    assert not [name for name, text in texts.items() if UNFINISHED.search(text)]
