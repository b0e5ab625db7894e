# SPDX-License-Identifier: Apache-2.0
"""The server of the live page, called by a plain client: page, heartbeats, commands, refusals."""

import contextlib
import gc
import http.client
import json
import re
import socket
import struct
import threading

import pytest
from robots import C3P
from served_page import PATIENCE, Page, Served

from c3p_viewers.dashboard.command_queue import Requests
from c3p_viewers.dashboard.page_socket import (
    MALFORMED,
    MOST_PAGES,
    MOST_SAMPLES,
    NO_ACCESS,
    TOO_MANY,
)
from c3p_viewers.dashboard.refusal import Refusal
from c3p_viewers.dashboard.samples import KEPT, RATE, History
from c3p_viewers.dashboard.server import DashboardServer
from c3p_viewers.dashboard.static_page import static_page


@pytest.fixture
def served():
    """A server on a free port."""
    made = Served()
    yield made
    made.close()


def ask(served, path='/', method='GET', **headers):
    """Return status, headers and text of a request; a header of None is left out."""
    given = {'Host': served.host, **headers}
    connection = http.client.HTTPConnection('127.0.0.1', served.server.port, timeout=PATIENCE)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in given.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read().decode()


def test_it_listens_on_the_loopback_address_only(served):
    assert {one.getsockname()[0] for one in served.server._sockets} == {'127.0.0.1'}


def test_the_page_has_nothing_of_the_robot_and_no_secret_and_loads_nothing(served):
    code, headers, text = ask(served, f'/?code={served.code}')
    access = served.server.access
    assert code == 200 and served.code not in text and access.session not in text
    assert text == ask(served)[2]
    # the same for every robot
    assert static_page().text == text and '[0.1,' not in text
    policy = headers['Content-Security-Policy']
    assert "default-src 'none'" in policy and "script-src 'sha256-" in policy
    assert "'unsafe-inline'" not in re.search('script-src[^;]*', policy)[0]
    assert headers['Referrer-Policy'] == 'no-referrer' and headers['Cache-Control'] == 'no-store'
    # asking for the page does not use the code
    assert access.url.endswith(served.code)


@pytest.mark.parametrize(('path', 'method', 'code', 'headers'), [
    ('/', 'GET', 200, {'Host': 'localhost:9999'}), ('/', 'GET', 403, {'Host': 'evil.example'}),
    ('/goal', 'GET', 404, {}), ('/../../etc/passwd', 'GET', 404, {}), ('/', 'POST', 405, {}),
    ('/', 'PUT', 405, {}), ('/goal', 'POST', 404, {}), ('/socket', 'GET', 403, {})])
def test_other_requests_get_a_line_of_text(served, path, method, code, headers):
    given = {'Content-Length': '0', **headers} if method != 'GET' else headers
    found, _, text = ask(served, path, method, **given)
    assert found == code and (code == 200 or text.count('\n') == 1)


@pytest.mark.parametrize('host', ['evil@127.0.0.1:1', '[', '127.0.0.1:1@evil.example', ''])
def test_a_host_that_is_no_name_is_refused(served, host):
    # some of them by tornado, depending on its version
    code, _, text = ask(served, Host=host)
    assert code in (400, 403) and '<' not in text


@pytest.mark.parametrize(('headers', 'opens'), [
    ({}, True),
    # an ssh tunnel may have another port at its end
    ({'Host': 'localhost:9999', 'Origin': 'http://localhost:9999'}, True),
    ({'Origin': None}, False), ({'Origin': 'https://evil.example'}, False),
    ({'Origin': 'null'}, False), ({'Origin': 'http://127.0.0.1:1'}, False),
    ({'Origin': 'https://{host}'}, False), ({'Origin': 'file://{host}'}, False),
    ({'Origin': 'chrome-extension://{host}'}, False),
    # a name that an attacker points to this computer
    ({'Host': 'evil.example', 'Origin': 'http://evil.example'}, False)])
def test_only_the_page_of_this_server_may_connect(served, headers, opens):
    upgrade = {'Connection': 'Upgrade', 'Upgrade': 'websocket', 'Sec-WebSocket-Version': '13',
               'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==', 'Origin': 'http://{host}',
               **headers}
    given = {name: value and value.replace('{host}', served.host)
             for name, value in upgrade.items()}
    connection = http.client.HTTPConnection('127.0.0.1', served.server.port, timeout=PATIENCE)
    connection.putrequest('GET', '/socket', skip_host=True, skip_accept_encoding=True)
    for name, value in {'Host': served.host, **given}.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == (101 if opens else 403)


@pytest.mark.parametrize(('first', 'code'), [
    ({'code': 'guess'}, NO_ACCESS), ({'session': 'guess'}, NO_ACCESS), ({}, NO_ACCESS),
    ({'code': 1, 'session': []}, NO_ACCESS), ({'ready': True}, NO_ACCESS),
    ({'id': 1, 'name': 'e_stop', 'body': {}}, NO_ACCESS), ('{', MALFORMED), ('[1]', MALFORMED),
    ('[' * 4000, MALFORMED)])
def test_without_the_code_a_connection_ends_and_nothing_is_carried_out(served, first, code):
    served.carry_out()
    served.history.set_status({'alive': True})
    with Page(served, first) as page:
        found, reason = page.closed()
    assert found == code and served.received == []
    assert code != NO_ACCESS or 'terminal' in reason


def test_a_code_is_exchanged_for_the_secret_which_opens_further_pages(served):
    with Page(served) as page:
        told = page.next('welcome')['welcome']
    assert told['session'] == served.server.access.session and told['robot']['name'] == C3P.name
    # an old secret beside a valid code is that of an earlier run on this port
    for first in ({'session': told['session']}, {'session': 'old', 'code': served.code},
                  {'session': told['session'], 'code': 'old'}):
        with Page(served, first) as page:
            assert page.next('welcome')['welcome'] == told


def test_commands_are_acknowledged_and_refusals_have_their_reason(served):
    served.carry_out()
    with Page(served) as page:
        page.next('beat')
        assert page.command('goal', {'x': 1}) == {'ack': 1, 'ok': True, 'text': 'goal sent'}
        assert page.command('goal', {'x': 13}) == {
            'ack': 2, 'ok': False, 'text': 'the stop is pressed; release it first'}
        answer = page.command('nothing')
        assert not answer['ok'] and 'no such command' in answer['text']
    assert served.received == [('goal', {'x': 1})]


@pytest.mark.parametrize('message', [
    {'id': 'a', 'name': 'e_stop', 'body': {}}, {'id': 1, 'name': 'e_stop'},
    {'id': 1, 'name': ['e_stop'], 'body': {}}, {'id': 1, 'name': 'e_stop', 'body': [1]}, '[', '1'])
def test_malformed_commands_end_the_connection(served, message):
    served.carry_out()
    with Page(served) as page:
        page.next('beat')
        page.send(message)
        assert page.closed()[0] == MALFORMED
    assert served.received == []


def test_a_long_message_ends_the_connection(served):
    with Page(served) as page:
        page.next('beat')
        page.send({'id': 1, 'name': 'goal', 'body': {'x': 'a' * 5000}})
        assert page.closed()[0] == 1009


def test_a_goal_of_the_past_is_refused_and_a_stop_never(served):
    # a page, a tunnel or the server may hang; what it delivers afterwards must not drive
    with Page(served) as page:
        page.next('beat')
        page.send({'id': 1, 'name': 'goal', 'body': {}, 'beat': 0, 'since': 0.0})
        page.send({'id': 2, 'name': 'goal', 'body': {}})
        page.send({'id': 3, 'name': 'goal', 'body': {}, 'beat': page.beat, 'since': float('nan')})
        page.send({'id': 4, 'name': 'e_stop', 'body': {}})
        served.carry_out()
        answers = {answer['ack']: answer for answer in (page.next('ack') for _ in range(4))}
    assert [answers[k]['ok'] for k in (1, 2, 3, 4)] == [False, False, False, True]
    assert 'too old' in answers[1]['text'] and served.received == [('e_stop', {})]


def test_commands_that_wait_too_long_are_refused_by_the_clock():
    now = [0.0]
    done = []
    requests = Requests({name: lambda body, name=name: done.append(name) or name
                         for name in ('goal', 'e_stop')}, lambda: now[0])
    waiting = [requests.submit('goal', {}, 1.0), requests.submit('e_stop', {}, float('inf')),
               requests.submit('goal', {}, 2.5)]
    now[0] = 2.0
    requests.carry_out()
    assert done == ['e_stop', 'goal'] and isinstance(waiting[0].exception(), Refusal)
    assert [one.result() for one in waiting[1:]] == done


def test_commands_of_all_pages_keep_their_order(served):
    with Page(served) as one, Page(served) as other:
        one.next('beat')
        other.next('beat')
        for k in range(20):
            page = (one, other)[k % 2]
            page.send({'id': k, 'name': 'e_stop', 'body': {'k': k}})
            # in the queue before the next one is sent
            wait_for(lambda k=k: served.requests._waiting.qsize() > k)
        served.requests.carry_out()
    assert [body['k'] for _, body in served.received] == list(range(20))


def wait_for(condition):
    """Wait until a condition is true."""
    step = threading.Event()
    for _ in range(int(PATIENCE / 0.005)):
        if condition():
            return
        step.wait(0.005)
    raise AssertionError('not within the patience of the test')


def test_heartbeats_wait_for_their_answer_and_values_for_the_page(served):
    served.carry_out()
    history = served.history
    for k in range(int((KEPT + 10) * RATE)):
        history.add({'t': k / RATE})
    history.set_status({'alive': True})
    with Page(served) as page:
        first = page.next('samples')
        # the earliest of the minute that is kept; one batch until the page has drawn it
        assert first['samples'] == [{'t': 10.0 + k / RATE} for k in range(MOST_SAMPLES)]
        assert first['status'] == {'alive': True}
        assert page.beat == 1
        assert page.command('ping')['ok']
        # the second one follows a second later, with nothing in between
        assert set(page.next()) == {'beat'} and page.beat == 2
        times = [s['t'] for s in first['samples']]
        while len(times) < KEPT * RATE:
            page.send({'ready': True})
            message = page.next('samples')
            assert message['status'] is None
            times += [s['t'] for s in message['samples']]
        assert times == [10.0 + k / RATE for k in range(int(KEPT * RATE))]
        page.send({'ready': True})
        history.add({'t': 71.0})
        assert page.next('samples')['samples'] == [{'t': 71.0}]


def test_pages_that_read_nothing_do_not_delay_the_stop_of_another(served):
    served.carry_out()
    for k in range(int(KEPT * RATE)):
        served.history.add({'t': k / RATE, 'fill': 'a' * 400})
    with contextlib.ExitStack() as stack:
        for _ in range(12):
            deaf = stack.enter_context(Page(served))
            deaf.send({'ready': True})
        page = stack.enter_context(Page(served))
        page.next('beat')
        assert page.command('e_stop')['ok']
    assert ('e_stop', {}) in served.received


def test_a_page_that_goes_away_during_a_message_leaves_no_traceback(served, caplog):
    # more than the buffers of both ends hold
    served.history.set_status({'fill': 'a' * 20_000_000})
    gone = socket.create_connection(('127.0.0.1', served.server.port), timeout=PATIENCE)
    gone.sendall(f'GET /socket HTTP/1.1\r\nHost: {served.host}\r\n'
                 f'Origin: http://{served.host}\r\nUpgrade: websocket\r\n'
                 'Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
                 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'.encode())
    first = json.dumps({'code': served.code}).encode()
    # a text of less than 126 bytes, with a mask of zeros (RFC 6455, 5.2)
    gone.sendall(bytes([0x81, 0x80 | len(first), 0, 0, 0, 0]) + first)
    received = b''
    while b'fill' not in received:
        received += gone.recv(4096)
    # reset, as by a browser that crashes
    gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    gone.close()
    with Page(served) as page:
        page.next('beat')
    served.close()
    gc.collect()
    assert not caplog.text


def test_more_pages_than_the_limit_are_refused_and_the_others_stay(served):
    served.carry_out()
    with contextlib.ExitStack() as stack:
        pages = [stack.enter_context(Page(served)) for _ in range(MOST_PAGES)]
        for page in pages:
            page.next('beat')
        with Page(served) as more:
            code, reason = more.closed()
        assert code == TOO_MANY and 'close one' in reason
        assert pages[0].command('e_stop')['ok'] and pages[-1].command('e_stop')['ok']


def test_closing_ends_connections_and_frees_the_port(served):
    with Page(served) as page:
        page.next('beat')
        served.server.close()
        assert page.closed()[0] in (1000, 1001, 1005, 1006)
    DashboardServer(static_page(), {}, History(), Requests({}), served.server.port).close()


def test_a_used_port_is_an_error_in_one_line(served):
    for port in (served.server.port, 70_000):
        with pytest.raises(ValueError, match='choose another --port'):
            DashboardServer(static_page(), {}, History(), Requests({}), port)
