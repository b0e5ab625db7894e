# SPDX-License-Identifier: Apache-2.0
"""The server of the live page, called by a plain client: events and refusals."""

import http.client
import json
import threading
import time

import numpy as np
import pytest
from robots import C3P

from c3p_viewers.dashboard.samples import RATE, History, sample
from c3p_viewers.dashboard.server import MOST_STREAMS, DashboardServer, Refusal
from c3p_viewers.sources.moment import Moment


@pytest.fixture
def served():
    """A server with a command that keeps what it received; token and port are in `place`."""
    received = []

    def goal(body):
        received.append(body)
        if body.get('x') == 13:
            raise Refusal(409, 'the e-stop is pressed; release it first')
        return 'goal sent'

    server = DashboardServer('<html>NONCE</html>', History(), {'goal': goal})
    server.received = received
    server.start()
    yield server
    server.close()


def ask(server, method='POST', path='/goal', body=b'{"x": 1}', **headers):
    """Return status, headers and text of a request; a header of None is left out."""
    place = server.place
    given = {'Host': f'127.0.0.1:{place.port}', 'Origin': f'http://127.0.0.1:{place.port}',
             'Content-Type': 'application/json', 'X-C3P-Token': place.token,
             'Content-Length': f'{len(body)}',
             **{name.replace('_', '-'): value for name, value in headers.items()}}
    client = http.client.HTTPConnection('127.0.0.1', place.port, timeout=10)
    client.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in given.items():
        if value is not None:
            client.putheader(name, value)
    client.endheaders(body if method == 'POST' else None)
    answer = client.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read().decode()


def test_it_listens_on_the_loopback_address_only(served):
    assert served.server_address[0] == '127.0.0.1'


def test_the_page_needs_the_token_and_may_load_nothing_from_elsewhere(served):
    code, headers, text = ask(served, 'GET', f'/?token={served.place.token}')
    nonce = text.removeprefix('<html>').removesuffix('</html>')
    policy = headers['Content-Security-Policy']
    assert code == 200 and f"'nonce-{nonce}'" in policy and "default-src 'none'" in policy
    assert headers['Referrer-Policy'] == 'no-referrer' and headers['Cache-Control'] == 'no-store'
    for path in ('/', '/?token=', '/?token=guess', '/stream', '/stream?token=guess'):
        code, _, text = ask(served, 'GET', path)
        assert code == 403 and 'terminal' in text and served.place.token not in text


@pytest.mark.parametrize(('code', 'headers'), [
    (200, {}),
    # an ssh tunnel may have another port at its end
    (200, {'Host': 'localhost:9999', 'Origin': 'http://localhost:9999'}),
    (403, {'Origin': None}), (403, {'Origin': 'https://evil.example'}), (403, {'Origin': 'null'}),
    (403, {'Origin': 'http://127.0.0.1:1'}),
    # a name that an attacker points to this computer
    (403, {'Host': 'evil.example', 'Origin': 'http://evil.example'}),
    (403, {'Host': None}), (403, {'X_C3P_Token': None}), (403, {'X_C3P_Token': 'guess'}),
    (415, {'Content_Type': 'text/plain'}), (415, {'Content_Type': None}),
    (411, {'Content_Length': None}), (411, {'Content_Length': '-1'}),
    (413, {'Content_Length': '5000'}), (413, {'Content_Length': '9' * 4000})])
def test_a_command_of_another_site_or_form_is_refused(served, code, headers):
    assert ask(served, **headers)[0] == code
    assert served.received == ([{'x': 1}] if code == 200 else [])


@pytest.mark.parametrize(('method', 'path', 'body', 'code'), [
    ('POST', '/goal', b'{', 400), ('POST', '/goal', b'\xff\xfe', 400),
    ('POST', '/goal', b'[1]', 400),
    ('POST', '/goal', b'[' * 4000, 400), ('POST', '/nothing', b'{}', 404),
    ('GET', '/goal', b'', 404), ('GET', '/../../etc/passwd', b'', 404),
    ('PUT', '/goal', b'{}', 501)])
def test_bad_requests_get_a_line_of_text_and_reach_no_command(served, method, path, body, code):
    assert ask(served, method, path, body)[0] == code and served.received == []


def test_a_refused_command_has_its_reason(served):
    code, _, text = ask(served, body=b'{"x": 13}')
    assert (code, text) == (409, 'the e-stop is pressed; release it first')


def events(server, count):
    """Return `count` events of the stream and their data."""
    client = http.client.HTTPConnection('127.0.0.1', server.place.port, timeout=10)
    client.request('GET', f'/stream?token={server.place.token}')
    answer = client.getresponse()
    assert answer.getheader('Content-Type').startswith('text/event-stream')
    found = []
    while len(found) < count or len(found[-1]) < 2:
        line = answer.fp.readline().decode()
        assert line, 'the stream has ended'
        if line.startswith('event: '):
            found.append([line.removeprefix('event: ').strip()])
        elif line.startswith('data: '):
            found[-1].append(json.loads(line.removeprefix('data: ')))
    client.close()
    return found


def test_a_browser_receives_the_last_minute_and_then_what_is_new(served):
    history = served.history
    for k in range(int(70 * RATE)):
        history.add({'t': k / RATE})
    history.set_status({'alive': True})
    (_, old), (_, status) = events(served, 2)
    # a minute is kept
    assert len(old) == 60 * RATE and old[-1]['t'] == pytest.approx(70 - 1 / RATE)
    assert status == {'alive': True}
    later = threading.Timer(0.2, history.add, [{'t': 71.0}])
    later.start()
    assert events(served, 3)[2] == ['samples', [{'t': 71.0}]]
    later.join()


def test_a_slow_browser_misses_nothing_and_a_new_run_begins_anew():
    history = History()
    for k in range(3):
        history.add({'t': float(k)})
    number, first, status = history.after(0, 0.0)
    assert [s['t'] for s in first] == [0.0, 1.0, 2.0] and status is None
    history.add({'t': 3.0})
    history.set_status({'a': 1})
    number, then, status = history.after(number, 0.0)
    assert [s['t'] for s in then] == [3.0] and status == {'a': 1}
    # the same status again is not new
    history.set_status({'a': 1})
    assert history.after(number, 0.0) == (number, [], None)
    # a simulation that was started again has an earlier time
    history.add({'t': 0.5})
    assert [s['t'] for s in history.after(0, 0.0)[1]] == [0.5]


def test_more_pages_than_the_limit_are_refused(served):
    for _ in range(MOST_STREAMS):
        assert served.streams.acquire(blocking=False)
    code, _, text = ask(served, 'GET', f'/stream?token={served.place.token}')
    assert code == 503 and 'close one' in text


def test_closing_does_not_wait_for_browsers():
    server = DashboardServer('', History(), {})
    server.start()
    server.history.add({'t': 0.0})
    client = http.client.HTTPConnection('127.0.0.1', server.place.port, timeout=10)
    client.request('GET', f'/stream?token={server.place.token}')
    answer = client.getresponse()
    answer.fp.readline()
    begin = time.monotonic()
    server.close()
    # the period of the server's loop is 0.1 s
    assert time.monotonic() - begin < 2.0


def test_a_used_port_is_an_error_in_one_line(served):
    with pytest.raises(ValueError, match='choose another --port'):
        DashboardServer('', History(), {}, served.place.port)
    with pytest.raises(ValueError, match='choose another --port'):
        DashboardServer('', History(), {}, 70_000)


def test_a_sample_is_json_without_topics_and_with_numbers_that_are_not_finite():
    bare = Moment(1.0, *np.zeros((4, 3)))
    shown = sample(C3P, bare)
    assert shown['p'] is None and shown['q'] is None and shown['s'] == [0.0, 0.0, 0.0]
    # all casters across X: no force along it
    assert shown['m'] == 0.0 and np.abs(shown['d'][1:]).max() < 1e-9 < abs(shown['d'][0])
    full = bare._replace(torque=np.array([1.0, np.nan, np.inf]), residual=np.ones((3, 2)),
                         pose=np.zeros(3), suspect=1)
    text = json.dumps(sample(C3P, full), allow_nan=False)
    assert json.loads(text)['q'] == [1.0, None, None]
    assert json.loads(text)['r'] == pytest.approx([2**0.5] * 3, abs=1e-5)
