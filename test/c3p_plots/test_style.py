# SPDX-License-Identifier: Apache-2.0
"""Lines that are clipped are marked, and none differs from another by its colour alone."""

import itertools

import numpy as np
import pytest

from c3p_plots import style

LOW = 1e-3


def panel():
    """Return the axes of a new figure."""
    return style.figure(4.0, 3.0).add_subplot()


@pytest.mark.parametrize(('least', 'marked'), [(1e-5, True), (0.0, True), (2e-3, False)])
def test_only_a_logarithmic_axis_that_clips_says_so(least, marked):
    axes = panel()
    axes.set_yscale('log')
    axes.plot([0.0, 1.0, 2.0], [least, 0.1, 1.0])
    style.clip_below(axes, LOW)
    text = axes.yaxis.get_major_formatter()
    axes.figure.canvas.draw()
    # the lowest number stands for all below it; the others for themselves
    assert ('leq' in text(LOW)) == marked
    assert 'leq' not in text(10 * LOW)
    assert axes.get_ylim()[0] == pytest.approx(LOW)
    assert min(axes.lines[0].get_ydata()) == max(least, LOW)


@pytest.mark.parametrize('options', [{}, {'marker': 'o'}, {'marker': 's', 'linestyle': 'none'}])
def test_lines_that_differ_in_colour_differ_without_it(options):
    axes = panel()
    for k in range(4):
        axes.plot([0, 1], [k, k], color=style.caster_colour(k), label=f'{k}', **options)
    style.legend(axes)
    looks = [(line.get_marker(), line._unscaled_dash_pattern) for line in axes.lines]
    assert all(a != b for a, b in itertools.combinations(looks, 2))


def test_bars_that_differ_in_colour_differ_in_hatches():
    axes = panel()
    for k in range(3):
        axes.bar(np.arange(2) + 0.3 * k, [1, 2], width=0.3, color=style.caster_colour(k),
                 label=f'{k}')
    style.legend(axes)
    assert len({container[0].get_hatch() for container in axes.containers}) == 3


def test_bars_without_a_legend_keep_their_colours_only():
    axes = panel()
    axes.bar([0, 1, 2], [1, 2, 3], color=[style.caster_colour(k) for k in range(3)])
    axes.axhline(1.0, label='bar')
    style.legend(axes)
    assert {bar.get_hatch() for bar in axes.patches} == {None}
