# SPDX-License-Identifier: Apache-2.0
"""States of kernels: sizes, names, one memory for Python and kernels, copies, and refusals."""

import pickle
from copy import copy, deepcopy
from typing import Annotated

import numpy as np
import pytest
from robots import C3P

from c3p_kernels.compiled import COMPILED, inner, kernel
from c3p_kernels.state import Array, Number, Parts, state
from c3p_kinematics import odometry_states, wiring_states
from c3p_kinematics._planar_kernels import solve
from c3p_kinematics.odometry import Odometry

COUNTS = (2, 3, 4, 7)


@state
class Filter(Parts):
    """A state within another."""

    time_constant: float
    mean: Annotated[Array, 'n', 2]
    held: Number


@state
class Whole(Parts):
    """A state of every kind of field."""

    gain: float
    limit: float
    slopes: Annotated[Array, 3, '5n']
    table: Annotated[Array, 2, 3, 4]
    low: Filter
    high: Filter
    turned: Annotated[Array, 'n']


@state
class Stage(Parts):
    """A state with two sizes."""

    sizes = 'n', 'efforts'

    weight: float
    column: Annotated[Array, '6+n']
    square: Annotated[Array, '6+n', '6+n']
    slopes: Annotated[Array, '2n+3', 'efforts']


@state
class Plan(Parts):
    """A state with three sizes, around states with some of them."""

    sizes = 'steps', 'efforts', 'n'

    period: float
    torques: Annotated[Array, 'steps', 'efforts']
    stage: Stage
    low: Filter
    states: Annotated[Array, 'steps+1', '6+n']


cut_whole = Whole.cut
cut_plan = Plan.cut
cut_usual = Plan.cut_for(efforts=4, n=2)

EVERY = [kind for module in (odometry_states, wiring_states) for kind in vars(module).values()
         if isinstance(kind, type) and getattr(kind, 'fields', None)
         and kind.__module__ == module.__name__]


@kernel
def fill(block, n):
    """Write a number of its own into the last place of each field."""
    whole = cut_whole(block, n)
    whole.slopes[2, 5 * n - 1] = whole.gain
    whole.table[1, 2, 3] = whole.limit
    whole.low.mean[n - 1, 1] = whole.low.time_constant
    whole.high.held[0] = whole.high.time_constant
    whole.turned[n - 1] = len(whole.block)
    return len(whole.slopes) + whole.table.shape[1] + whole.low.mean.shape[0]


@kernel
def fill_plan(block, sizes):
    """Write a number of its own into the last place of each field."""
    return write(cut_plan(block, sizes))


@kernel
def fill_usual(block, sizes):
    """Write the same where two sizes are constants of the compiler."""
    return write(cut_usual(block, sizes))


@inner
def write(plan):
    """Write a number of its own into the last place of each field; return the sum of all sizes."""
    plan.torques[-1, -1] = plan.period
    plan.stage.column[-1] = 5.0
    plan.stage.square[-1, -1] = plan.stage.weight
    plan.stage.slopes[-1, -1] = 6.0
    plan.low.mean[-1, -1] = 7.0
    plan.states[-1, -1] = 8.0
    rows, columns = plan.stage.slopes.shape
    return len(plan.states) + len(plan.low.mean) + rows + columns


def arrays(found):
    """Yield (name, array) of all arrays of a state."""
    for field in found.fields:
        part = getattr(found, field.name)
        if isinstance(part, np.ndarray):
            yield field.name, part
        elif field.kind is not float:
            yield from ((f'{field.name}.{name}', array) for name, array in arrays(part))


@pytest.mark.parametrize('n', COUNTS)
def test_kernels_and_python_read_and_write_the_same_numbers(n):
    whole = Whole.new(n, gain=2.0, limit=3.0)
    Filter.of(whole.low.block, n, time_constant=4.0)
    Filter.of(whole.high.block, n, time_constant=5.0)
    assert fill(whole.block, n) == 3 + 3 + n
    assert whole.slopes[2, -1] == 2.0 and whole.table[1, 2, 3] == 3.0
    assert whole.low.mean[-1, 1] == 4.0 and whole.high.held[0] == 5.0
    assert whole.turned[-1] == len(whole.block) == 2 + 15 * n + 24 + 2 * (2 + 2 * n) + n
    # nothing else was written but the constants
    assert np.count_nonzero(whole.block) == 9


@pytest.mark.parametrize(('fill', 'sizes'), [
    (fill_plan, (5, 4, 2)), (fill_plan, (1, 3, 3)), (fill_usual, (5, 4, 2)),
    (fill_usual, (3, 4, 2))])
def test_states_have_several_sizes_of_which_some_are_constants_of_the_compiler(fill, sizes):
    steps, efforts, n = sizes
    plan = Plan.new(sizes, period=3.0)
    Stage.of(plan.stage.block, (n, efforts), weight=4.0)
    assert fill(plan.block, sizes) == steps + 1 + n + 2 * n + 3 + efforts
    assert plan.values == sizes and plan.stage.values == (n, efforts) and plan.low.values == n
    assert plan.torques[-1, -1] == 3.0 and plan.stage.column[5 + n] == 5.0
    assert plan.stage.square[5 + n, 5 + n] == 4.0
    assert plan.stage.slopes[2 * n + 2, efforts - 1] == 6.0
    assert plan.low.mean[n - 1, 1] == 7.0 and plan.states[steps, 5 + n] == 8.0
    # nothing else was written but the constants
    assert np.count_nonzero(plan.block) == 8
    assert pickle.loads(pickle.dumps(plan)).stage.square.shape == (6 + n, 6 + n)


def test_sizes_are_refused_by_name():
    with pytest.raises(TypeError, match='Plan has no size casters: steps, efforts, n'):
        Plan.cut_for(casters=3)
    with pytest.raises(ValueError, match='for steps = 2, efforts = 3, n = 4'):
        Plan.of(np.zeros(3), (2, 3, 4))
    kind = type('Wrong', (Parts,), {'__annotations__': {'plan': Plan}, '__module__': __name__})
    with pytest.raises(TypeError, match=r'Wrong\.plan: Plan has the sizes steps, efforts, n; '
                                        'expected some of n'):
        state(kind)


@pytest.mark.parametrize('n', COUNTS)
@pytest.mark.parametrize('kind', EVERY, ids=lambda kind: kind.__name__)
def test_the_fields_of_a_state_cover_its_block_once(kind, n):
    found = kind.new(n if len(kind.sizes) == 1 else tuple(n + k for k in range(len(kind.sizes))))
    begin = found.block.ctypes.data
    for number, (name, array) in enumerate(arrays(found), start=1):
        assert np.shares_memory(array, found.block) and array.flags.c_contiguous, name
        array += number
        assert array.min() == array.max() == number, f'{name} lies in another field'
        assert (array.ctypes.data - begin) % 8 == 0
    constants = int(np.sum(found.block == 0.0))
    assert sum(array.size for _, array in arrays(found)) + constants == len(found.block)


def test_a_state_of_the_odometry_has_its_parts_by_name():
    whole = odometry_states.OdometryState.new(3, robust=1.0, max_gap=0.25)
    whole.slip.fit.twist[1] = 7.0
    assert whole.robust == 1.0 and whole.max_gap == 0.25 and whole.shortest == 0.0
    assert odometry_states.SlipWatch.of(whole.slip.block, 3).fit.twist.tolist() == [0.0, 7.0, 0.0]
    assert whole.lasting.pose.by_parameter.shape == (3, 15)
    assert whole.ring.weight.shape == (odometry_states.CAPACITY, 3, 2)


@pytest.mark.parametrize('copied', [deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
@pytest.mark.parametrize('n', COUNTS)
def test_a_copy_has_a_memory_of_its_own(copied, n):
    whole = Whole.new(n, gain=2.0)
    whole.low.mean[0, 1] = 3.0
    other = copied(whole)
    assert type(other) is Whole and np.array_equal(other.block, whole.block)
    assert other.gain == 2.0 and other.low.mean.shape == (n, 2)
    other.low.mean[0, 1] = 4.0
    assert whole.low.mean[0, 1] == 3.0 and 4.0 in other.block and 4.0 not in whole.block
    assert copy(whole).block is whole.block


@pytest.mark.parametrize('block', [np.zeros(8), np.zeros((9, 1)), np.zeros(9, np.float32),
                                   np.zeros(18)[::2]])
def test_a_block_of_another_shape_is_refused(block):
    with pytest.raises(ValueError, match=r'Filter: a block of .*; expected 8 numbers in a row for '
                                         'n = 3' if block.shape != (8,) else 'expected 6 numbers'):
        Filter.of(block, 3 if block.shape != (8,) else 2)
    assert Filter.of(np.zeros(8), 3).mean.shape == (3, 2)


@pytest.mark.skipif(not COMPILED, reason='without a compiler it is a function')
def test_a_part_of_kernels_refuses_calls_from_python():
    # also one whose machine code is there already
    Odometry(C3P).warm_up()
    with pytest.raises(TypeError, match='solve is a part of other kernels'):
        solve(np.zeros((3, 4)), odometry_states.RigidFit.new(3))


def test_an_unknown_constant_is_refused_by_name():
    with pytest.raises(TypeError, match='Filter has no constant mean: time_constant'):
        Filter.new(3, mean=1.0)


@pytest.mark.parametrize(('hint', 'text'), [
    (int, 'expected float'), (Array, 'expected float'),
    (Annotated[Array, 'k'], "size 'k'"), (Annotated[Array, 0], 'size 0'),
    (Annotated[Array, 'n+k'], r"size 'n\+k'"), (Annotated[Array, 2.5], r'size 2\.5')])
def test_a_field_without_a_usable_shape_is_refused_by_name(hint, text):
    kind = type('Wrong', (Parts,), {'__annotations__': {'first': hint}, '__module__': __name__})
    with pytest.raises(TypeError, match=rf'Wrong\.first: .*{text}|Wrong\.first: {text}'):
        state(kind)


def test_a_constant_after_an_array_is_refused():
    kind = type('Late', (Parts,), {'__annotations__': {'first': Number, 'second': float},
                                   '__module__': __name__})
    with pytest.raises(TypeError, match=r'Late\.second: constants stand before arrays'):
        state(kind)


@state
class Information(Parts):
    scale: float
    first: Annotated[Array, 'n']
    normal: Annotated[Array, '2n', 'n']
    last: Annotated[Array, 2]


cut_information = Information.cut


@kernel
def fill_information(block, n):
    one = cut_information(block, n)
    for j in range(one.normal.shape[0]):
        for k in range(one.normal.shape[1]):
            one.normal[j, k] = one.scale * (10 * j + k)
    one.last[1] = one.normal.shape[0]


@pytest.mark.parametrize('n', [1, 2, 3, 5])
def test_a_matrix_whose_sides_both_grow_is_where_the_kernel_writes(n):
    made = Information.new(n, scale=2.0)
    assert made.normal.shape == (2 * n, n) and len(made.block) == 1 + n + 2 * n * n + 2
    fill_information(made.block, n)
    rows, columns = np.indices((2 * n, n))
    assert made.normal.tolist() == (2.0 * (10 * rows + columns)).tolist()
    assert made.last.tolist() == [0.0, 2.0 * n] and not made.first.any()
    again = deepcopy(made)
    again.normal[0, 0] = -1.0
    assert again.block[1 + n] == -1.0 and made.normal[0, 0] == 0.0


@pytest.mark.parametrize('name', ['of', 'new', 'cut', 'cut_for', 'block', 'size', 'sizes',
                                  'values', 'fields'])
def test_a_field_with_the_name_of_a_member_of_each_state_is_refused(name):
    kind = type('Hiding', (Parts,), {'__annotations__': {name: Number}, '__module__': __name__})
    with pytest.raises(TypeError, match=rf'Hiding\.{name}: every state has a {name} of its own'):
        state(kind)
