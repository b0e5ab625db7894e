# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends spinning where everything is whole, and only there."""

import os
import signal
import threading

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_bringup import spinner as module  # noqa: E402
from c3p_bringup.spinner import Spinner  # noqa: E402


@pytest.fixture
def turns(monkeypatch):
    """Count the callbacks of an executor that does nothing else."""
    done = []

    def spin(executor, until, period):
        while not until():
            executor()
            done.append(period)

    monkeypatch.setattr(module, 'spin', spin)
    return done


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_callback_finish_and_then_interrupts_once(turns, number):
    before, finished = signal.getsignal(number), []

    def callback():
        os.kill(os.getpid(), number)
        finished.append(True)

    with Spinner(callback) as spinner:
        with pytest.raises(KeyboardInterrupt):
            spinner.until(lambda: False)
        assert finished == [True] and len(turns) == 1
    # tidying up may spin again
    with Spinner(lambda: None) as spinner:
        spinner.wait(0.01)
    assert len(turns) > 1 and signal.getsignal(number) is before


def test_it_ends_when_the_condition_holds_and_spins_in_other_threads_too(turns):
    def three():
        with Spinner(lambda: None) as spinner:
            spinner.until(lambda: len(turns) >= 3)

    thread = threading.Thread(target=three)
    thread.start()
    thread.join(5.0)
    assert len(turns) == 3
