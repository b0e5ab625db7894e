# SPDX-License-Identifier: Apache-2.0
"""Driving by hand, at the server: old commands, and pages that go away."""

import threading

import pytest
from served_page import PATIENCE, Page, Served

from c3p_viewers.dashboard.page_socket import FRESH_BY_HAND


@pytest.fixture
def served():
    """A server on a free port."""
    made = Served()
    yield made
    made.close()


def test_a_command_by_hand_is_refused_earlier_than_a_goal_and_its_end_never(served):
    served.carry_out()
    with Page(served) as page:
        page.next('beat')
        assert page.command('move', {'press': 'a'})['ok']
        assert not page.command('move', {'press': 'a'}, since=-0.5)['ok']
        sent = threading.Event()
        sent.wait(FRESH_BY_HAND + 0.05)
        # of the last heartbeat that the page received, which is older now; a goal may still start
        late = page.command('move', {'press': 'a'})
        assert not late['ok'] and 'too old' in late['text']
        assert page.command('halt', {'press': 'a'}, since=-0.5)['ok']
        assert [name for name, _ in served.received] == ['move', 'halt']


@pytest.mark.parametrize('drove', [True, False])
def test_the_robot_stops_when_the_page_that_drives_it_goes_away(served, drove):
    served.carry_out()
    with Page(served) as page:
        page.next('beat')
        page.command('move' if drove else 'ping', {'press': 'a'})
    closed = threading.Event()
    for _ in range(int(PATIENCE / 0.01)):
        if not served.server._shared.pages:
            break
        closed.wait(0.01)
    with Page(served) as other:
        other.next('beat')
        # after all that was queued before it
        other.command('ping')
    halts = [body for name, body in served.received if name == 'halt']
    assert halts == ([{'press': 'a'}] if drove else [])
