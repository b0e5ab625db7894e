# SPDX-License-Identifier: Apache-2.0
"""The live page in a real browser, with a simulated robot on real topics."""

import contextlib
import re
import signal
import subprocess
import sys

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is needed')

from headless_browser import Browser, program  # noqa: E402

# a loaded computer starts nodes and a browser slowly, s
PATIENCE = 120.0


@contextlib.contextmanager
def running(*arguments):
    """Run a command of c3p; yield its process and the address of the live page."""
    process = subprocess.Popen([sys.executable, '-m', 'c3p_bringup', *arguments],
                               stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        url = next((found[1] for line in process.stderr
                    if (found := re.search(r'live page: (\S+)', line))), None)
        assert url, 'no address'
        yield process, url
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=60)[1]
        assert process.returncode == 0 and 'Traceback' not in rest, rest


def position(browser):
    """Return x, y, yaw of the robot on the page."""
    return browser.value('last().p')


@pytest.mark.timeout(400)
def test_goal_by_click_e_stop_that_latches_and_a_release_that_moves_nothing(tmp_path):
    program()
    with running('sim', '--web', '--port', '0') as (_, url), Browser(1280, 1000) as page:
        page.open(url)
        page.until('samples.length > 10 && last().p && view.scale && status.drivable '
                   '&& status.mux', PATIENCE)
        assert page.value('document.title') == 'c3p: live'
        # far ahead, so that the drive takes some seconds
        page.value('view.scale /= 3')
        left, top, wide, high = page.box('#map')
        page.click(left + 0.9 * wide, top + 0.5 * high)
        page.until('last().g && Math.abs(last().p[0]) > 0.15', PATIENCE)
        page.key('Escape')
        page.until('status.pressed && status.locked && !el("alert").hidden', PATIENCE)
        assert 'stays stopped' in page.value('el("alert").textContent')
        page.until('last().v && Math.hypot(last().v[0], last().v[1]) < 0.005', PATIENCE)
        stopped, goal = position(page), page.value('last().g')
        assert goal[0] - stopped[0] > 0.3
        # a goal meanwhile is refused, and said
        page.value('el("goal").requestSubmit()')
        page.until('el("reply").textContent.includes("stop is pressed")', PATIENCE)
        page.value('el("release").click()')
        page.until('!status.locked && el("release").hidden', PATIENCE)
        released = page.value('last().t')
        page.until(f'last().t > {released} + 2', PATIENCE)
        # the creep of a stopped simulated robot is below a millimetre
        assert position(page) == pytest.approx(stopped, abs=2e-3)
        # by keyboard: the form
        page.value('el("goal").elements.x.value = 0; el("goal").elements.x.focus()')
        page.key('Enter')
        page.until('Math.abs(last().g[0]) < 1e-9', PATIENCE)
        # a phone: nothing is wider than the window
        page.size(390, 844)
        page.until('document.documentElement.scrollWidth <= 390', PATIENCE)
        assert page.problems == []
        assert all(request.startswith((url.partition('?')[0], 'about:', 'data:'))
                   for request in page.requests)


@pytest.mark.timeout(200)
def test_without_a_robot_the_page_says_so_and_with_the_server_gone_that_its_button_is_dead():
    program()
    with Browser(390, 844, dark=True) as page:
        with running('dashboard', '--port', '0', '--robot', 'c3p') as (_, url):
            page.open(url)
            page.until('el("link").textContent === "no joint states"', PATIENCE)
        page.until('el("alert").textContent.includes("Connection lost")', PATIENCE)
        page.value('el("stop").click()')
        page.until('el("alert").textContent.includes("NOT sent")', PATIENCE)
