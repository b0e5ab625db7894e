# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of the live page: few, short, the worst first."""

from c3p_viewers.dashboard.diagnostics_board import (
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST,
    SHOWN,
    DiagnosticsBoard,
)


def test_the_worst_level_is_on_top_and_unknown_levels_are_not_hidden():
    board = DiagnosticsBoard()
    for name, level in (('fine', 0), ('late', 3), ('wrong', 2), ('doubtful', 1), ('strange', 7)):
        board.put(name, level, '', 0.0)
    assert [s['name'] for s in board.statuses(0.0)] == ['strange', 'wrong', 'late', 'doubtful',
                                                        'fine']


def test_ever_new_names_are_bounded_and_do_not_displace_an_error():
    board = DiagnosticsBoard()
    board.put('motor', 2, 'off', 0.0)
    for k in range(30_000):
        board.put(f'name {k}', 0, 'OK', 1e-4 * k)
    shown = board.statuses(3.0)
    assert len(shown) == MOST and board.dropped == 30_001 - MOST
    assert shown[0]['name'] == 'motor'
    # the newest stay
    assert {s['name'] for s in shown[1:]} == {f'name {30_000 - k}' for k in range(1, MOST)}


def test_long_names_and_texts_are_cut_visibly():
    board = DiagnosticsBoard()
    for k in range(3):
        board.put('n' * 10_000 + f'{k}', 0, 't' * 10_000, 0.0, sigma_min='9' * 10_000)
    (shown,) = board.statuses(0.0)
    assert len(shown['name']) == LONGEST_NAME and shown['name'].endswith('…')
    assert len(shown['text']) == LONGEST_TEXT and len(shown['sigma_min']) == LONGEST_NAME


def test_a_silent_node_disappears_and_makes_room():
    board = DiagnosticsBoard()
    board.put('node: state', 1, 'hot', 0.0)
    assert board.statuses(SHOWN)[0] == {'name': 'node', 'level': 1, 'text': 'hot'}
    assert board.age('node: state', 2.0) == 2.0
    assert board.statuses(SHOWN + 0.1) == [] and board.age('node: state', 9.0) is None
    for k in range(2 * MOST):
        board.put(f'name {k}', 2, '', 10.0 * k)
    assert board.dropped == 0
