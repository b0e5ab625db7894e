# SPDX-License-Identifier: Apache-2.0
"""Codes of the live page, the secret of its session, and the names of this computer."""

import pytest

from c3p_viewers.dashboard.access import GRACE, Access, is_loopback, is_own_origin


class Clock:
    """A clock that is set by hand, s."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def code_of(url):
    """Return the code of an address."""
    return url.partition('?code=')[2]


def test_an_address_holds_a_code_and_never_the_secret():
    access = Access(8766, print)
    assert access.session not in access.url
    assert access.url == f'http://127.0.0.1:8766/?code={code_of(access.url)}'
    assert access.redeem(code_of(access.url)) == access.session
    assert access.knows(access.session) and not access.knows(code_of(access.url))


@pytest.mark.parametrize('guess', ['', 'guess', 'ä', '\ud800'])
def test_other_texts_are_no_code_and_no_secret(guess):
    access = Access(8766, print)
    assert access.redeem(guess) == '' and not access.knows(guess)


def test_a_code_expires_a_minute_after_its_first_use_and_the_next_one_is_announced():
    clock, announced = Clock(), []
    access = Access(8766, announced.append, clock)
    first = code_of(access.url)
    # the terminal shows it for hours
    clock.now += 36_000.0
    assert access.redeem(first) and announced == [access.url] and code_of(access.url) != first
    # all tabs of a browser that starts, without a further address
    clock.now += GRACE
    assert access.redeem(first) and len(announced) == 1
    clock.now += 0.1
    assert access.redeem(first) == ''
    assert access.redeem(code_of(announced[0])) == access.session


def test_the_code_of_an_opened_browser_is_apart_from_the_printed_one():
    announced = []
    access = Access(8766, announced.append)
    assert access.redeem(access.new_code()) == access.session
    # the printed address is unused, for a phone
    assert announced == [] and access.redeem(code_of(access.url)) == access.session


@pytest.mark.parametrize(('host', 'known'), [
    ('127.0.0.1:8766', True), ('localhost', True), ('localhost:9999', True), ('[::1]:80', True),
    ('evil.example', False), ('evil@127.0.0.1:8766', False), ('127.0.0.1.evil.example', False),
    ('127.0.0.1:8766@evil.example', False), ('[', False), ('', False), ('localhost:', False),
    ('127.0.0.1:8766\n', False), ('127.0.0.1/', False)])
def test_the_server_answers_to_names_of_this_computer_only(host, known):
    assert is_loopback(host) == known


@pytest.mark.parametrize(('origin', 'own'), [
    ('http://127.0.0.1:8766', True), ('https://127.0.0.1:8766', False),
    ('file://127.0.0.1:8766', False), ('chrome-extension://127.0.0.1:8766', False),
    ('http://127.0.0.1:1', False), ('http://localhost:8766', False), ('null', False), ('', False)])
def test_the_origin_is_compared_with_its_scheme(origin, own):
    assert is_own_origin(origin, '127.0.0.1:8766') == own
