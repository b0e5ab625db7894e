# SPDX-License-Identifier: Apache-2.0
"""Conditions of actions."""

from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

VALUES = {'true': True, '1': True, 'false': False, '0': False}


class IfCondition:
    """The text of an expression is true."""

    def __init__(self, predicate_expression):
        self._expression = normalize_to_list_of_substitutions(predicate_expression)

    def evaluate(self, context):
        return VALUES[perform_substitutions(context, self._expression).lower()]
