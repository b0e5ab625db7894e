# SPDX-License-Identifier: Apache-2.0
"""Fault codes: every fault, lock, refusal and check has one, and the page is their record."""

import ast
import re
import sys
from collections import Counter
from functools import cache

import pytest
from source_tree import ROOT, SOURCES, name_of, nodes_of

from c3p_controller.goals.goal_life import REACHED, REASONS
from c3p_hardware.canopen.cia301 import emergency_text
from c3p_ros.fault_codes.table import (
    COMPONENTS,
    OTHER,
    TABLE,
    TITLES,
    card_code,
    check_code,
    condition_code,
    message_code,
    refusal_code,
    result_code,
)

sys.path.insert(0, str(ROOT / 'scripts'))
import write_fault_codes as write  # noqa: E402

PAGE = (ROOT / 'docs/fault_codes.md').read_text(encoding='utf-8')

# kind of the node that uses a file, by the beginning of its path
NODES = {
    'c3p_controller/ros/mux_': 'twist_mux',
    'c3p_controller/ros/robot_watch': 'position_controller',
    'c3p_controller/ros/goal_interface': 'position_controller',
    'c3p_controller/ros/': 'velocity_controller', 'c3p_controller/velocity': 'velocity_controller',
    'c3p_controller/position': 'position_controller',
    'c3p_controller/module': 'module_controller', 'c3p_hardware/hardware': 'hardware_interface',
    'c3p_hardware/ros2_control': 'ros2_control_bridge', 'c3p_kinematics/': 'sensed_kinematics',
    'c3p_simulation/simulation': 'simulation', 'c3p_simulation/emulated': 'emulated_cards',
    'c3p_rough_ground/': 'rough_ground', 'c3p_bags/recorder/': 'recorder'}
REPORTS = {'condition', '_condition', 'report', '_report'}

# parts of texts that are put together from names: the topics of the chain
COMPOSED = {'no joint_states', 'no odom', 'no dynamics_effort', 'no single publisher',
            # frames of errors of other modules
            'CAN bus', 'publishers', 'starting;', 'joint', 'frame', 'bytes', 'cut off', 'CDR',
            'refused', *REASONS}


# packages with texts that have codes
READ = ('c3p_ros/', 'c3p_controller/', 'c3p_hardware/', 'c3p_kinematics/', 'c3p_simulation/',
        'c3p_rough_ground/node/', 'c3p_bags/recorder/', 'c3p_bringup/doctor/')


@cache
def read_nodes():
    """Return (file, node of its syntax) of the calls and texts of these packages."""
    return [(path, node) for path in SOURCES
            if name_of(path).startswith(READ) and 'fault_codes' not in path.parts
            for node in nodes_of(path)
            if isinstance(node, (ast.Call, ast.Constant, ast.JoinedStr))]


def constant(node):
    """Return the text of a string with … for each part that is not constant, None without one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return ''.join(constant(part) or '…' for part in node.values)
    return None


def calls(names):
    """Yield (file, call) of the calls of functions or methods with one of these names."""
    for path, node in read_nodes():
        if isinstance(node, ast.Call):
            name = getattr(node.func, 'attr', getattr(node.func, 'id', ''))
            if name in names:
                yield path, node


def node_of(path):
    return next((node for begin, node in NODES.items() if name_of(path).startswith(begin)), '')


def test_codes_are_unique_sorted_and_complete():
    assert [code for code, count in Counter(one.code for one in TABLE).items() if count > 1] == []
    assert list(TABLE) == sorted(TABLE)
    for one in TABLE:
        assert re.fullmatch(r'C3P-[A-Z]{2}-\d{4}', one.code), one
        assert one.component in TITLES and one.cause and one.remedy, one
        # an entry is reached by a text of its own
        text = one.phrases[0] if one.phrases else 'any other text'
        assert next(o for o in TABLE if o.component == one.component
                    and o.means(one.condition, text)) is one
    assert set(COMPONENTS.values()) < set(TITLES)


def test_every_condition_of_every_node_has_a_code():
    found, without = set(), []
    for path, call in calls(REPORTS):
        name = constant(call.args[0]) if call.args else None
        if name is None or not (node := node_of(path)):
            continue
        found.add((node, name))
        code = condition_code(node, name, 'any text')
        if code == OTHER or code[4:6] not in (COMPONENTS[node], 'IN'):
            without.append(f'{name_of(path)}: {name}')
    assert without == []
    assert len(found) > 30
    # by names in a loop
    for node, names in (('module_controller', ('modules', 'wheels', 'lock')),
                        ('velocity_controller', ('lock',)),
                        ('hardware_interface', ('late', 'wheels', 'bus'))):
        assert all(condition_code(node, name, '')[4:6] == COMPONENTS[node] for name in names)
    # the bag's topics
    assert condition_code('recorder', '/scan', 'its type is not installed') == 'C3P-RC-0009'
    assert condition_code('twist_mux', 'publishers', 'two of odom') == 'C3P-IN-0014'


def test_every_reason_of_a_lock_has_a_code_of_its_own():
    found = 0
    for path, call in calls({'fault', 'stop'}):
        text = constant(call.args[0]) if call.args else None
        if text is None or not (node := node_of(path)) or text.startswith('no …'):
            continue
        code = condition_code(node, 'lock', f'{text}; the robot moves after a zero command')
        assert not code.endswith('0019'), f'{name_of(path)}: {text!r}'
        found += 1
    for _, call in calls({'Decision'}):
        for keyword in call.keywords:
            if keyword.arg == 'stop' and constant(keyword.value) is not None:
                code = condition_code('velocity_controller', 'lock', constant(keyword.value))
                assert not code.endswith('0019'), constant(keyword.value)
                found += 1
    assert found > 9


def test_every_problem_of_a_card_has_a_code():
    kinds = set()
    for path, call in calls({'Problem'}):
        if name_of(path).startswith('c3p_hardware') and len(call.args) > 2:
            kind, text = constant(call.args[1]), constant(call.args[2]) or ''
            kinds.add(kind)
            assert card_code(kind, text) != 'C3P-CM-0099', f'{name_of(path)}: {kind}'
    assert len(kinds) > 25
    # each kind of the table exists, too
    table = {o.condition for o in TABLE if o.component == 'CM'
             and not o.condition.startswith('error class')}
    assert table - kinds == {'warning', 'motors'}


@pytest.mark.parametrize(('error', 'code'), [
    (0x2310, '0120'), (0x3210, '0130'), (0x431F, '0140'), (0x8130, '0180'), (0xFF01, '0199')])
def test_errors_of_a_drive_have_the_code_of_their_class(error, code):
    for kind in ('fault', 'emergency'):
        assert card_code(kind, f'FAULT: {emergency_text(error)}') == f'C3P-CM-{code}'
    assert card_code('fault', 'FAULT: no error code yet') == 'C3P-CM-0020'


def test_every_result_of_a_goal_but_a_reached_one_has_a_code():
    codes = [result_code(reason) for reason in REASONS if reason != REACHED]
    assert all(codes) and len(set(codes)) == len(codes) and result_code(REACHED) == ''


def test_every_refused_request_has_a_code_of_its_own():
    texts = [text for path, call in calls({'Refused'})
             if (text := constant(call.args[0])) and not text.startswith('the motors are …')]
    assert len(texts) > 4
    assert [text for text in texts if refusal_code(text).endswith('0049')] == []


def test_every_check_of_the_doctor_has_a_code():
    found = 0
    for path, call in calls({'warn', 'fail', 'missing'}):
        if not name_of(path).startswith('c3p_bringup/doctor'):
            continue
        names = {t.id: constant(n.value) for n in nodes_of(path)
                 if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
        # the values of a function's `name` are those of its file
        name = constant(call.args[0]) or names.get(getattr(call.args[0], 'id', ''))
        if name:
            found += 1
            assert check_code(name) != 'C3P-DR-0099', f'{name_of(path)}: {name}'
    assert found > 25
    assert check_code('mujoco', 'missing; needed by the contact plant') == 'C3P-DR-0098'


def test_texts_of_the_table_are_those_of_the_code():
    """A reworded message must not lose its code silently."""
    texts = {text for _, node in read_nodes() if (text := constant(node))}
    every = '\n'.join(texts)
    lost = [(one.code, phrase) for one in TABLE for phrase in one.phrases
            if phrase not in every and phrase not in COMPOSED]
    assert lost == []


def test_messages_that_are_rejected_are_told_apart():
    assert [message_code('refused', text)[-2:] for text in (
        'stale: 2.000 s old, at most 0.200 s', 'from the future: 0.2 s ahead',
        'out of order: 0.1 s before', 'twist.x = nan: must be finite', 'anything')] == [
        '01', '02', '03', '04', '09']
    assert message_code('not published', 'nan').endswith('11')


def test_the_page_is_the_present_table():
    assert write.rewritten(PAGE) == PAGE, 'run python scripts/write_fault_codes.py'
    assert len(write.recorded(PAGE)) == len(TABLE)


def test_a_published_code_neither_vanishes_nor_changes_its_meaning():
    row = next(line for line in PAGE.splitlines() if line.startswith('| C3P-VC-0004'))
    gone = PAGE.replace('| C3P-VC-0004', '| C3P-VC-0015', 1)
    with pytest.raises(write.RecordError, match='C3P-VC-0015.*never removed'):
        write.rewritten(gone)
    with pytest.raises(write.RecordError, match='C3P-VC-0004.*take a new code'):
        write.rewritten(PAGE.replace(row, row.replace('`lock`', '`chain`')))
    cause = PAGE.replace(row, row.replace('No cycle', 'Tea is served'))
    with pytest.raises(write.RecordError, match='--reword'):
        write.rewritten(cause)
    assert write.rewritten(cause, ['C3P-VC-0004']) == PAGE
