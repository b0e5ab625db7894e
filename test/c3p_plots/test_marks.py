# SPDX-License-Identifier: Apache-2.0
"""Lines of casters have markers where they cross, few of them, and one where they do not."""

import numpy as np
import pytest

from c3p_plots import style
from c3p_plots.marks import PARTS, place_marks

TIME = np.linspace(0.0, 10.0, 1001)


def marked(*values, scale='linear'):
    """Return the times of the markers of each line."""
    axes = style.figure(4.0, 3.0).add_subplot()
    axes.set_yscale(scale)
    for k, value in enumerate(values):
        axes.plot(TIME, value, **style.caster_marks(k))
    axes.set_xlim(0.0, 10.0)
    place_marks(axes.figure)
    axes.figure.canvas.draw()
    return [TIME[line.get_markevery()] for line in axes.lines]


@pytest.mark.parametrize('scale', ['linear', 'log'])
def test_lines_that_cross_once_have_a_marker_there_and_a_third_one_anywhere(scale):
    rising = 1.0 + TIME
    first, second, third = marked(rising, rising[::-1], rising + 20.0, scale=scale)
    # within the part of the panel in which they cross
    assert len(first) == len(second) == len(third) == 1
    assert abs(first[0] - 5.0) < 10.0 / PARTS and abs(second[0] - 5.0) < 10.0 / PARTS
    assert abs(first[0] - second[0]) > 0.2


def test_lines_that_cross_all_the_time_have_a_marker_in_each_part():
    noise = np.random.default_rng(1).normal(size=(2, len(TIME)))
    assert [len(times) for times in marked(*noise)] == [PARTS, PARTS]


def test_noise_of_lines_on_each_other_is_no_crossing():
    noise = 0.002 * np.random.default_rng(1).normal(size=(2, len(TIME)))
    assert [len(times) for times in marked(*(TIME + noise))] == [1, 1]


def test_a_line_that_leaves_the_panel_has_its_marker_inside():
    axes = style.figure(4.0, 3.0).add_subplot()
    axes.plot(TIME, TIME, **style.caster_marks(0))
    axes.set_xlim(0.0, 2.0)
    place_marks(axes.figure)
    assert TIME[axes.lines[0].get_markevery()] == pytest.approx([1.0])


def test_a_line_without_points_is_left_out():
    axes = style.figure(4.0, 3.0).add_subplot()
    for k, value in enumerate((np.full(len(TIME), np.nan), TIME)):
        axes.plot(TIME, value, **style.caster_marks(k))
    place_marks(axes.figure)
    axes.figure.canvas.draw()
    assert axes.lines[0].get_markevery() is None and len(axes.lines[1].get_markevery()) == 1
