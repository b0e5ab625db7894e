# SPDX-License-Identifier: Apache-2.0
"""The goal on the live page is the present one."""

from c3p_viewers.dashboard.drive_view import CROSSING, DISTANCE_LASTS, REFUSAL_SHOWN, DriveView

REACHED = {'level': 0, 'reason': 'reached', 'why': ''}


def test_a_drive_shows_its_distance_and_not_the_result_of_the_last_goal():
    view = DriveView()
    assert view.status(0.0) == {'to_go': None, 'result': None, 'refused': ''}
    view.on_reached(False)
    view.on_distance(1.234, 0.0)
    assert view.status(0.1) == {'to_go': 1.23, 'result': None, 'refused': ''}
    view.on_reached(True)
    view.on_result(0, 'reached: reached', 5.0)
    # the distance continues while the goal is held
    view.on_distance(0.001, 6.0)
    assert view.status(6.0) == {'to_go': None, 'result': REACHED, 'refused': ''}
    view.on_reached(False)
    view.on_distance(2.0, 7.0)
    assert view.status(7.0) == {'to_go': 2.0, 'result': None, 'refused': ''}


def test_a_result_ends_the_drive_also_if_a_distance_crosses_it():
    view = DriveView()
    view.on_distance(1.0, 0.0)
    view.on_result(1, 'cancelled: cancelled', 0.5)
    view.on_distance(0.9, 0.5 + 0.9 * CROSSING)
    assert view.status(0.6)['to_go'] is None
    assert view.status(0.6)['result'] == {'level': 1, 'reason': 'cancelled', 'why': ''}


def test_a_preempted_goal_and_a_refused_one_do_not_end_the_drive():
    view = DriveView()
    view.on_distance(1.0, 0.0)
    view.on_result(1, 'preempted: by another goal', 0.1)
    view.on_result(2, 'refused: stamp is 20 s old', 0.1)
    assert view.status(0.2) == {'to_go': 1.0, 'result': None, 'refused': 'stamp is 20 s old'}
    view.on_distance(0.5, 0.1 + REFUSAL_SHOWN)
    assert view.status(0.2 + REFUSAL_SHOWN)['refused'] == ''


def test_a_controller_that_ends_without_a_result_does_not_drive():
    view = DriveView()
    view.on_distance(1.0, 0.0)
    assert view.status(DISTANCE_LASTS)['to_go'] == 1.0
    assert view.status(DISTANCE_LASTS + 0.01)['to_go'] is None
