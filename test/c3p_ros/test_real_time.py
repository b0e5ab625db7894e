# SPDX-License-Identifier: Apache-2.0
"""Real-time options: each changes what the system reports, or names its remedy."""

import os
import subprocess
import sys
import threading
import time

import pytest

from c3p_ros import real_time
from c3p_ros.real_time import RealTime

# what a child process does, and then prints of itself
CHILD = """
from c3p_ros.real_time import RealTime, apply, describe
try:
    apply(RealTime({options}))
    print(describe() or 'nothing')
except ValueError as error:
    print('refused:', error)
"""


def in_a_child(options):
    """Return what a process with these options prints: they would stay with the tests."""
    return subprocess.run([sys.executable, '-c', CHILD.format(options=options)], text=True,
                          check=True, capture_output=True, timeout=60).stdout.strip()


def test_nothing_is_on_by_default():
    """A process of another priority, as the tests may have, shows that alone."""
    assert in_a_child('') in ('nothing', real_time.describe())


@pytest.mark.parametrize('options, shown, remedy', [
    ('priority=3', 'priority 3', 'limits.conf'),
    ('lock_memory=True', 'memory locked', 'limits.conf'),
    ('awake=True', 'processors stay awake', 'udev'),
])
def test_an_option_is_in_force_or_its_remedy_is_named(options, shown, remedy):
    """Which of both depends on the rights of the tests."""
    text = in_a_child(options)
    assert remedy in text if text.startswith('refused:') else shown in text


def test_the_processors_of_all_threads_are_chosen():
    """With a single processor there is nothing to choose."""
    one = min(os.sched_getaffinity(0))
    text = in_a_child(f'processors=({one},)')
    assert f'processors {one} of' in text or os.cpu_count() == 1


def test_a_processor_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(ValueError, match=r'processors 4000: not possible .* choose from \[0'):
        real_time.set_processors((4000,))


def test_a_file_that_cannot_be_opened_is_an_error_with_the_udev_rule(tmp_path):
    with pytest.raises(ValueError, match='stay awake: not possible .*udev rule'):
        real_time.stay_awake(tmp_path / 'missing' / 'latency')


@pytest.mark.parametrize('wrong', [{'priority': 100}, {'priority': -1}, {'busy_wait': 0.1}])
def test_values_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=f'{next(iter(wrong))} = '):
        RealTime(**wrong)


def test_the_busy_wait_is_spun_and_ends_at_the_deadline(monkeypatch):
    """Processor time shows that the rest is not slept."""
    monkeypatch.setattr(real_time._Held, 'busy_wait', 0.002)
    used, end = 0.0, 0.0
    for _ in range(20):
        begin, end = time.thread_time(), time.monotonic() + 0.004
        real_time.sleep_until(end)
        assert time.monotonic() >= end
        used = max(used, time.thread_time() - begin)
    assert used > 0.001


def test_waiting_on_a_condition_ends_when_nothing_is_left(monkeypatch):
    """A notification shortens it; the last part is spun without the lock."""
    monkeypatch.setattr(real_time._Held, 'busy_wait', 0.001)
    news, begin, early = threading.Condition(threading.Lock()), time.monotonic(), []

    def shorten():
        with news:
            early.append(True)
            news.notify()

    threading.Timer(0.05, shorten).start()
    real_time.wait_on(news, lambda: 0.0 if early else begin + 20.0 - time.monotonic())
    assert 0.05 <= time.monotonic() - begin < 10.0
    end = time.monotonic() + 0.02
    real_time.wait_on(news, lambda: max(end - time.monotonic(), 0.0))
    assert time.monotonic() >= end and news.acquire(blocking=False)


@pytest.fixture
def on_one_processor(monkeypatch):
    """As if this process had real-time priority and a single processor."""
    monkeypatch.setattr(os, 'sched_getscheduler', lambda _: os.SCHED_FIFO)
    monkeypatch.setattr(os, 'sched_getaffinity', lambda _: {1})


def cautions(*overruns):
    watch = real_time.CrowdedProcessor()
    return [bool(watch.caution(count)) for count in overruns]


def test_overruns_of_a_loop_that_starves_the_others_are_a_warning_once(on_one_processor):
    assert cautions(0, 0, 3, 9, 20, 40) == [False, False, False, True, False, False]
    # a delay now and then is of no harm
    assert not any(cautions(0, 3, 3, 5, 5, 6, 6))
    watch = real_time.CrowdedProcessor()
    watch.caution(1)
    text = watch.caution(2)
    assert 'e-stop' in text and 'allow two processors' in text and '--priority' in text


@pytest.mark.parametrize(('scheduler', 'processors'), [
    (os.SCHED_OTHER, {1}), (os.SCHED_FIFO, {1, 2})])
def test_overruns_without_priority_or_with_two_processors_starve_nothing(
        scheduler, processors, monkeypatch):
    monkeypatch.setattr(os, 'sched_getscheduler', lambda _: scheduler)
    monkeypatch.setattr(os, 'sched_getaffinity', lambda _: processors)
    assert not any(cautions(0, 3, 9, 20, 40)) and not real_time.crowded()


def test_a_node_logs_the_warning_once(on_one_processor, bench, monkeypatch):
    from c3p_viewers.marker_node import MarkerNode

    count = iter(range(0, 1000, 10))
    monkeypatch.setattr(MarkerNode, 'metrics', lambda self: {'overruns': next(count)})
    told = []
    monkeypatch.setattr(MarkerNode, 'caution', lambda self, text: told.append(text))
    bench.add(MarkerNode)
    bench.run(5.0)
    assert [text for text in told if text] == [f'the loop overruns, {real_time.CROWDED}']


def test_the_doctor_warns_of_a_process_of_priority_on_one_processor(
        on_one_processor, tmp_path, monkeypatch):
    from c3p_bringup.doctor import computer
    from c3p_bringup.doctor.check import Level

    process = tmp_path / '4711'
    (process / 'fd').mkdir(parents=True)
    (process / 'cmdline').write_bytes(b'python\0/usr/bin/robot_nodes\0--priority\x0050')
    (process / 'status').write_text('VmLck:\t0 kB\n')
    monkeypatch.setattr(os, 'sched_getparam', lambda _: os.sched_param(50))
    *_, found = computer.real_time(tmp_path)
    assert found.level is Level.WARN and 'priority 50' in found.text and 'e-stop' in found.remedy
    monkeypatch.setattr(os, 'sched_getaffinity', lambda _: {1, 2})
    *_, found = computer.real_time(tmp_path)
    assert found.level is Level.OK
