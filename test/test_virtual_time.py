# SPDX-License-Identifier: Apache-2.0
"""The virtual clock of the tests: order of threads and timers, and equal runs."""

import queue
import threading
import time

import pytest
from virtual_time import VirtualTime


@pytest.fixture
def virtual():
    with VirtualTime().installed() as clock:
        yield clock


def test_threads_wake_in_the_order_of_their_times_and_never_early(virtual):
    seen, begin = [], time.monotonic()

    def sleep_twice(name, first, second):
        for seconds in (first, second):
            time.sleep(seconds)
            seen.append((name, round(time.monotonic() - begin, 3)))

    threads = [threading.Thread(target=sleep_twice, args=given) for given in (
        ('a', 0.3, 0.3), ('b', 0.1, 3600.0), ('c', 0.3, 0.0))]
    for thread in threads:
        thread.start()
    assert not seen, 'nothing runs before the test lets time pass'
    virtual.advance(1.0)
    assert seen == [('b', 0.1), ('a', 0.3), ('c', 0.3), ('c', 0.3), ('a', 0.6)]
    for thread in threads:
        thread.join()
    assert seen[-1] == ('b', 3600.1)


def test_a_notification_comes_before_the_timeout_and_a_timeout_at_its_time(virtual):
    given, heard = queue.Queue(), []

    def listen():
        while (found := given.get(timeout=10.0)) is not None:
            heard.append(found)
        with pytest.raises(queue.Empty):
            given.get(timeout=0.5)
        heard.append(round(time.monotonic() - begin, 2))

    thread, begin = threading.Thread(target=listen), time.monotonic()
    thread.start()
    time.sleep(0.2)
    for number in (1, 2, None):
        given.put(number)
    thread.join(0.4)
    assert heard == [1, 2] and thread.is_alive()
    thread.join(0.4)
    assert heard == [1, 2, 0.7] and not thread.is_alive()


def test_the_test_waits_for_events_of_threads_while_timers_wait_for_it(virtual):
    done, ticks = threading.Event(), []
    timer = virtual.add_timer(0.1, lambda: ticks.append(round(time.monotonic() - begin, 2)))
    thread = threading.Thread(target=lambda: time.sleep(0.25) or done.set())
    begin = time.monotonic()
    thread.start()
    # as in a callback: no other callback runs meanwhile
    assert done.wait(1.0) and not ticks
    assert time.monotonic() - begin == pytest.approx(0.25, abs=1e-3)
    virtual.advance(0.2)
    # one late, and then again at its multiples, as timers of rcl
    assert ticks == [0.25, 0.3, 0.4]
    timer.cancel()
    virtual.stall(1.0)
    assert not virtual.settle() and len(ticks) == 3
    thread.join()


def test_a_thread_that_sleeps_with_a_lock_gets_its_turn_to_release_it(virtual):
    lock, seen = threading.Lock(), []

    def hold():
        with lock:
            time.sleep(0.2)
            seen.append('released')

    thread = threading.Thread(target=hold)
    thread.start()
    virtual.advance(0.1)
    assert not lock.acquire(blocking=False) and not lock.acquire(timeout=0.05)
    with lock:
        assert seen == ['released']
    thread.join()


def test_no_two_looks_at_the_clock_see_the_same_time(virtual):
    looks = [time.time_ns(), time.time_ns(), int(1e9 * time.time())]
    assert looks == sorted(set(looks))
    assert time.perf_counter() < time.monotonic()


def test_two_equal_drives_are_equal_to_the_last_bit():
    pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
    from ros_bench import Bench
    from sensor_msgs.msg import JointState

    def drive():
        bench = Bench()
        try:
            bench.add_robot()
            bench.wait_until_unlocked()
            joints = bench.collect(JointState, 'joint_states')
            bench.goal(0.2, 0.3, 0.4)
            bench.run(1.5)
            return [(m.header.stamp.sec, m.header.stamp.nanosec, *m.position, *m.effort)
                    for m in joints]
        finally:
            bench.close()

    first, second = drive(), drive()
    assert len(first) > 290 and any(first[-1][-3:])
    assert first == second
