# SPDX-License-Identifier: Apache-2.0
"""
A mux that is killed and started again at any moment, between presses, releases and commands.

What publishers have latched is received again after a start; what they did not latch is lost, and
so is all that the mux knew. No clock and no middleware: the objects of the node, driven by hand.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from c3p_controller.command_lock import Lock
from c3p_controller.twist_mux import Input, TwistMux

SOURCES = (Input('joystick', 'cmd_vel_joy', 0.5, 100), Input('other', 'cmd_vel_other', 0.5, 10))
LOCKS = (Lock('e_stop', 'e_stop', 0.0, 255),)
PUBLISHERS = ('button', 'panel')

EVENTS = st.lists(st.one_of(
    st.tuples(st.just('restart')),
    st.tuples(st.just('time'), st.sampled_from([0.02, 0.3, 0.6, 4.0])),
    st.tuples(st.just('command'), st.sampled_from([s.name for s in SOURCES]), st.booleans()),
    # a publisher that latches nothing, and one that latches and is found at some time
    st.tuples(st.just('publish'), st.booleans()),
    st.tuples(st.just('latch'), st.sampled_from(PUBLISHERS), st.booleans()),
    st.tuples(st.just('dies'), st.sampled_from(PUBLISHERS)),
    st.tuples(st.just('found'), st.sampled_from(PUBLISHERS)),
    st.tuples(st.just('release'))), max_size=60)


class Robot:
    """The mux, what publishers keep, and what an operator knows of the e-stop."""

    def __init__(self, **options):
        self.options, self.now, self.latched = options, 0.0, {}
        # the mux answers an operator: pressed, and neither released since nor released unknown
        self.pressed = False
        self.restart()

    def restart(self):
        self.mux = TwistMux(SOURCES, LOCKS, self.now, **self.options)
        self.found = set()

    def act(self, kind, *given):
        """Let one thing happen; return whether a command moved the robot."""
        if kind == 'restart':
            self.restart()
        elif kind == 'time':
            self.now += given[0]
            self.mux.look(self.now)
        elif kind == 'command':
            name, neutral = given
            return self.mux.command(name, neutral, self.now) and not neutral
        elif kind == 'publish':
            self.say(*given)
        elif kind == 'latch':
            name, pressed = given
            self.latched[name] = pressed
            self.say(pressed)
            if name in self.found:
                self.mux.lock('e_stop', pressed, self.now, kept=True)
        elif kind == 'dies':
            self.latched.pop(given[0], None)
            self.found.discard(given[0])
        elif kind == 'found':
            self.find(given[0])
        else:
            self.release()
        return False

    def say(self, pressed):
        self.mux.lock('e_stop', pressed, self.now)
        self.pressed = pressed

    def find(self, name):
        """Receive what a publisher has latched, in the middle of everything else."""
        if name in self.latched and name not in self.found:
            self.found.add(name)
            self.mux.lock('e_stop', self.latched[name], self.now, kept=True)

    def release(self):
        if self.mux.release(self.now):
            self.pressed = False


@settings(max_examples=300)
@given(EVENTS, st.booleans())
def test_a_pressed_e_stop_holds_through_restarts_until_it_is_released(events, resume):
    robot = Robot(resume=resume)
    for event in events:
        moved = robot.act(*event)
        assert not (moved and robot.pressed), events
        assert robot.mux.locked(robot.now) or not robot.pressed, events


@settings(max_examples=300)
@given(EVENTS)
def test_a_restart_opens_nothing_and_moves_nothing(events):
    robot = Robot()
    for event in events:
        robot.act(*event)
    robot.restart()
    assert robot.mux.locked(robot.now)
    for neutral in (True, False, True, False):
        for source in SOURCES:
            assert not robot.mux.command(source.name, neutral, robot.now)
        robot.act('time', 0.6)


@settings(max_examples=300)
@given(EVENTS)
def test_whatever_happened_an_operator_can_drive_again(events):
    """A false on the topic, or a release, and then zero: nothing is locked for ever."""
    robot = Robot()
    for event in events:
        robot.act(*event)
    robot.say(False)
    robot.act('time', 4.0)
    assert robot.mux.command('joystick', True, robot.now)
    assert robot.mux.command('joystick', False, robot.now + 0.1)


def test_a_press_that_is_lost_with_its_publisher_is_not_undone_by_what_another_has_latched():
    """A panel has latched false, a keyboard has pressed and ended, and the mux is killed."""
    robot = Robot()
    robot.act('latch', 'panel', False)
    assert robot.mux.command('joystick', True, 0.0) and robot.act('command', 'joystick', False)
    robot.act('publish', True)
    robot.act('restart')
    robot.act('found', 'panel')
    assert robot.mux.locked(robot.now) and not robot.act('command', 'joystick', False)
    # the press is heard again where it was latched: it is not released as unknown then
    robot.act('latch', 'button', True)
    robot.act('restart')
    robot.act('found', 'button')
    assert robot.mux.release(robot.now) == () and robot.mux.locked(robot.now)
