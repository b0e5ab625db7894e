# SPDX-License-Identifier: Apache-2.0
"""Events of a running robot against those of the same messages in a bag."""

import numpy as np
import pytest

from c3p_bags.promises.judged_parameters import JudgedParameters, StopTimes, mux_inputs
from c3p_bags.promises.live_events import BOOL, JOINTS, TWIST, LiveEvents, topics_of
from c3p_bags.promises.promise_judge import PromiseJudge
from c3p_description import load
from c3p_ros.cdr import layout_of, serialized

ROBOT = load('c3p')
LIMIT = float(ROBOT.effort_limit[0])
PLAIN = 'geometry_msgs/msg/Twist'
MUX = mux_inputs({'/twist_mux': {
    'start_silence': 3.0, 'topics.keys.topic': 'keys', 'topics.keys.timeout': 0.5,
    'topics.keys.priority': 90, 'locks.stop.topic': 'stop', 'locks.stop.timeout': 0.0,
    'locks.stop.priority': 255}})
PERIOD = 0.01


def message(kind, texts, **numbers):
    """Return a serialized message with these numbers."""
    data = serialized(kind, texts)
    for name, value in numbers.items():
        slot = layout_of(bytes(data), kind).fields[name]
        code = {'double': '<f8', 'bool': '?'}[slot.kind]
        np.frombuffer(data, code, slot.count, slot.place)[:] = value
    return bytes(data)


def joints(rate, torque):
    """Return joint states with these rates and torques of all wheels."""
    names = [*ROBOT.sensed_joints]
    n = ROBOT.count
    some = {'name': names, 'position': 2 * n, 'velocity': 2 * n, 'effort': 2 * n}
    wheels = np.r_[np.zeros(n), np.ones(n)]
    return message(JOINTS, some, velocity=rate * wheels * np.r_[np.zeros(n), ROBOT.wheel_sign],
                   effort=torque * wheels * np.r_[np.zeros(n), ROBOT.effort_sign[:n]])


def efforts(torque):
    """Return torque commands of all wheels."""
    names = [*ROBOT.effort_places]
    places = list(ROBOT.effort_places.values())
    return message(JOINTS, {'name': names, 'effort': len(names)},
                   effort=torque * ROBOT.effort_sign[places])


def twist(value, kind=TWIST):
    """Return a command."""
    return message(kind, {}, twist=[value, 0, 0, 0, 0, 0])


def judged(messages, mux=MUX, period=0.5):
    """Return the judge of messages (topic, type, times, serialized), looked at each `period`."""
    events = LiveEvents(ROBOT, mux)
    judge = PromiseJudge(JudgedParameters(StopTimes(), mux), 0.0)
    end = max(float(time[-1]) for _, _, time, _ in messages)
    for k in range(1, int(end / period) + 3):
        for topic, kind, time, data in messages:
            some = np.flatnonzero((time >= (k - 1) * period) & (time < k * period))
            if len(some):
                events.take(topic, kind, [data[i] for i in some], time[some])
        for event in events.settled(k * period - 0.05):
            judge.see(event)
    return judge


def drive(stops=3.2, silent=(9.0, 9.0), torque=0.2, driven=3.0):
    """Return the messages of a drive, as in the tests of bags."""
    time = np.arange(0.0, 7.0, PERIOD)
    moving = joints(0.3 / 0.04, 0.2 * LIMIT)
    still = joints(0.0, 0.0)
    sent = time[(time < silent[0]) | (time > silent[1])]
    commanded = time[time < driven]
    return [('joint_states', JOINTS, time, [moving if at < stops else still for at in time]),
            ('wheel_effort', JOINTS, sent, [efforts(torque * LIMIT if at < stops else 0.0)
                                            for at in sent]),
            ('cmd_vel', TWIST, commanded, [twist(0.3)] * len(commanded))]


@pytest.mark.parametrize(('messages', 'name', 'time'), [
    (drive(stops=9.0), 'command-timeout', 5.3), (drive(torque=1.1), 'torque-limits', 0.0),
    (drive(torque=np.nan), 'torque-limits', 0.0), (drive(torque=np.inf), 'torque-limits', 0.0),
    (drive(silent=(1.0, 1.5)), 'gate-opens-by-zero', 1.3)])
def test_planted_breaks_are_named_as_in_a_bag(messages, name, time):
    judge = judged(messages)
    # an infinite torque is none, so that the motors drive without one, too
    assert set(judge.broken) - {'gate-opens-by-zero'} <= {name}
    found = judge.broken[name]
    # of equal events one each 50 ms is judged; an infinite number is placed at the end of its look
    assert found.time == pytest.approx(time, abs=0.07 if time else 0.5)


def test_a_drive_that_stops_breaks_none_however_often_it_is_looked_at():
    for period in (0.02, 0.1, 0.5):
        judge = judged(drive(), period=period)
        assert judge.broken == {}
        assert judge.judged() == ('torque-limits', 'command-timeout', 'gate-opens-by-zero')


@pytest.mark.parametrize('kind', [TWIST, PLAIN])
def test_the_source_of_a_command_is_found_and_locks_count(kind):
    time = np.arange(0.0, 2.0, 0.05)
    values = [0.0 if at < 0.2 else 0.3 for at in time]
    keys = ('keys', kind, time, [twist(value, kind) for value in values])
    passed = ('cmd_vel', kind, time + 0.004, keys[3])
    press = ('stop', BOOL, np.array([1.0]), [message(BOOL, {}, data=True)])
    assert judged([passed, keys]).broken == {}
    found = judged([passed, keys, press]).broken
    assert found['lock-stops'].time == pytest.approx(1.2, abs=0.06)
    # released at 1.3 s, and the source goes on without a zero
    only = (time < 1.0) | (time > 1.4)
    release = ('stop', BOOL, np.array([1.3]), [message(BOOL, {}, data=False)])
    late = ('cmd_vel', kind, time[only] + 0.004, [keys[3][k] for k in np.flatnonzero(only)])
    found = judged([late, keys, press, release]).broken
    assert list(found) == ['no-resume']
    assert found['no-resume'].time == pytest.approx(1.4, abs=0.06)


def test_topics_are_those_of_the_robot_and_of_its_mux():
    assert set(topics_of(None)) < set(topics_of(MUX))
    assert topics_of(MUX)['stop'] == (BOOL, True) and topics_of(MUX)['keys'] == (TWIST, True)
