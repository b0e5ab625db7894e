# SPDX-License-Identifier: Apache-2.0
"""Fault trials: script, promised reaction, and outcome."""

from __future__ import annotations

import math
from dataclasses import dataclass

from c3p_description.model import CasterRobot
from c3p_experiments.card_faults.measures import Stop
from c3p_hardware.stopping import StopCase, reactions, stopping_distance
from c3p_kinematics.joint_watch import OTHERS_SLIP, OWN_SLIP, WHEEL_ANGLE

# torques of the controller, N·m, and the speed at which the fault begins, m/s
PUSH = (0.25, 0.25, 0.25)
CURVE = (0.35, -0.05, 0.2)
SPEED = 0.3
# µ of the analytic plant, whose tyres do not slip
ROUGH = 1e6

# message of a killed master, from the drives
NO_MESSAGE = '(no node is left; the drives send EMCY {codes})'


@dataclass(frozen=True)
class Trial:
    """
    One fault and the promised reaction.

    Attributes
    ----------
    fault : str
        Name in the table.
    script : str
        Faults as `emulator.faults`, or ``kill master``, ``pause master``, ``kill bus``,
        ``silence controller``.
    bound : str
        The promise in words.
    cycles : int or None
        SYNC cycles within which no wheel is commanded to drive.
    seconds : float or None
        Time within which no wheel drives.
    curve : bool
        Drive a curve instead of straight on.
    message : str
        Text that the message must contain.
    goes_on : bool
        The robot drives on with a warning.
    refused : bool
        The first ``recover`` is rejected; its response is the message.
    part : str
        Row of the table of stopping distances; empty where no row holds.
    after : float, s
        Time until the fault can be seen, besides that of the row.
    turn : float, rad
        Turn of a wheel until the fault can be seen.
    """

    fault: str
    script: str
    bound: str
    cycles: int | None = None
    seconds: float | None = None
    curve: bool = False
    message: str = ''
    goes_on: bool = False
    refused: bool = False
    part: str = ''
    after: float = 0.0
    turn: float = 0.0

    @property
    def quiet(self) -> bool:
        """No orders are received any more: the drives stop automatically."""
        return self.script in ('kill master', 'pause master', 'kill bus')

    @property
    def push(self) -> tuple[float, ...]:
        """Torques of the controller, N·m."""
        return CURVE if self.curve else PUSH

    def longest(self, robot: CasterRobot, speed: float) -> float:
        """
        Return the stopping distance by the table, m, at `speed`, m/s; inf without a row.

        Parameters
        ----------
        robot : CasterRobot
        speed : float, m/s
            Largest after the fault: the controller may accelerate until it is seen.
        """
        if not self.part:
            return math.inf
        reaction = next(one for one in reactions() if one.part == self.part)
        return (stopping_distance(robot, StopCase(speed, friction=ROUGH), reaction)
                + speed * self.after + float(robot.wheel_radius.max()) * self.turn)


@dataclass(frozen=True)
class TrialOutcome:
    """
    Outcome of a trial.

    Attributes
    ----------
    trial : Trial
    stop : Stop
    message : str
        Fault or warning of the robot.
    moved : bool
        The robot moved before it was armed again.
    back : bool
        The robot drove again after ``recover`` and arming.
    """

    trial: Trial
    stop: Stop
    message: str
    moved: bool
    back: bool

    @property
    def missed(self) -> str:
        """Missed promises in words; empty without any."""
        stop = self.stop
        trial = self.trial
        wrong = []
        if not trial.goes_on:
            if trial.cycles is not None and (stop.zero is None or stop.cycles > trial.cycles):
                wrong.append(f'{stop.cycles} cycles until no wheel was commanded to drive, '
                             f'at most {trial.cycles}')
            if trial.seconds is not None and stop.driven > trial.seconds:
                wrong.append(f'motors drove for {stop.driven:.3f} s, at most {trial.seconds} s')
            if stop.stand is None:
                wrong.append('the platform did not come to a standstill in time')
        if trial.message not in self.message:
            wrong.append(f'the message does not contain {trial.message!r}')
        if self.moved:
            wrong.append('it moved before it was armed')
        if not self.back:
            wrong.append('it did not come back')
        return '; '.join(wrong)


# missed_cycles of the parameters is 1: zero torque is ordered in the cycle after the missed one
AT_ONCE = '2 cycles'
LATE = 2
# timeouts of the parameters, and a margin for the cycles and steps of the reaction, s
HEARTBEAT_S = 0.15
COMMAND_S = 0.2
TORQUE_S = 0.05
MARGIN_S = 0.03
HEARTBEAT = 'heartbeat_timeout = 0.15 s, by the drives'
LACK = '1 rad of the wheel against the other casters'
# rotation of a wheel after which counts that are stuck lack this, beyond the permitted slip, rad
STUCK_TURN = WHEEL_ANGLE / (1.0 - OWN_SLIP - OTHERS_SLIP)

TRIALS = (
    Trial('cable of a drive', 'silence:drive2', AT_ONCE, LATE, message='silent for',
          part='bus'),
    Trial('cable of an encoder', 'silence:encoder1', AT_ONCE, LATE, message='silent for',
          part='encoder'),
    Trial('bus-off of a drive', 'bus_off:drive1', AT_ONCE, LATE, message='silent for',
          part='bus'),
    Trial('error of a drive (EMCY 2310h)', 'emcy:drive3', AT_ONCE, 2, message='2310h',
          part='motor'),
    Trial('error of an encoder (EMCY 5530h)', 'emcy=0x5530:encoder2', AT_ONCE, 2, message='5530h',
          part='encoder'),
    Trial('mode of a drive changes', 'wrong_mode:drive1', AT_ONCE, 2, message='mode',
          part='motor'),
    Trial('two devices with one node id', 'duplicate_id:drive2', '3 samples too many', 3,
          message='two devices',
          part='encoder'),
    Trial('a drive starts anew', 'reboot:drive1', AT_ONCE, LATE, message='silent for',
          part='motor'),
    Trial('an encoder starts anew', 'reboot:encoder3', AT_ONCE, LATE, message='silent for',
          part='encoder'),
    Trial('an encoder jumps by 45°', 'encoder_jump=512:encoder1', AT_ONCE, 2, message='jumped',
          part='encoder'),
    Trial('an encoder is stuck, in a curve', 'encoder_stuck:encoder1',
          '0.5 rad of missing rotation', None, None, curve=True, message='stuck at'),
    Trial('an encoder drifts by 2 rad/s', 'encoder_drift:encoder1',
          '0.5 rad against the other casters', None, None, message='drifts against',
          part='encoder', after=0.25),
    Trial('counts of a drive jump', 'counts_jump:drive1', AT_ONCE, 2, message='jumped',
          part='encoder'),
    Trial('counts of a drive stuck', 'counts_stuck:drive1', LACK, None, None,
          message='contradicts',
          part='encoder', turn=STUCK_TURN),
    Trial('counts of a drive run backwards', 'counts_negated:drive1', LACK, None, None,
          message='contradicts',
          part='encoder', turn=WHEEL_ANGLE),
    Trial('torque (6077h) of a drive is another', 'wrong_torque:drive1',
          'torque_deviation_time = 0.05 s', None, TORQUE_S + MARGIN_S, message='6077h',
          part='encoder'),
    Trial('another master commands a drive', 'second_master:drive1', AT_ONCE, 2,
          message='another sender',
          part='bus'),
    Trial('orders to a drive are lost, heartbeats and SYNC pass', 'orders_lost:drive2',
          'heartbeat_timeout = 0.15 s, by the drive (1400h:5)', None, HEARTBEAT_S + MARGIN_S,
          message='8250h',
          part='bus'),
    Trial('motor supply and electronics off', 'power_cut:drives', AT_ONCE, LATE,
          message='silent for',
          part='brake'),
    Trial('STO of all drives: they coast', 'sto:drives', AT_ONCE, 2, message='STO',
          part='brake'),
    Trial('another drive in its place', 'wrong_serial:drive2+3 power_cut:drive2+0.3', AT_ONCE,
          LATE, message='serial number', refused=True,
          part='motor'),
    Trial('a drive is hot (warning bit)', 'over_temperature:drive2', 'goes on with a warning',
          message='warns', goes_on=True),
    Trial('controller silent: killed, or it hangs', 'silence controller',
          'command_timeout = 0.2 s', None,
          COMMAND_S + MARGIN_S, message='old',
          part='node'),
    Trial('this node killed (SIGKILL)', 'kill master', HEARTBEAT, None, HEARTBEAT_S + MARGIN_S,
          message='8130h',
          part='process'),
    Trial('this node stopped for 1 s, goes on', 'pause master', HEARTBEAT, None,
          HEARTBEAT_S + MARGIN_S, message='PRE_OPERATIONAL',
          part='process'),
    Trial('bus killed', 'kill bus', HEARTBEAT, None, HEARTBEAT_S + MARGIN_S,
          message='the other end is gone',
          part='bus'),
)
