# SPDX-License-Identifier: Apache-2.0
"""Interactive plots of a report: their data are those of the pictures; a browser shows them."""

import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest
from headless_browser import Browser, program
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from synthetic import opened

from c3p_bags.report import live, sheet, web, write
from c3p_bags.report.compare import difference_sentences
from c3p_bags.report.run import read
from c3p_bringup.cli.main import main
from c3p_plots import style

GOLDEN = Path(__file__).parents[2] / 'data' / 'golden_bag'


def unpacked(packed):
    """Return the values of `live.packed`, as the page does."""
    code = np.frombuffer(base64.b64decode(packed['data']), '<u2').astype(float)
    value = packed['low'] + code / 65534 * (packed['high'] - packed['low'])
    value[code == 65535] = np.nan
    return 10**value if packed['log'] else value


@given(st.lists(st.floats(-1e6, 1e6) | st.just(np.nan), min_size=1, max_size=50))
def test_packed_values_are_exact_to_half_a_step_of_their_range(values):
    values = np.array(values)
    back = unpacked(live.packed(values))
    np.testing.assert_array_equal(np.isnan(back), np.isnan(values))
    known = values[~np.isnan(values)]
    if len(known):
        # half of 1/65534 of the range, and rounding of the numbers themselves
        step = 0.51 * np.ptp(known) / 65534 + 1e-15 * np.abs(known).max()
        assert np.nanmax(np.abs(back - values)) <= step


def test_logarithmic_values_are_exact_to_a_part_of_themselves():
    values = np.logspace(-4, 2, 1000)
    # six decades in 65534 steps: half a step is 0.01 %
    np.testing.assert_allclose(unpacked(live.packed(values, log=True)), values, rtol=1.1e-4)


def test_long_lines_keep_their_peaks_on_a_common_time():
    time = np.arange(100_000.0)
    up, down = np.zeros_like(time), np.zeros_like(time)
    up[31_415], down[27_182] = 1.0, -1.0
    kept, (high, low) = live.reduced(time, [up, down])
    assert len(kept) == len(high) == len(low) == live.MOST and (np.diff(kept) > 0).all()
    # within an interval of 50 samples
    assert high.max() == 1.0 and abs(kept[high.argmax()] - 31_415) <= 50
    assert low.min() == -1.0 and abs(kept[low.argmin()] - 27_182) <= 50


def drawn(axes_of: Axes):
    """Return the panel of axes, and its times."""
    texts = []
    axes_of.set_label(f'{sheet.TIMED}0')
    return live.panel(axes_of, {}, texts), [np.frombuffer(base64.b64decode(t), '<f4')
                                            for t in texts]


def test_a_panel_has_the_samples_that_its_picture_leaves_out():
    axes = style.figure(4, 3).add_subplot()
    time = np.linspace(0.0, 9.0, 3000)
    sheet.line(axes, time, np.sin(time), label='wheel 2')
    sheet.line(axes, time, np.cos(time), label='other', linestyle=':')
    axes.axhline(0.5, label='limit')
    axes.axhspan(0.0, 0.1)
    panel, times = drawn(axes)
    assert len(axes.lines[0].get_xdata()) < 3000 and len(times) == 1
    np.testing.assert_allclose(times[0], time, rtol=1e-6)
    first, second = panel['lines']
    # a range of 2 in 65534 steps
    np.testing.assert_allclose(unpacked(first['value']), np.sin(time), atol=2e-5)
    # lines of wheels differ without colours
    assert first['dash'] == web.caster_dash(1) != second['dash'] and first['label'] == 'wheel 2'
    assert panel['levels'][0][0] == 0.5 and panel['levels'][0][2] == 'limit'
    assert panel['boxes'][0][:4] == [None, None, 0.0, 0.1]


def test_bars_have_their_rows_and_unlabelled_lines_join_the_one_before():
    axes = style.figure(4, 3).add_subplot()
    axes.broken_barh([(1.0, 0.5)], (0.7, 0.4))
    axes.set_yticks([0, 1], ['wheel 1', 'wheel 2'])
    axes.plot([0.0, 1.0], [0.0, 1.0], color='r', label='to the goal')
    axes.plot([2.0, 3.0], [0.0, 1.0], color='r', label='_next')
    panel, times = drawn(axes)
    assert panel['rows'] == [[0.0, 'wheel 1'], [1.0, 'wheel 2']]
    assert panel['boxes'][0][:4] == pytest.approx([1.0, 1.5, 0.7, 1.1])
    (line,) = panel['lines']
    np.testing.assert_array_equal(times[0], [0, 1, 2, 2, 3])
    np.testing.assert_allclose(unpacked(line['value']), [0, 1, np.nan, 0, 1], atol=1e-4)


def test_the_end_of_a_script_inside_a_text_does_not_end_the_script():
    assert web.library('"</script>"').count('</script>') == 1
    assert '<' not in web.as_json({'name': '</script><b>'})


def test_the_robot_of_the_page_is_that_of_the_bag():
    run = opened(read, GOLDEN, 'c3p')
    shown = live.motion(run)
    assert len(shown['robot']['hips']) == run.robot.count == len(shown['steering'])
    ends = [unpacked(column)[-1] for column in shown['pose']]
    # a range of 1.2 m in 65534 steps
    np.testing.assert_allclose(ends, run.truth.pose[-1], atol=1e-4)


def test_differences_are_said_in_words_the_largest_first_and_noise_is_not():
    figures = opened(read, GOLDEN, 'c3p')
    from c3p_bags.report.numbers import run_numbers
    a = run_numbers(figures)
    b = json.loads(json.dumps(a))
    assert difference_sentences([a, b]) == ['No value of the table differs by more than 10 %.']
    b['time_s'] *= 1.05
    b['slip']['events'] = []
    b['robot'], b['reached'] = 'mule', False
    words = difference_sentences([a, b])
    assert words[:2] == ['The robots differ: c3p in A, mule in B.', 'B missed its last goal.']
    assert 'Slips: 0 in B, 1 in A.' in words and not any('time' in text for text in words)


@pytest.fixture(scope='module')
def page(tmp_path_factory):
    """The report of the golden bag, without the pictures beside it."""
    out = tmp_path_factory.mktemp('live')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, 'png', lambda page, path: path)
        patch.setattr(write, 'drive_figure', lambda log, robot, told, path: (path, path))
        assert main(['report', str(GOLDEN), '--out', str(out), '--csv']) == 0
    return out


def test_curves_as_csv_have_all_samples(page):
    lines = (page / 'curves.csv').read_text(encoding='utf-8').splitlines()
    names, table = lines[0].split(','), np.genfromtxt(lines[1:], delimiter=',')
    run = opened(read, GOLDEN, 'c3p')
    assert len(table) == len(run.log.joints.time)
    column = names.index('slip_along_2 [m/s]')
    # six significant digits are written
    assert table[:, column].max() == pytest.approx(run.slip.slip[:, 1, 0].max(), rel=1e-5)
    np.testing.assert_allclose(table[:, names.index('x [m]')], np.interp(
        run.log.joints.time, run.log.odom.time, run.log.odom.pose[:, 0]), atol=1e-6)


@pytest.mark.real_time
@pytest.mark.timeout(300)
def test_zoom_hover_and_the_robot_at_the_cursor_in_a_browser(page):
    program()
    with Browser(1280, 900) as browser:
        browser.open((page / 'report.html').as_uri())
        browser.until('window.C3P_REPORT')
        end = browser.value('C3P_REPORT.shown[1]')
        left, top, wide, high = browser.box('#slip .plot:nth-child(2) .u-over')
        # the slip of wheel 2 is largest at 3.63 s
        at = 3.63 / end
        browser.mouse('mouseMoved', left + at * wide, top + high / 2)
        browser.until('!document.getElementById("robot").hidden')
        assert browser.value('C3P_REPORT.now') == pytest.approx(3.63, abs=2 * end / wide)
        browser.until('document.querySelector("#robot figcaption").textContent'
                      '.includes("wheel 2 slips")')
        # all plots show the values of that time
        for section in ('slip', 'motion', 'wheels'):
            shown = browser.value(f'document.querySelector("#{section} .u-legend").textContent'
                                  if section != 'slip' else
                                  'document.querySelectorAll("#slip .u-legend")[0].textContent')
            assert '3.6' in shown
        assert re.search(r'wheel 2\s*[1-9]\d{2,}', browser.value(
            'document.querySelectorAll("#slip .u-legend")[0].textContent'))
        # a drag in one plot is the zoom of all
        browser.click(left + 0.2 * wide, top + high / 2, (left + 0.3 * wide, top + high / 2))
        browser.until(f'C3P_REPORT.shown[1] < {0.5 * end}')
        scales = browser.value('C3P_REPORT.made.map(m => [m.plot.scales.x.min, '
                               'm.plot.scales.x.max])')
        np.testing.assert_allclose(scales, [[0.2 * end, 0.3 * end]] * len(scales), atol=0.02 * end)
        browser.value('document.querySelector("[data-do=all]").click()')
        browser.until(f'Math.abs(C3P_REPORT.shown[1] - {end}) < 1e-3')
        # the keyboard moves the cursor
        browser.value('document.querySelector("#wheels .plot").focus()')
        before = browser.value('C3P_REPORT.now')
        browser.key('ArrowRight')
        browser.until(f'C3P_REPORT.now !== {before}')
        browser.size(390, 844)
        browser.until('document.documentElement.scrollWidth <= 390 && '
                      'C3P_REPORT.made.every(m => m.plot.width <= 390)')
        # paper has the pictures
        browser.do('Emulation.setEmulatedMedia', media='print')
        for kind, display in (('still', 'block'), ('live', 'none')):
            assert browser.value('getComputedStyle(document.querySelector'
                                 f'(".{kind}")).display') == display
        assert browser.problems == []
        assert all(url.startswith(('file:', 'data:', 'about:')) for url in browser.requests)
