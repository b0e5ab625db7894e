# SPDX-License-Identifier: Apache-2.0
"""A parameter whose 0 disables something accepts 0, its node starts with it, and a test drives it.

The parameters are found by their descriptions in all schemas.
"""

import ast
import math
import re
from dataclasses import replace

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

import numpy as np  # noqa: E402
from robots import C3P  # noqa: E402
from source_tree import ROOT, nodes_of  # noqa: E402

from c3p_bringup import nodes  # noqa: E402
from c3p_controller.limits import ReferenceLimits  # noqa: E402
from c3p_controller.paper.velocity import ReferenceShaper  # noqa: E402
from c3p_description import load  # noqa: E402
from c3p_description.settings import violation  # noqa: E402
from c3p_hardware.joint_commands import FrozenCommand  # noqa: E402
from c3p_hardware.wheel_gate import GateSettings, WheelGate  # noqa: E402
from c3p_kinematics.wheel_following import WheelFollowing  # noqa: E402
from c3p_ros.schema import read_schema  # noqa: E402

SCHEMAS = {path.stem.removesuffix('_parameters'): path
           for path in sorted(ROOT.glob('c3p_*/**/*_parameters.yaml'))}
# what 0 does, as descriptions have it
ZERO = re.compile(r'(?<![\d.])0 (disables|is|for|selects|plays|coasts|never)\b')


def zeros():
    """Return {(schema, parameter): entry} of the parameters whose description has a 0."""
    return {(name, key): entry for name, path in SCHEMAS.items()
            for key, entry in read_schema(path).items()
            if ZERO.search(' '.join(f'{entry.get("description", "")}'.split()))}


HERE = 'test_zero_parameters.py'
PLAYED = ('c3p_bags/player/test_player_node.py::'
          'test_every_message_arrives_in_order_and_commands_do_not')
GIVEN = 'c3p_hardware/test_settings.py::test_one_value_stands_for_all'
ON_THE_BUS = ('nodes/test_hardware_drive.py::'
              'test_a_drive_over_the_bus_ends_where_the_same_drive_without_one_ends')
IDEAL = 'c3p_simulation/plants/test_sensors.py::test_ideal_sensors_change_nothing'
ROBOT = f'{HERE}::test_a_robot_with_all_zeros_drives_to_its_goal'
COASTS = f'{HERE}::test_without_stop_damping_a_closed_gate_lets_the_wheels_coast'
# test that drives the effect of each
DRIVEN = {
    ('player', 'clock'): PLAYED,
    ('player', 'duration'): PLAYED,
    ('position_controller', 'line_approach'): ROBOT,
    ('position_controller', 'progress_timeout'):
        'c3p_controller/goals/test_goal_life.py::test_no_progress_ends_it_and_zero_never_does',
    ('position_controller', 'printed.goal_zone'):
        'c3p_controller/paper/test_paper_position.py::'
        'test_a_goal_that_is_only_a_turn_is_reached_at_once_unless_there_is_no_zone',
    ('sensed_kinematics', 'stamp_jitter'):
        'attacks/test_wheels_that_spin.py::'
        'test_a_spin_that_grows_stops_the_robot_and_its_doubt_covers_the_error',
    ('sensed_kinematics', 'rate_lag'):
        'c3p_kinematics/test_late_rates.py::test_rates_that_do_not_lag_are_taken_to_the_last_bit',
    ('sensed_kinematics', 'sample_skew'):
        'c3p_bags/report/test_slip_events.py::test_the_wheel_that_slips_is_named',
    ('velocity_controller', 'friction_compensation'):
        'test_singular_start.py::test_default_leaves_even_when_friction_is_not_compensated',
    ('velocity_controller', 'escape_jerk'):
        'test_singular_start.py::test_papers_law_creeps_against_friction',
    ('velocity_controller', 'command_smoothing'):
        f'{HERE}::test_without_smoothing_a_command_is_the_reference_at_once',
    ('velocity_controller', 'mpc.ripple_weight'):
        'c3p_controller/predictive/test_box_ddp.py::'
        'test_ripple_is_weighted_while_all_casters_trail',
    ('inverse_dynamics', 'virtual_steering_weight'):
        'test_singular_start.py::test_pseudo_inverse_stays_at_parallel_casters',
    ('module_controller', 'wheel_feedback'):
        f'{HERE}::test_without_feedback_of_wheel_rates_commands_pass_on',
    ('hardware_interface', 'drives.node_ids'): ON_THE_BUS,
    ('hardware_interface', 'drives.serial_numbers'): GIVEN,
    ('hardware_interface', 'encoders.node_ids'): ON_THE_BUS,
    ('hardware_interface', 'encoders.serial_numbers'): GIVEN,
    ('hardware_interface', 'encoders.range'):
        'c3p_hardware/test_settings.py::test_the_range_of_a_single_turn_is_its_counts',
    ('hardware_interface', 'stop_damping'): COASTS,
    ('hardware_interface', 'overspeed_margin'):
        'c3p_hardware/test_drive_watch.py::test_without_margin_or_limit_no_rate_is_too_fast',
    ('hardware_interface', 'torque_tolerance'):
        'c3p_hardware/test_drive_watch.py::test_switched_off_no_torque_deviates',
    ('hardware_interface', 'rpdo_deadline'):
        'c3p_hardware/transport/test_rpdo_deadline.py::test_switched_off_the_object_is_left_alone',
    ('ros2_control_bridge', 'stop_damping'): COASTS,
    ('ros2_control_bridge', 'frozen_timeout'):
        f'{HERE}::test_without_frozen_timeout_no_command_is_frozen',
    ('emulated_cards', 'drive_ids'): ON_THE_BUS,
    ('emulated_cards', 'encoder_ids'): ON_THE_BUS,
    ('emulated_cards', 'drive_serials'): ON_THE_BUS,
    ('emulated_cards', 'encoder_serials'): ON_THE_BUS,
    ('plant', 'slope'): ROBOT,
    ('simulation', 'wheel_counts'): IDEAL,
    ('simulation', 'steering_counts'): IDEAL,
    ('simulation', 'wheel_noise'): IDEAL,
    ('simulation', 'steering_noise'): IDEAL,
    ('simulation', 'hold_at_cycle'): ROBOT,
    ('simulation', 'stop_damping'): COASTS,
}


def value_of(entry):
    """Return a 0 of the type of an entry."""
    zero = 0.0 if entry['type'].startswith('double') else 0
    return [zero] if entry['type'].endswith('array') else zero


def test_each_has_a_test_of_its_effect():
    assert set(DRIVEN) == set(zeros())
    for parameter, test in DRIVEN.items():
        path, name = test.split('::')
        names = {node.name for node in nodes_of(ROOT / 'test' / path)
                 if isinstance(node, ast.FunctionDef)}
        assert name in names, (parameter, test)


@pytest.mark.parametrize('name, key', zeros())
def test_zero_is_within_the_bounds_of_a_parameter_that_describes_it(name, key):
    entry = zeros()[name, key]
    assert violation(key, entry, value_of(entry)) == ''


@pytest.mark.parametrize('name', sorted({name for name, _ in zeros()} & set(nodes.NODES)
                                        - {'player', 'emulated_cards'}))
def test_a_node_starts_with_all_of_its_zeros(bench, name):
    values = {key: value_of(entry) for (owner, key), entry in zeros().items() if owner == name}
    # casters have no modules
    values |= {'robot': 'swerve'} if name == 'module_controller' else {}
    node = bench.add(nodes.node_class(name), **values)
    for key, value in values.items():
        given = node.get_parameter(key).value
        assert (list(given) if isinstance(value, list) else given) == value


def test_without_feedback_of_wheel_rates_commands_pass_on():
    following = WheelFollowing(load('swerve'), 0.05, gain=0.0)
    for commanded in (np.zeros(4), np.full(4, 2.0), np.array([3.0, -1.0, 0.5, 2.0])):
        # whatever the wheels do, one of them blocked
        followed = following.step(commanded, np.array([0.0, 9.0, -5.0, math.nan]), 0.01)
        np.testing.assert_array_equal(followed, commanded)


def test_a_robot_with_all_zeros_drives_to_its_goal(bench):
    """Nothing that 0 disables is needed, and none of the zeros is taken for a limit."""
    values = {}
    for (name, key), entry in zeros().items():
        values.setdefault(name, {})[key] = value_of(entry)
    bench.add_robot(velocity_controller=values['velocity_controller'],
                    position_controller=values['position_controller'],
                    inverse_dynamics=values['inverse_dynamics'],
                    simulation=values['simulation'])
    bench.wait_until_unlocked()
    bench.goal(0.5, 0.2, 0.3)
    bench.run(15.0)
    assert bench.pose() == pytest.approx([0.5, 0.2, 0.3], abs=0.05)


def test_without_stop_damping_a_closed_gate_lets_the_wheels_coast():
    gate = WheelGate(C3P, GateSettings(stop_damping=0.0))
    assert not gate.torque_at(0.0, np.array([3.0, -2.0, 50.0])).any()
    gate.command(np.zeros(3), 0.0)
    gate.command(np.full(3, 0.5), 0.1)
    assert gate.torque_at(0.1, np.ones(3)).all()
    assert not gate.torque_at(1.0, np.ones(3)).any() and not gate.open


def test_without_frozen_timeout_no_command_is_frozen():
    frozen, torque = FrozenCommand(0.0), np.array([0.1, 0.2, 0.3])
    assert not any(frozen.age(torque, now) for now in (0.0, 1.0, 1e6))
    assert FrozenCommand(1.0).age(torque, 0.0) == 0.0


def test_without_smoothing_a_command_is_the_reference_at_once():
    command = np.array([0.3, -0.2, 0.5])
    free = ReferenceLimits(acceleration=np.inf, yaw_acceleration=np.inf, smoothing=0.0)
    twist, _ = ReferenceShaper(free).step(command, 0.0, 0.005)
    assert twist == pytest.approx(command)
    smoothed, _ = ReferenceShaper(replace(free, smoothing=0.04)).step(command, 0.0, 0.005)
    assert (np.abs(smoothed) < 0.2 * np.abs(command)).all()
