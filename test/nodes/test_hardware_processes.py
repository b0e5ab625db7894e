# SPDX-License-Identifier: Apache-2.0
"""Interface, controller and bus end without a word while the robot drives: it stops by itself."""

import os
import signal
import time

import numpy as np
import pytest
import yaml

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from card_bench import CRUISE, NODE, PATIENT, SOON, CardBench  # noqa: E402

from c3p_controller.velocity_controller_node import VelocityControllerNode  # noqa: E402
from c3p_hardware.cia301 import NmtState  # noqa: E402
from c3p_hardware.cia402 import DriveState  # noqa: E402
from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402
from c3p_simulation.processes import NodeProcess  # noqa: E402

pytestmark = pytest.mark.slow

# what the drives wait for the heartbeat of their master here, s; a computer of its own needs 0.15
HEARTBEAT_TIMEOUT = 1.0
# starting a process on a busy machine, s
STARTED = 60.0
# from a command of 0.24 m/s; the drives' ramp takes 0.12 s, and the machine its time, s
STOP = 0.12 + 1.5

MODULES = {NODE: 'c3p_hardware.hardware_interface_node',
           'emulated_cards': 'c3p_simulation.emulated_cards_node',
           'velocity_controller': 'c3p_controller.velocity_controller_node'}


class ProcessBench(CardBench):
    """A bench of which some nodes are processes."""

    def start(self, name, **parameters):
        """Start a node in a process of its own."""
        file = self.place / f'{name}_{len(self.processes)}.yaml'
        file.write_text(yaml.safe_dump({name: {'ros__parameters': parameters}}))
        process = NodeProcess(name, MODULES[name], ['--params-file', str(file)],
                              file.with_suffix('.log'))
        self.processes.append(process)
        self.health.pop(name, None)
        return process

    def end(self, process, number):
        """Send a signal and wait for the end of the process; return how it ended."""
        os.kill(process.pid, number)
        return self.wait_for(process.ended, f'the end of {process.name}', SOON)

    def wait_for_drive(self):
        """Drive as soon as the interface is there, all wheels with torque."""
        self.wait_for(lambda: self.joints, 'joint states', STARTED)
        self.drive_in_the_end(lambda: self.rates() > 0.7 * CRUISE and all(
            d.drive.state is DriveState.OPERATION_ENABLED and d.drive.target > 0
            for d in self.cards.drives), 'driving')

    def follow_until(self, condition):
        """Send a cmd_vel of 0.25 m/s until `condition`; zero first, and after every stop."""
        def command():
            unlocked = self.value('velocity_controller', 'locked') == 'no'
            free = unlocked and self.motors() == 'armed' and not self.said_by_node('they brake')
            self.command(0.0, 0.25 if free else 0.0, 0.0)

        due = 0.0

        def commanded():
            nonlocal due
            if time.monotonic() >= due:
                due = time.monotonic() + 0.02
                command()
            return condition()

        self.drive_in_the_end(commanded, 'driving')

    def travel(self):
        """Return the true position of the robot, m."""
        return np.array(self.cards.truth.pose[:2])


@pytest.fixture
def bench(tmp_path):
    bench = ProcessBench(tmp_path)
    yield bench
    bench.close()


def test_an_interface_that_is_ended_or_killed_leaves_drives_that_stop_by_themselves(bench):
    bench.add_cards()
    told = {**bench.parameters(), 'autostart': 'active', 'heartbeat_timeout': HEARTBEAT_TIMEOUT}
    # SIGINT: the node takes the voltage away before it goes
    process = bench.start(NODE, **told)
    bench.wait_for_drive()
    assert 'exit code 0' in bench.end(process, signal.SIGINT)
    assert DriveState.OPERATION_ENABLED not in bench.states()
    bench.wait_for(bench.off_and_at_rest, 'rest', SOON)
    bench.wait_for(bench.pre_operational, 'the end of process data', SOON)
    # SIGKILL: nobody says anything any more, and the last order was to push
    bench.joints.clear()
    process = bench.start(NODE, **told)
    bench.wait_for_drive()
    before, begin = bench.travel(), bench.cards.time
    os.kill(process.pid, signal.SIGKILL)
    bench.wait_for(lambda: bench.rates() < 0.05, 'rest', SOON)
    took, way = bench.cards.time - begin, np.linalg.norm(bench.travel() - before)
    print(f'SIGKILL of the hardware interface at 0.24 m/s: rest after {took:.2f} s and '
          f'{way:.3f} m; the drives wait {HEARTBEAT_TIMEOUT} s for a heartbeat')
    # in the time of the cards, which does not pass while the machine is elsewhere
    assert took < HEARTBEAT_TIMEOUT + STOP
    assert way < 0.04 * 1.5 * CRUISE * took
    bench.wait_for(bench.off_and_at_rest, 'no voltage', SOON)
    # 1029h: who has lost its master takes no orders
    assert {d.state for d in bench.cards.drives} == {NmtState.PRE_OPERATIONAL}
    # a new interface configures them, and moves nothing
    process = bench.start(NODE, **told)
    bench.joints.clear()
    bench.wait_for(lambda: bench.joints, 'joint states', STARTED)
    bench.rests(0.3)
    bench.wait_for_drive()


def test_cards_that_are_killed_are_a_dead_bus_and_are_used_again_when_they_are_back(bench):
    cards = bench.start('emulated_cards', **{'bus.channel': bench.channel})
    node = bench.add_interface(autostart='active')
    bench.wait_for(lambda: bench.joints, 'joint states', STARTED)
    bench.drive_in_the_end(lambda: bench.joints[-1].velocity[3] > 0.7 * CRUISE, 'driving')
    begin = time.monotonic()
    bench.end(cards, signal.SIGKILL)
    bench.wait_for(lambda: bench.motors() == 'fault' and bench.said_by_node('bus: ', '~/recover'),
                   'the dead bus', SOON)
    print(f'SIGKILL of the bus: told after {time.monotonic() - begin:.2f} s, silence_timeout is '
          f'{PATIENT["silence_timeout"]} s')
    refused = bench.enable()
    assert not refused.success and 'bus: ' in refused.message
    answer = bench.ask('recover')
    assert not answer.success and bench.channel in answer.message
    # the bus is closed now: everything is refused with a reason, nothing breaks
    assert not bench.enable().success and bench.ask('quick_stop') and bench.state() == 'active'
    bench.effort, bench.cruise = [0.0] * 3, False
    bench.start('emulated_cards', **{'bus.channel': bench.channel})
    bench.wait_for(lambda: 'emulated_cards' in bench.health, 'the cards', STARTED)
    bench.joints.clear()
    bench.wait_for(lambda: bench.ask('recover').success, 'recovery', SOON)
    bench.wait_for(lambda: bench.joints and max(np.abs(bench.joints[-1].velocity)) < 0.05,
                   'joint states at rest', SOON)
    bench.drive_in_the_end(lambda: bench.joints[-1].velocity[3] > 0.7 * CRUISE, 'driving')
    assert node is bench.nodes[NODE]


def test_wheels_brake_when_the_controller_is_killed(bench):
    bench.effort = None
    # the controller alone publishes wheel_effort
    bench.talker.destroy_publisher(bench.effort_pub)
    bench.add_cards()
    # what takes long to load comes first: it keeps the interpreter from the cycle
    bench.add(SensedKinematicsNode)
    bench.add_interface(autostart='active', command_timeout=0.4)
    process = bench.start('velocity_controller', start_silence=0.2, chain_timeout=1.0,
                          **{'mpc.latency': 0.003})
    bench.wait_for(lambda: bench.value('velocity_controller', 'locked') == 'no', 'unlocking',
                   STARTED)

    def speed():
        return float(np.hypot(*bench.cards.truth.twist[:2]))

    bench.follow_until(lambda: speed() > 0.2)
    begin, before = bench.cards.time, bench.travel()
    os.kill(process.pid, signal.SIGKILL)
    bench.command_until(lambda: speed() < 0.01, 'rest', 0.0, 0.25, 0.0, timeout=SOON)
    took = bench.cards.time - begin
    print(f'SIGKILL of the velocity controller at 0.2 m/s: rest after {took:.2f} s and '
          f'{np.linalg.norm(bench.travel() - before):.3f} m; command_timeout 0.4 s')
    # the interface counts in its own time, which the machine may keep from it while cards go on
    assert took < 0.4 + 2 * STOP
    bench.wait_for(lambda: bench.said_by_node('they brake'), 'the reason', SOON)
    # the drives hold the wheels: the interface itself is well
    assert bench.states() == {DriveState.OPERATION_ENABLED}
    # a controller that comes back begins with zeros, and follows then
    bench.health.pop('velocity_controller')
    bench.add(VelocityControllerNode, **{'mpc.latency': 0.003, 'chain_timeout': 1.0})
    bench.follow_until(lambda: speed() > 0.1)
