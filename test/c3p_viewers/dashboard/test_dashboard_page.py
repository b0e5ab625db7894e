# SPDX-License-Identifier: Apache-2.0
"""The live page in a real browser, with a simulated robot on real topics."""

import contextlib
import json
import re
import signal
import subprocess
import sys
import threading

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


def wait_for(condition):
    """Wait until a condition is true."""
    step = threading.Event()
    for _ in range(int(PATIENCE / 0.05)):
        if condition():
            return
        step.wait(0.05)
    raise AssertionError('not within the patience of the test')


def position(browser):
    """Return x, y, yaw of the robot on the page."""
    return browser.value('last().p')


@pytest.mark.real_time
@pytest.mark.timeout(400)
def test_goal_by_click_e_stop_that_latches_and_a_release_that_moves_nothing(tmp_path):
    program()
    with running('sim', '--web', '--port', '0') as (_, url), Browser(1280, 1000) as page:
        page.open(url)
        page.until('samples.length > 10 && last().p && view.scale && status.drivable '
                   '&& status.mux', PATIENCE)
        assert page.value('document.title') == 'c3p: live'
        assert page.value('el("receivers").textContent') == '1 node hears it: twist_mux'
        # the code is not in the address, and the secret nowhere
        assert page.value('location.href') == url.partition('?')[0]
        # far ahead, so that the drive takes some seconds
        page.value('view.scale /= 3')
        left, top, wide, high = page.box('#map')
        page.click(left + 0.9 * wide, top + 0.5 * high)
        page.until('last().g && Math.abs(last().p[0]) > 0.15', PATIENCE)
        page.until('el("tiles").textContent.includes("m to go")', PATIENCE)
        page.key('Escape')
        page.until('status.pressed && status.locked && !el("alert").hidden', PATIENCE)
        page.until('status.confirmed', PATIENCE)
        page.until('el("alert").textContent.includes("confirmed by twist_mux")', PATIENCE)
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
        # the robot and the stop first
        page.value('scrollTo(0, 0)')
        page.until('el("stop").getBoundingClientRect().bottom < 100', PATIENCE)
        bottom = page.value('el("map").getBoundingClientRect().bottom')
        assert bottom < 600 and page.value('el("tiles").getBoundingClientRect().top') > bottom
        # no word without its value
        page.until('[...document.querySelectorAll(".u-legend .u-series:first-child")].every(row '
                   '=> row.textContent.match(/time[0-9.]+ s/))', PATIENCE)
        assert page.problems == []
        assert all(request.startswith((url.partition('?')[0], 'about:', 'data:'))
                   for request in page.requests)


def hold(page, key, kind='keyDown'):
    """Press a key and keep it, or release it with ``keyUp``."""
    page.do('Input.dispatchKeyEvent', type=kind, key=key, code=f'Key{key.upper()}')


def moves(page):
    """Wait until the robot moves."""
    page.until('last().v && Math.hypot(last().v[0], last().v[1]) > 0.05', PATIENCE)


def rests(page):
    """Wait until no hand drives, and the robot is at rest."""
    page.until('!status.hand && last().v && Math.hypot(last().v[0], last().v[1]) < 0.005',
               PATIENCE)


@pytest.mark.real_time
@pytest.mark.timeout(400)
def test_keys_and_pad_drive_while_they_are_held_and_the_page_is_open_and_has_the_focus():
    program()
    with running('sim', '--web', '--port', '0') as (_, url), Browser(1280, 1000) as page:
        page.open(url)
        page.until('samples.length > 10 && last().p && status.mux', PATIENCE)
        # keys act on the pad alone
        hold(page, 'w')
        page.value('new Promise(done => setTimeout(done, 500))')
        assert not page.value('status.hand')
        hold(page, 'w', 'keyUp')
        page.value('el("pad").focus()')
        hold(page, 'w')
        moves(page)
        assert page.value('status.hand')
        # released
        hold(page, 'w', 'keyUp')
        rests(page)
        # another field, another window, another tab: the key is still down
        for event in ('el("goal").elements.x.focus()',
                      'window.dispatchEvent(new Event("blur"))',
                      'Object.defineProperty(document, "hidden", {get: () => true, '
                      'configurable: true}), document.dispatchEvent(new '
                      'Event("visibilitychange")), delete document.hidden'):
            page.value('el("pad").focus()')
            hold(page, 'w')
            moves(page)
            page.value(f'void ({event})')
            rests(page)
            hold(page, 'w', 'keyUp')
        # the pad, and a stop while it is held: nothing moves before the next touch
        left, top, wide, high = page.box('#pad')
        place = left + 0.5 * wide, top + 0.2 * high
        page.mouse('mousePressed', *place, button='left', clickCount=1, buttons=1)
        moves(page)
        page.value('el("stop").click()')
        page.until('status.pressed && status.confirmed', PATIENCE)
        rests(page)
        page.value('el("release").click()')
        page.until('!status.locked', PATIENCE)
        # still held, and moved
        page.mouse('mouseMoved', place[0] + 2, place[1], button='left', buttons=1)
        page.value('new Promise(done => setTimeout(done, 700))')
        rests(page)
        page.mouse('mouseReleased', *place, button='left', clickCount=1)
        page.mouse('mousePressed', *place, button='left', clickCount=1, buttons=1)
        moves(page)
        # a page that hangs: its script does not run
        page.do('Runtime.evaluate', expression='(() => { const end = performance.now() + 1500; '
                'while (performance.now() < end); })()')
        rests(page)
        # refused by the dashboard, or by the page itself if its own time limit ends first
        page.until('el("hand-reply").textContent.startsWith("Stopped: ")', PATIENCE)
        page.mouse('mouseReleased', *place, button='left', clickCount=1)
        # a page that is closed
        other = page.tab()
        other.open(url.partition('?')[0])
        other.until('connected && samples.length > 5', PATIENCE)
        other.value('el("pad").focus()')
        hold(other, 'w')
        moves(other)
        other.do('Page.close')
        rests(page)
        assert page.problems == other.problems == []


@pytest.mark.real_time
@pytest.mark.timeout(200)
def test_without_a_robot_the_page_says_so_and_with_the_server_gone_that_its_button_is_dead():
    program()
    with Browser(390, 844, dark=True) as page:
        with running('dashboard', '--port', '0', '--robot', 'c3p') as (_, url):
            page.open(url)
            page.until('el("link").textContent === "no joint states"', PATIENCE)
            assert page.value('el("receivers").textContent') == 'nothing receives this stop'
            page.value('el("stop").click()')
            page.until('status.pressed', PATIENCE)
            page.until('el("alert").textContent.includes("nothing receives this stop")', PATIENCE)
            assert page.value('el("stop").textContent') == 'NOT HEARD'
            assert 'stays stopped' not in page.value('el("alert").textContent')
            # again, with the secret that the browser keeps
            page.open(url.partition('?')[0])
            page.until('connected && status.pressed', PATIENCE)
        page.until('el("alert").textContent.includes("STOP has no effect")', PATIENCE)
        assert 'Connection lost' in page.value('el("alert").textContent')
        page.value('el("stop").click()')
        page.until('el("alert").textContent.includes("NOT sent")', PATIENCE)
        assert page.problems == []


@pytest.mark.real_time
@pytest.mark.timeout(300)
@pytest.mark.parametrize('count', [6, 12])
def test_the_stop_of_each_of_many_tabs_is_pressed(count):
    program()
    with running('dashboard', '--port', '0', '--robot', 'c3p') as (_, url), Browser() as first:
        first.open(url)
        tabs = [first, *(first.tab() for _ in range(count - 1))]
        for page in tabs[1:]:
            page.open(url)
        for page in tabs:
            page.until('connected', PATIENCE)
        # of a tab that another one hides, too
        for page in (tabs[0], tabs[-1]):
            page.value('el("stop").click()')
            for other in tabs:
                other.until('status.pressed', PATIENCE)
            page.value('el("release").click()')
            for other in tabs:
                other.until('status.pressed === false', PATIENCE)


@pytest.mark.real_time
@pytest.mark.timeout(300)
def test_a_server_that_hangs_is_not_connected_and_its_stop_is_not_sent():
    program()
    with running('dashboard', '--port', '0', '--robot', 'c3p') as (process, url), \
            Browser() as page:
        page.open(url)
        page.until('connected', PATIENCE)
        process.send_signal(signal.SIGSTOP)
        try:
            page.value('el("stop").click()')
            page.until('el("alert").textContent.includes("NOT sent")', PATIENCE)
            page.until('!connected && el("alert").textContent.includes("STOP has no effect")',
                       PATIENCE)
            page.value('send("goal", {x: 1, y: 0, yaw: 0})')
            page.until('el("reply").textContent === "Not sent: not connected"', PATIENCE)
            # a press while nothing is connected
            page.value('el("stop").click()')
            page.until('el("stop").textContent === "stopping …"', PATIENCE)
            page.until('el("stop").textContent === "STOP"', PATIENCE)
        finally:
            process.send_signal(signal.SIGCONT)
        page.until('connected', PATIENCE)
        # the stop that the server received meanwhile is carried out, and shown
        page.until('status.pressed && !el("alert").textContent.includes("NOT sent")', PATIENCE)


@pytest.mark.real_time
@pytest.mark.timeout(300)
def test_a_dashboard_that_was_started_again_says_that_the_address_is_old():
    program()
    with Browser() as page:
        with running('dashboard', '--port', '0', '--robot', 'c3p') as (_, url):
            page.open(url)
            page.until('connected', PATIENCE)
            port = re.search(r':(\d+)/', url)[1]
        with running('dashboard', '--port', port, '--robot', 'c3p') as (_, url):
            page.until('el("alert").textContent.includes("printed last in its terminal")',
                       PATIENCE)
            tab = page.tab()
            tab.open(url)
            tab.until('connected', PATIENCE)
            # the other tab finds the new secret
            page.until('connected', PATIENCE)


@pytest.mark.real_time
@pytest.mark.timeout(300)
@pytest.mark.parametrize('name', [
    '</title><script nonce=NONCE>document.title="PWNED"</script>', 'SCRIPTS', 'NONCE', 'STYLE',
    '$script', '${style}', '</script><script>document.title="PWNED"</script>',
    '<img src=x onerror=document.title="PWNED">', '"><svg onload=document.title="PWNED">'])
def test_the_name_of_a_robot_is_text(tmp_path, name):
    program()
    robot = tmp_path / 'evil.yaml'
    robot.write_text(json.dumps({'extends': 'c3p', 'name': name}))
    with running('dashboard', '--port', '0', '--robot', str(robot)) as (_, url), \
            Browser() as page:
        page.open(url)
        page.until('connected && ROBOT', PATIENCE)
        assert page.value('document.title') == f'{name}: live'
        assert page.value('el("name").textContent') == name
        assert page.value('el("name").children.length + document.scripts.length') == 1
        assert page.problems == []


@pytest.mark.real_time
@pytest.mark.timeout(300)
def test_texts_of_messages_are_text():
    program()
    evil = '<img src=x onerror=document.title="PWNED">&amp;'
    with running('dashboard', '--port', '0', '--robot', 'c3p') as (_, url), Browser() as page:
        page.open(url)
        page.until('connected && status.nodes', PATIENCE)
        page.value('Connection.on.values({samples: [], status: {...status, mux: true, '
                   f'nodes: [{{name: {json.dumps(evil)}, level: 2, text: {json.dumps(evil)}}}], '
                   f'driving: {json.dumps(evil)}, lock: {json.dumps(evil)}, '
                   f'others: [{json.dumps(evil)}], receivers: [{json.dumps(evil)}], '
                   f'goal: {{to_go: null, refused: {json.dumps(evil)}, result: {{level: 2, '
                   f'reason: {json.dumps(evil)}, why: {json.dumps(evil)}}}}}}}}}); words()')
        assert page.value('document.images.length') == 0
        for place, count in (('nodes', 2), ('tiles', 5), ('alert', 1), ('receivers', 1)):
            text = page.value(f'el("{place}").textContent')
            assert text.count(evil) == count, (place, text)


@pytest.mark.real_time
@pytest.mark.timeout(300)
def test_open_shows_no_code_in_a_command_line_and_leaves_no_file(tmp_path, monkeypatch):
    program()
    told = tmp_path / 'arguments'
    browser = tmp_path / 'fake'
    browser.write_text(f'#!/bin/sh\necho "$@" > {told}.new; mv {told}.new {told}\n')
    browser.chmod(0o755)
    monkeypatch.setenv('BROWSER', f'{browser} %s')
    monkeypatch.setenv('HOME', str(tmp_path))
    with running('dashboard', '--port', '0', '--robot', 'c3p', '--open') as (_, url), \
            Browser() as page:
        wait_for(told.exists)
        address = told.read_text().strip()
        assert re.fullmatch(r'file://\S+\.html', address)
        (file,) = tmp_path.glob('*.html')
        assert file.stat().st_mode & 0o777 == 0o600
        code = re.search(r'code=([\w-]+)', file.read_text())[1]
        assert code not in address and code not in url
        page.open(address)
        page.until('typeof connected !== "undefined" && connected', PATIENCE)
        # the printed one is another, and unused
        phone = page.tab()
        phone.open(url)
        phone.until('connected', PATIENCE)
        for shown in (page, phone):
            assert not [entry for entry in shown.history if 'code=' in entry]
    assert not list(tmp_path.glob('*.html'))
