# SPDX-License-Identifier: Apache-2.0
"""Page of an identification: estimates with intervals, and predictions against the bag."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from c3p_description.model import Array, CasterRobot
from c3p_dynamics.identification.recording import Recording
from c3p_dynamics.identification.result import Estimate, Identification
from c3p_plots import style

# duration of the shown section of the recording, s
SHOWN = 3.0

# largest relative error of a segment on a linear axis
WIDE = 10.0

DESCRIBED = style.TRUE
FOUND = style.SENSED


def identification_figure(found: Identification, robot: CasterRobot, recording: Recording,
                          path: str | Path) -> list[Path]:
    """
    Draw the result on one page and write it as PNG (300 dpi) and PDF.

    `found` comes from the `recording`, `robot` is the description. Returns the files beside
    `path`.
    """
    page, grid = style.page(f'Identification of {robot.name}', _facts(found), size=(12.0, 7.6),
                            rows=2, columns=3, left=0.115, right=0.97, wspace=0.62)
    _draw_estimates(page.add_subplot(grid[0, 0]), found)
    _draw_centre(page.add_subplot(grid[0, 1]), found, robot)
    _draw_correlation(page, page.add_subplot(grid[0, 2]), found)
    begin = _interesting(found, recording)
    _draw_motion(page.add_subplot(grid[1, 0]), found, recording, begin)
    _draw_errors(page.add_subplot(grid[1, 1]), found, recording, begin)
    _draw_segments(page.add_subplot(grid[1, 2]), found)
    return style.save(page, path)


def _label(estimate: Estimate) -> str:
    return estimate.name.replace('_', ' ')


def _draw_estimates(axes: Axes, found: Identification) -> None:
    """Draw estimates and intervals as deviations from the description, in percent."""
    shown = [e for e in found.estimates if e.described != 0.0 and e.name != 'delay'][::-1]
    rest = [e for e in found.estimates if e.described == 0.0
            and not e.name.startswith('platform_com')]
    for row, e in enumerate(shown):
        value, low, high = (100.0 * (x / e.described - 1.0) for x in (e.value, e.low, e.high))
        axes.plot([low, high], [row, row], color=FOUND, linewidth=2.0, solid_capstyle='butt')
        axes.plot(value, row, 'o', color=FOUND, markersize=3.5)
        # beside the panel, where no interval is
        axes.annotate(f'{e.value:.4g} {e.unit}', (1.02, row), xycoords=('axes fraction', 'data'),
                      va='center', fontsize=style.SMALL, color=style.GREY,
                      annotation_clip=False)
    axes.axvline(0.0, color=DESCRIBED, linewidth=style.LINE)
    style.dress(axes, '(a) estimates against the description', 'deviation [%], linear to ±1 %', '')
    axes.set_yticks(range(len(shown)), [_label(e) for e in shown], fontsize=style.SMALL)
    axes.set_ylim(-0.6, len(shown) - 0.2)
    # intervals far below 1 % beside deviations of many %
    axes.set_xscale('symlog', linthresh=1.0, linscale=2.0)
    most = max([1.0, *(abs(100.0 * (x / e.described - 1.0)) for e in shown
                       for x in (e.low, e.high))])
    ticks = [1.0, 10.0] if most < 50.0 else [1.0, 10.0 ** np.ceil(np.log10(most))]
    axes.set_xticks([-t for t in ticks[::-1]] + [0.0, *ticks])
    axes.xaxis.set_major_formatter('{x:g}')
    axes.set_xlim(-1.5 * most, 1.5 * most)
    if rest:
        text = '\n'.join(f'{_label(e)} {e.value:.3g} {e.unit} (described 0)' for e in rest)
        axes.text(0.02, 0.02, text, transform=axes.transAxes, fontsize=style.SMALL,
                  color=style.GREY, va='bottom')


def _draw_centre(axes: Axes, found: Identification, robot: CasterRobot) -> None:
    """Draw the centre of mass of the platform with its intervals."""
    style.dress(axes, '(b) centre of mass of the platform', 'x [mm]', 'y [mm]')
    estimates = {e.name: e for e in found.estimates}
    pair = [estimates.get(f'platform_com_{axis}') for axis in 'xy']
    axes.plot(*(1e3 * robot.platform_com), '+', color=DESCRIBED, markersize=11,
              markeredgewidth=1.8, label='described')
    x, y = (1e3 * found.robot.platform_com)
    if any(pair):
        ends = [[[0.0], [0.0]] if e is None else
                [[1e3 * (e.value - e.low)], [1e3 * (e.high - e.value)]] for e in pair]
        axes.errorbar(x, y, xerr=ends[0], yerr=ends[1], fmt='o', color=FOUND, markersize=4,
                      capsize=2.5, linewidth=style.LINE,
                      label=f'identified: {x:.2f}, {y:.2f} mm')
    # scale with the interval and the deviation
    reach = 1.4 * max(0.5, *(abs(1e3 * (found.robot.platform_com - robot.platform_com))),
                      *(1e3 * (e.high - e.low) for e in pair if e))
    axes.set_xlim(x - reach, x + reach)
    axes.set_ylim(y - reach, y + reach)
    axes.set_aspect('equal', adjustable='box')
    style.legend(axes)


def _draw_correlation(page: Figure, axes: Axes, found: Identification) -> None:
    names = [_label(e) for e in found.estimates]
    picture = axes.imshow(found.correlation, cmap='RdBu_r', vmin=-1, vmax=1, aspect='auto')
    style.dress(axes, '(c) correlation of the errors', '', '')
    axes.grid(False)
    size = style.SMALL if len(names) <= 14 else 0.7 * style.SMALL
    numbers = range(1, len(names) + 1)
    axes.set_yticks(range(len(names)), [f'{name}  {k}' for k, name in zip(numbers, names,
                                                                         strict=True)],
                    fontsize=size)
    axes.set_xticks(range(len(names)), [str(k) for k in numbers], fontsize=size)
    bar = page.colorbar(picture, ax=axes, fraction=0.04, pad=0.02, ticks=[-1, 0, 1])
    bar.ax.tick_params(labelsize=style.SMALL, length=2)


def _interesting(found: Identification, recording: Recording) -> float:
    """Return the start of the section with the largest errors of the description, s."""
    time = recording.time[found.samples]
    error = (found.described_errors**2).sum(axis=1)
    starts = np.arange(time[0], max(time[-1] - SHOWN, time[0]) + 1e-9, 0.5 * SHOWN)
    sums = [error[(time >= t) & (time <= t + SHOWN)].sum() for t in starts]
    return float(starts[int(np.argmax(sums))])


def _section(found: Identification, recording: Recording, begin: float
           ) -> tuple[Array, Array, list[Array]]:
    """Return time, indices of the shown samples, and the same split by segment."""
    time = recording.time[found.samples]
    shown = np.flatnonzero((time >= begin) & (time <= begin + SHOWN))
    # samples that are not consecutive belong to different segments
    used = found.segments[~found.set_aside]
    segment = np.searchsorted(used[:, 0], time[shown], side='right')
    split = [shown[segment == s] for s in np.unique(segment)]
    return time, shown, [part for part in split if len(part) > 1]


def _draw_motion(axes: Axes, found: Identification, recording: Recording, begin: float) -> None:
    """Draw the steering of the caster with the largest error, from the start of each segment."""
    time, shown, parts = _section(found, recording, begin)
    n = recording.steering.shape[1]
    caster = int(np.argmax((found.described_errors[shown, :n]**2).sum(axis=0)))
    # errors over ground, m, back to angles
    offset = found.robot.caster_offset[caster]
    measured = np.degrees(recording.steering[found.samples, caster])
    for i, part in enumerate(parts):
        for errors, colour, label in ((found.described_errors, DESCRIBED, 'described'),
                                      (found.errors, FOUND, 'identified')):
            predicted = measured[part] - np.degrees(errors[part, caster] / offset)
            axes.plot(time[part], predicted - measured[part[0]], linewidth=style.LINE,
                      color=colour, label=label if i == 0 else None)
        axes.plot(time[part], measured[part] - measured[part[0]], '.', color='black',
                  markersize=1.2, label='measured' if i == 0 else None)
    style.dress(axes, f'(d) steering of caster {caster + 1}, by segment', 'time [s]',
                'angle since start of segment [°]')
    style.legend(axes, markerscale=4)


def _draw_errors(axes: Axes, found: Identification, recording: Recording, begin: float) -> None:
    time, _, parts = _section(found, recording, begin)
    for i, part in enumerate(parts):
        for errors, colour, label in ((found.described_errors, DESCRIBED, 'described'),
                                      (found.errors, FOUND, 'identified')):
            lines = axes.plot(time[part], 1e3 * errors[part], color=colour, linewidth=0.5)
            if i == 0:
                lines[0].set_label(f'{label}: {1e3 * _rms(errors):.3f} mm rms')
    style.dress(axes, '(e) measured minus predicted, all joints', 'time [s]',
                'error over ground [mm]')
    style.headroom(axes, above=0.15)
    style.legend(axes, loc='upper right')


def _rms(errors: Array) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def _draw_segments(axes: Axes, found: Identification) -> None:
    middle = found.segments.mean(axis=1)
    aside = found.set_aside
    axes.plot(middle[~aside], found.segment_error[~aside], '.', color=FOUND, markersize=4,
              label='used')
    if aside.any():
        axes.plot(middle[aside], found.segment_error[aside], 'x', color=style.ALERT, markersize=5,
                  label='set aside')
    axes.axhline(1.0, color=style.GREY, linewidth=0.8)
    largest = float(found.segment_error.max())
    if largest > WIDE:
        axes.set_yscale('log')
    style.dress(axes, '(f) error of each segment', 'time [s]', 'rms error / noise')
    if largest <= WIDE:
        axes.set_ylim(0.0, 1.25 * largest)
    style.legend(axes)


def _facts(found: Identification) -> list[str]:
    """Return the facts below the title."""
    steering, wheel = 1e6 * found.noise
    facts = [f'{100 * found.confidence:g} % intervals', f'{np.sum(~found.set_aside)} pieces',
             f'noise {steering:.0f} µm (steering), {wheel:.0f} µm (wheels)',
             f'delay {1e3 * found.delay:.1f} ms']
    if found.unseen:
        facts.append('not identifiable: ' + ', '.join(u.unknown.name for u in found.unseen))
    return facts
