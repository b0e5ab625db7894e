# SPDX-License-Identifier: Apache-2.0
"""The hardware interface as a robot's user meets it: arming, driving, bad commands, faults."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from bad_messages import JUNK, bad_efforts  # noqa: E402
from card_bench import CRUISE, NODE, SOON, CardBench  # noqa: E402
from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402

from c3p_hardware.canopen.cia402 import DriveState  # noqa: E402

DEVICES = {f'{NODE}/{kind}_joint_{k}' for kind in ('wheel', 'steering') for k in (1, 2, 3)}


@pytest.fixture(scope='module')
def shared():
    """One robot whose node has been activated; tests leave it in any state."""
    bench = CardBench()
    bench.add_cards()
    bench.add_interface(autostart='active')
    bench.wait_for(lambda: bench.joints, 'joint states', SOON)
    yield bench
    bench.close()


@pytest.fixture
def robot(shared):
    """The shared robot, active, at rest and disarmed."""
    shared.end_faults()
    shared.enable(False)
    # a fault keeps joint states away
    shared.wait_for(lambda: shared.ask('recover').success, 'recovery', SOON)
    shared.answered()
    if shared.state() == 'inactive':
        assert shared.change('activate')
    shared.wait_for(shared.off_and_at_rest, 'rest', SOON)
    assert shared.state() == 'active'
    return shared


@pytest.mark.real_time
def test_arming_needs_a_fresh_command(robot):
    robot.effort = None

    def refused():
        answer = robot.enable()
        # until the last one has grown old
        robot.enable(False)
        return not answer.success and 'no fresh wheel_effort' in answer.message

    robot.wait_for(refused, 'the refusal', SOON)
    robot.wait_for(robot.off_and_at_rest, 'rest', SOON)
    robot.rests(0.1)


@pytest.mark.real_time
def test_arming_needs_a_command_of_zero(robot):
    robot.effort = [0.0, 0.25, 0.0]
    # until it is the newest one
    def refused():
        answer = robot.enable()
        robot.enable(False)
        return not answer.success and '0.25' in answer.message and 'release' in answer.message

    robot.wait_for(refused, 'the refusal', SOON)
    robot.wait_for(robot.off_and_at_rest, 'rest', SOON)
    robot.rests(0.2)


@pytest.mark.real_time
def test_armed_wheels_follow_and_disarmed_ones_stop_for_good(robot):
    robot.drive()
    assert robot.motors() == 'armed' and robot.states() == {DriveState.OPERATION_ENABLED}
    # the robot goes where its wheels push it: 0.24 m/s
    robot.push_until(lambda: np.hypot(*robot.cards.truth.twist[:2]) > 0.5 * 0.04 * CRUISE,
                     'motion')
    again = robot.enable()
    assert again.success, 'arming an armed robot changes nothing'
    assert robot.enable(False).success
    robot.wait_for(robot.off_and_at_rest, 'rest', SOON)
    # the command goes on all the while
    robot.rests(0.3)
    assert robot.enable().success is False


@pytest.mark.real_time
def test_deactivating_while_driving_takes_the_torque_away(robot):
    robot.drive()
    assert robot.change('deactivate')
    robot.wait_for(robot.off_and_at_rest, 'rest', SOON)
    count = len(robot.joints)
    robot.joints.clear()
    robot.rests(0.2)
    assert count and robot.joints, 'joint states go on'
    # active again is not armed again
    assert robot.change('activate')
    robot.rests(0.2)
    robot.drive()


@pytest.mark.real_time
def test_a_quick_stop_brakes_and_stays_until_recovered(robot):
    robot.drive()
    begin, turned = robot.cards.time, robot.cards.sample.wheel_angle.copy()
    answer = robot.ask('quick_stop')
    assert answer.success and 'recover' in answer.message
    robot.wait_for(robot.off_and_at_rest, 'rest', SOON)
    # ramp of 50 rad/s² from 6 rad/s: 0.36 rad; a robot that coasts turns its wheels by 10 rad
    assert np.abs(robot.cards.sample.wheel_angle - turned).max() < 3.0
    assert robot.cards.time > begin
    robot.wait_for(lambda: robot.said_by_node('quick stop', '~/recover'), 'the reason', SOON)
    robot.rests(0.2)
    refused = robot.enable()
    assert not refused.success and 'quick stop' in refused.message
    assert robot.ask('recover').success
    robot.rests(0.2)
    robot.drive()


@pytest.mark.real_time
def test_recover_without_a_fault_says_so(robot):
    # for a moment the stop of the test before may be in progress
    robot.wait_for(lambda: 'no fault to recover from: disarmed' in robot.ask('recover').message,
                   'the answer', SOON)
    assert robot.ask('recover').success


@pytest.mark.real_time
def test_statistics_begin_again_and_figures_are_those_of_a_bus(robot):
    robot.arm()
    robot.wait_for(lambda: float(robot.value(NODE, 'sync_rate_hz') or 0) > 0, 'the rate', SOON)
    assert robot.ask('reset_statistics').success
    cycles = int(robot.value(NODE, 'cycles'))
    robot.health.pop(NODE)
    robot.wait_for(lambda: robot.health.get(NODE), 'diagnostics', SOON)
    assert int(robot.value(NODE, 'cycles')) < cycles + 100 * SOON
    for name in ('bus_load', 'frames_per_s', 'cpu_p50_ms', 'late_p99_ms', 'latency_p50_ms'):
        assert float(robot.value(NODE, name)) > 0, name
    assert float(robot.value(NODE, 'bus_load')) < 0.5
    assert robot.value(NODE, 'faults') == robot.value(NODE, 'error_frames') == '0'


@pytest.mark.real_time
def test_every_device_has_a_status_of_its_own(robot):
    robot.arm()
    robot.wait_for(lambda: set(robot.health) >= DEVICES, 'all devices', SOON)
    robot.wait_for(lambda: robot.value(f'{NODE}/wheel_joint_1', 'state') == 'OPERATION_ENABLED',
                   'the state', SOON)
    drive, encoder = f'{NODE}/wheel_joint_2', f'{NODE}/steering_joint_3'
    robot.wait_for(lambda: robot.value(drive, 'supply voltage [V]') == '24.0', 'voltage', SOON)
    assert robot.value(drive, 'serial number') == '1002'
    assert robot.value(drive, 'temperature [°C]') in ('30', '30.0')
    assert robot.value(drive, 'network state') == 'OPERATIONAL'
    assert 'torque' in robot.value(drive, 'mode')
    assert robot.value(encoder, 'serial number') == '2003'
    assert robot.health[encoder].level == robot.health[drive].level == DiagnosticStatus.OK
    robot.inject('over_temperature=95:drive2@0+2')
    robot.wait_for(lambda: robot.health[drive].level == DiagnosticStatus.WARN, 'warning', SOON)
    robot.wait_for(lambda: robot.value(drive, 'temperature [°C]') in ('95', '95.0'),
                   'temperature', SOON)
    robot.wait_for(lambda: robot.health[drive].level == DiagnosticStatus.OK, 'cooler', SOON)


# -- commands ------------------------------------------------------------------------------------

@pytest.mark.real_time
def test_bad_efforts_are_refused_with_their_reason_and_do_not_disturb_a_drive(robot):
    # the one that drives it: a second publisher is a fault of its own
    publisher = robot.effort_pub
    diagnostics = robot.nodes[NODE].diagnostics
    robot.drive()
    for message, word in bad_efforts(robot.now):
        assert message.header.frame_id == JUNK
        count = diagnostics.refused('wheel_effort')
        robot.publish_until(
            publisher, message, lambda n=count, w=word: (
                diagnostics.refused('wheel_effort') > n and w in diagnostics.status().message),
            f'refusal with {word!r}',
            None if word in ('stale', 'future') else robot.now)
        assert robot.states() == {DriveState.OPERATION_ENABLED}
    robot.push_until(lambda: robot.rates() > 0.5 * CRUISE, 'still driving')
    assert max(abs(d.drive.target) for d in robot.cards.drives) <= 974


@pytest.mark.real_time
def test_commands_beyond_the_limit_are_limited(robot):
    robot.arm()
    robot.push_until(lambda: [d.drive.target for d in robot.cards.drives] == [974, -974, 0],
                     'the limits', [1e3, -1e3, 0.0])


@pytest.mark.real_time
def test_commands_that_stop_coming_brake_the_wheels_until_a_command_of_zero(robot):
    robot.drive()
    robot.effort = None
    robot.wait_for(lambda: robot.said_by_node('they brake'), 'the reason', SOON)
    robot.wait_for(lambda: robot.rates() < 0.5, 'braking', SOON)
    assert robot.states() == {DriveState.OPERATION_ENABLED}
    # commands that come back in the middle of a motion are not followed
    robot.effort, robot.cruise = [0.3] * 3, False
    begin = robot.cards.time
    robot.wait_for(lambda: robot.cards.time > begin + 0.3, 'time', SOON)
    assert robot.rates() < 1.0
    assert robot.motors() == 'armed'
    robot.push_until(lambda: robot.rates() > 0.7 * CRUISE, 'driving')


# -- faults --------------------------------------------------------------------------------------

# script, device as the node calls it, words of the reason and of the remedy
FAULTS = [
    ('silence:drive2', 'wheel_joint_2 (node 2)', ['silent for', 'check its power, cable']),
    ('emcy=0x2310:drive1', 'wheel_joint_1 (node 1)', ['2310h', 'current', '~/recover']),
    ('reboot:drive3', 'wheel_joint_3 (node 3)', ['it has restarted', '~/recover']),
    # so far that no late cycle makes it a turn
    ('encoder_jump=1800:encoder3', 'steering_joint_3 (node 13)', ['jumped by 158', 'cable']),
    ('sto:drive1', 'wheel_joint_1 (node 1)', ['no voltage at the power stage', 'STO']),
    ('power_cut:all', 'bus', ['no device responds', 'check the power of the cards']),
]


@pytest.mark.real_time
@pytest.mark.parametrize('script, device, words', FAULTS, ids=[f[0] for f in FAULTS])
def test_a_fault_of_one_device_stops_all_wheels_until_somebody_recovers_and_arms(
        robot, script, device, words):
    robot.drive()
    robot.inject(script)
    robot.wait_for(robot.without_torque, 'no torque on any wheel', SOON)
    robot.wait_for(lambda: robot.said_by_node(device, *words), f'{device} {words}', SOON)
    assert robot.health[NODE].level == DiagnosticStatus.ERROR and robot.motors() == 'fault'
    robot.wait_for(robot.off_and_at_rest, 'rest', SOON)
    robot.end_faults()
    robot.rests(0.3)
    refused = robot.enable()
    assert not refused.success and device in refused.message
    answer = robot.ask('recover')
    assert answer.success, answer.message
    # recovered is not armed
    robot.rests(0.2)
    robot.drive()


@pytest.mark.real_time
def test_recovering_is_refused_while_the_fault_is_there(robot):
    robot.drive()
    robot.inject('silence:drive2')
    robot.wait_for(lambda: robot.motors() == 'fault', 'the fault', SOON)
    answer = robot.ask('recover')
    assert not answer.success and 'wheel_joint_2 (node 2)' in answer.message
    assert robot.motors() == 'fault'
    robot.wait_for(robot.off_and_at_rest, 'rest', SOON)
    robot.end_faults()
    robot.rests(0.1)
    assert not robot.enable().success
    robot.wait_for(lambda: robot.ask('recover').success, 'recovery', SOON)
    robot.drive()


@pytest.mark.real_time
def test_a_pause_of_the_whole_machine_is_no_fault(robot):
    """Neither cards nor node ran: nobody is to blame, and nothing moves by itself."""
    robot.drive()
    robot.time.stall(0.3)
    robot.push_until(lambda: robot.rates() > 0.5 * CRUISE, 'driving')
    assert robot.motors() == 'armed'
