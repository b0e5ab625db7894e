# SPDX-License-Identifier: Apache-2.0
"""Steps that exceed their cycle are reported, but not for ever."""

from c3p_ros.cycle import SHOWN, StepWatch


def test_the_longest_step_is_that_since_the_last_call():
    watch = StepWatch()
    for taken in (0.001, 0.003, 0.002):
        watch.add(taken, 0.005)
    assert watch.longest() == 0.003
    watch.add(0.002, 0.005)
    assert watch.longest() == 0.002 and watch.longest() == 0.0 and watch.count == 4


def test_a_late_step_is_reported_for_a_while_in_the_time_of_the_loop():
    watch = StepWatch()
    watch.add(0.012, 0.01)
    assert '12.0 ms for a cycle of 10.0 ms; 1 of 1' in watch.late()
    for _ in range(int(0.9 * SHOWN / 0.01)):
        watch.add(0.001, 0.01)
    assert watch.late()
    for _ in range(int(0.2 * SHOWN / 0.01)):
        watch.add(0.001, 0.01)
    assert not watch.late()


def test_a_cycle_of_unknown_length_is_never_too_short():
    watch = StepWatch()
    watch.add(100.0, None)
    assert not watch.late() and watch.longest() == 100.0
