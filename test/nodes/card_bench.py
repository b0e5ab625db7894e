# SPDX-License-Identifier: Apache-2.0
"""A bench whose robot stands behind emulated motor cards, and somebody who drives it."""

import itertools

import numpy as np
from lifecycle_msgs.srv import ChangeState, GetState
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile
from ros_bench import Bench
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from virtual_time import RealTime

from c3p_hardware.canopen.cia301 import NmtState
from c3p_hardware.canopen.cia402 import DriveState
from c3p_hardware.hardware_interface_node import HardwareInterfaceNode
from c3p_simulation.emulated_cards_node import EmulatedCardsNode

NODE = 'hardware_interface'

# cards, master and controllers in several processes may share one busy processor: a machine that
# stops for half a second must not look like a fault, s and Hz
PATIENT = {'rate': 100.0, 'heartbeat_period': 0.1, 'heartbeat_timeout': 5.0,
           'silence_timeout': 1.2, 'command_timeout': 0.8, 'arming_timeout': 10.0}
# nothing takes longer unless it is broken, also beside other programs, s
SOON = 60.0

# the wheels' rate at which a test drives, rad/s and N·m·s/rad; casters behind their pivots
CRUISE, GAIN = 6.0, 0.06
# a wheel below this rate stands, rad/s
STANDS = 0.05


class CardBench(Bench):
    """
    A bench with a channel for the bus; cards and interface are added by tests.

    Parameters
    ----------
    place : Path, optional
        A folder, where one end of the bus is in another process, which takes real time.

    Attributes
    ----------
    effort : list of float or None
        What is commanded at each joint_states; None commands nothing.
    cruise : bool
        Command what turns all wheels at CRUISE instead.
    """

    def __init__(self, place=None):
        # python-can's virtual bus within this process; a pseudo terminal towards another
        super().__init__(RealTime() if place else None)
        self.interface, self.place = 'serial' if place else 'virtual', place
        self.channel = str(place / 'can') if place else f'bench {id(self)}'
        self.effort, self.cruise, self.processes = [0.0] * 3, False, []
        self.joints, self._clients = [], {}
        self.effort_pub = self.talker.create_publisher(JointState, 'wheel_effort', QoSProfile(
            depth=1))
        self.talker.create_subscription(JointState, 'joint_states', self._on_joints, 10)
        self.truth = self.collect(Odometry, 'ground_truth/odom', 10, keep=1)

    def _on_joints(self, message):
        self.joints.append(message)
        del self.joints[:-20]
        effort = self.effort
        if effort is not None and self.cruise:
            rate = np.array(message.velocity[3:])
            effort = np.clip(GAIN * (CRUISE - rate), -0.5, 0.5).tolist()
        if effort is not None:
            answer = JointState(name=message.name[3:], effort=effort)
            answer.header.stamp = message.header.stamp
            self.effort_pub.publish(answer)

    def add_cards(self, **parameters):
        """Switch the cards on in this process, and remember every controlword that they get."""
        interface = 'pty' if self.interface == 'serial' else self.interface
        node = self.add(EmulatedCardsNode, **{
            'bus.interface': interface, 'bus.channel': self.channel, **parameters})
        self.cards, self.words = node.cards, []
        for drive in self.cards.drives:
            def take(word, drive=drive, command=drive.drive.command):
                self.words.append(word)
                command(word)
            drive.drive.command = take
        return node

    def add_interface(self, **parameters):
        """Start the hardware interface in this process."""
        return self.add(HardwareInterfaceNode, **{**self.parameters(), **parameters})

    def parameters(self):
        """Return the parameters of a hardware interface on the bench's bus."""
        return {'bus.interface': self.interface, 'bus.channel': self.channel,
                **(PATIENT if self.place else {})}

    # -- the node's services ---------------------------------------------------------------------

    def call(self, kind, service, request=None):
        """Call a service and return its answer; each service has one client, made once."""
        if service not in self._clients:
            self._clients[service] = self.talker.create_client(kind, service)
        client = self._clients[service]
        self.wait_for(client.service_is_ready, f'service {service}', SOON)
        answer = client.call_async(request or kind.Request())
        self.wait_for(answer.done, f'the answer of {service}', SOON)
        return answer.result()

    def change(self, transition):
        """Ask for a transition of the life cycle; return whether it succeeded."""
        request = ChangeState.Request()
        request.transition.label = transition
        return self.call(ChangeState, f'{NODE}/change_state', request).success

    def state(self):
        """Return the state of the life cycle."""
        return self.call(GetState, f'{NODE}/get_state').current_state.label

    def enable(self, wanted=True):
        """Ask to arm, or to disarm; return the answer."""
        return self.call(SetBool, f'{NODE}/enable', SetBool.Request(data=wanted))

    def ask(self, service):
        """Call a Trigger of the node and return its answer."""
        return self.call(Trigger, f'{NODE}/{service}')

    def inject(self, script):
        """Let faults happen as a user would."""
        self.publisher(String, 'emulated_cards/inject').publish(String(data=script))

    def end_faults(self):
        """End all faults that were injected."""
        self.cards._schedule.clear()
        self.wait_for(lambda: not self.cards.present_faults and all(
            device.alive for device in self.cards.devices.values()), 'the end of the faults', SOON)

    def said_by_node(self, *words):
        """Return whether the last status of the node has all these words."""
        status = self.health.get(NODE)
        return status is not None and all(word in status.message for word in words)

    def motors(self):
        """Return what the node says that the motors are allowed."""
        return self.value(NODE, 'motors')

    # -- what the cards know ---------------------------------------------------------------------

    def states(self):
        """Return the set of states of the emulated drives."""
        return {drive.drive.state for drive in self.cards.drives}

    def rates(self):
        """Return the largest true rate of a wheel, rad/s."""
        return float(np.abs(self.cards.sample.wheel_rate).max())

    def without_torque(self):
        """Return whether no drive follows a torque any more: disabled, or braking at its ramp."""
        return DriveState.OPERATION_ENABLED not in self.states()

    def pre_operational(self):
        """Return whether all devices have left the exchange of process data."""
        return {device.state for device in self.cards.devices.values()} == {
            NmtState.PRE_OPERATIONAL}

    def off_and_at_rest(self):
        """Return whether no motor has voltage and no wheel turns."""
        return self.rates() < STANDS and all(
            drive.drive.state in (DriveState.SWITCH_ON_DISABLED, DriveState.FAULT)
            and drive.drive.torque_actual == 0 for drive in self.cards.drives)

    # -- courses of events -----------------------------------------------------------------------

    def answered(self):
        """Let the node hear zeros: there is a fresh command."""
        self.effort, self.cruise = [0.0] * 3, False
        self.joints.clear()
        self.wait_for(lambda: len(self.joints) > 5, 'joint_states', SOON)

    def arm(self):
        """Arm the motors, repeating what a busy machine has let grow old."""
        for attempt in itertools.count():
            self.answered()
            answer = self.enable()
            if answer.success:
                return
            assert 'fresh' in answer.message and attempt < 20, answer.message

    def drive(self):
        """Arm and drive until the wheels turn as fast as is wanted."""
        self.arm()
        self.push_until(lambda: self.rates() > 0.7 * CRUISE, 'driving')

    def push_until(self, condition, what, effort=None):
        """
        Command `effort`, or else what turns all wheels at CRUISE, until `condition` is true.

        On a busy machine a command may grow too old; then zeros come first, as from a user.
        """
        def look():
            braked = self.said_by_node('they brake')
            self.cruise = effort is None and not braked
            self.effort = [0.0] * 3 if effort is None or braked else effort
            return condition()

        self.wait_for(look, what, SOON)

    def drive_in_the_end(self, condition, what):
        """
        Arm and drive until `condition`, whatever a machine that starts processes does meanwhile.

        It may starve bus and commands for seconds, which is a fault: then recover and arm again.
        Nothing but zeros and CRUISE is commanded; nothing where `effort` is None.
        """
        def look():
            motors, silent = self.motors(), self.effort is None
            self.cruise = motors == 'armed' and not self.said_by_node('they brake') and not silent
            if motors == 'fault':
                self.ask('recover')
            elif motors == 'disarmed':
                self.enable()
            return condition()

        self.wait_for(look, what, 2 * SOON)

    def rests(self, seconds):
        """Fail when anything is enabled, or moves, within `seconds` though commands come."""
        self.words.clear()
        before = self.cards.time

        def still():
            assert self.without_torque() and self.rates() < STANDS, self.story()
            return self.cards.time > before + seconds

        self.wait_for(still, 'time', SOON)
        assert not any(word & 0x0F == 0x0F for word in self.words), 'somebody enables a drive'

    def close(self):
        """End processes and nodes."""
        for process in self.processes:
            process.stop()
        super().close()
