# SPDX-License-Identifier: Apache-2.0
"""Argument lists of the controllers: what belongs together is a state, or a tuple."""

import ast

from source_tree import ROOT

MOST = 8


def test_functions_of_the_controllers_have_at_most_eight_arguments():
    counted, long = 0, []
    for path in (ROOT / 'c3p_controller').rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.FunctionDef):
                given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                count = len([one for one in given if one.arg not in ('self', 'cls')])
                counted += 1
                if count > MOST:
                    long.append(f'{path.relative_to(ROOT)}:{node.lineno} {node.name}: {count}')
    assert counted > 400 and not long, '\n'.join(long)
