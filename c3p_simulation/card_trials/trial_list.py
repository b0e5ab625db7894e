# SPDX-License-Identifier: Apache-2.0
"""What is done to the robot in the fault trials, what is promised of it, and what came out."""

from __future__ import annotations

from dataclasses import dataclass

from c3p_simulation.card_trials.trial_measures import Stop

# what the controller commands, N·m, and the speed at which the fault comes, m/s
PUSH, CURVE = (0.25, 0.25, 0.25), (0.35, -0.05, 0.2)
SPEED = 0.3

# what is told of a master that is no more, by the drives
NOBODY = '(nobody is left to tell; the drives tell EMCY {codes})'


@dataclass(frozen=True)
class Trial:
    """
    One fault and what is promised of it.

    Attributes
    ----------
    fault : str
        For the table.
    script : str
        Faults as `emulator.faults`, or ``kill master``, ``pause master``, ``kill bus``,
        ``silence controller``.
    bound : str
        The promise in words.
    cycles : int or None
        SYNC cycles within which no wheel is commanded to drive.
    seconds : float or None
        Time within which no wheel drives, whoever stopped it.
    curve : bool
        Drive a curve instead of straight on.
    tells : str
        What the message must have.
    warns : bool
        The robot goes on, and tells.
    refused : bool
        The first ``recover`` is refused, and its answer is the message.
    """

    fault: str
    script: str
    bound: str
    cycles: int | None = None
    seconds: float | None = None
    curve: bool = False
    tells: str = ''
    warns: bool = False
    refused: bool = False

    @property
    def quiet(self) -> bool:
        """No orders come any more: the drives stop by themselves."""
        return self.script in ('kill master', 'pause master', 'kill bus')

    @property
    def push(self) -> tuple[float, ...]:
        """Torques of the controller, N·m."""
        return CURVE if self.curve else PUSH


@dataclass(frozen=True)
class Outcome:
    """
    What happened in a trial.

    Attributes
    ----------
    trial : Trial
    stop : Stop
    message : str
        What the robot told.
    moved : bool
        It moved before it was armed again.
    back : bool
        ``recover`` and arming brought it back.
    """

    trial: Trial
    stop: Stop
    message: str
    moved: bool
    back: bool

    @property
    def missed(self) -> str:
        """What of the promise was missed, empty when nothing was."""
        stop, trial = self.stop, self.trial
        wrong = []
        if not trial.warns:
            if trial.cycles is not None and (stop.zero is None or stop.cycles > trial.cycles):
                wrong.append(f'{stop.cycles} cycles until no wheel was commanded to drive, '
                             f'at most {trial.cycles}')
            if trial.seconds is not None and stop.driven > trial.seconds:
                wrong.append(f'motors drove for {stop.driven:.3f} s, at most {trial.seconds} s')
            if stop.stand is None:
                wrong.append('the platform did not stand in time')
        if self.trial.tells not in self.message:
            wrong.append(f'the message does not say {self.trial.tells!r}')
        if self.moved:
            wrong.append('it moved before it was armed')
        if not self.back:
            wrong.append('it did not come back')
        return '; '.join(wrong)


# missed_cycles of the parameters is 1: zero torque is ordered in the cycle after the missed one
AT_ONCE, LATE = '2 cycles', 2
# the timeouts of the parameters, and the cycles and steps that it takes to act on them
HEARTBEAT_S, COMMAND_S, TORQUE_S, MARGIN_S = 0.15, 0.2, 0.05, 0.03
HEARTBEAT = 'heartbeat_timeout = 0.15 s, by the drives'
LACK = '1 rad that the wheel lacks against the other casters'

TRIALS = (
    Trial('cable of a drive', 'silence:drive2', AT_ONCE, LATE, tells='silent for'),
    Trial('cable of an encoder', 'silence:encoder1', AT_ONCE, LATE, tells='silent for'),
    Trial('bus-off of a drive', 'bus_off:drive1', AT_ONCE, LATE, tells='silent for'),
    Trial('error of a drive (EMCY 2310h)', 'emcy:drive3', AT_ONCE, 2, tells='2310h'),
    Trial('error of an encoder (EMCY 5530h)', 'emcy=0x5530:encoder2', AT_ONCE, 2, tells='5530h'),
    Trial('mode of a drive changes', 'wrong_mode:drive1', AT_ONCE, 2, tells='mode'),
    Trial('two devices with one node id', 'duplicate_id:drive2', '3 samples too many', 3,
          tells='two devices'),
    Trial('a drive starts anew', 'reboot:drive1', AT_ONCE, LATE, tells='silent for'),
    Trial('an encoder starts anew', 'reboot:encoder3', AT_ONCE, LATE, tells='silent for'),
    Trial('an encoder jumps by 45°', 'encoder_jump=512:encoder1', AT_ONCE, 2, tells='jumped'),
    Trial('an encoder is stuck, in a curve', 'encoder_stuck:encoder1',
          '0.5 rad that it should have turned', None, None, curve=True, tells='stands'),
    Trial('an encoder drifts by 2 rad/s', 'encoder_drift:encoder1',
          '0.5 rad against the other casters', None, None, tells='drifts against'),
    Trial('counts of a drive jump', 'counts_jump:drive1', AT_ONCE, 2, tells='jumped'),
    Trial('counts of a drive stand', 'counts_stuck:drive1', LACK, None, None,
          tells='contradicts'),
    Trial('counts of a drive run backwards', 'counts_negated:drive1', LACK, None, None,
          tells='contradicts'),
    Trial('torque (6077h) of a drive is another', 'wrong_torque:drive1',
          'torque_deviation_time = 0.05 s', None, TORQUE_S + MARGIN_S, tells='6077h'),
    Trial('another master commands a drive', 'second_master:drive1', AT_ONCE, 2,
          tells='another sender'),
    Trial('orders to a drive are lost, heartbeats and SYNC pass', 'orders_lost:drive2',
          'heartbeat_timeout = 0.15 s, by the drive (1400h:5)', None, HEARTBEAT_S + MARGIN_S,
          tells='8250h'),
    Trial('motor supply and electronics off', 'power_cut:drives', AT_ONCE, LATE,
          tells='silent for'),
    Trial('STO of all drives: they coast', 'sto:drives', AT_ONCE, 2, tells='STO'),
    Trial('another drive in its place', 'wrong_serial:drive2+3 power_cut:drive2+0.3', AT_ONCE,
          LATE, tells='serial number', refused=True),
    Trial('a drive is hot (warning bit)', 'over_temperature:drive2', 'goes on, tells',
          tells='warns', warns=True),
    Trial('controller silent: killed, or it hangs', 'silence controller',
          'command_timeout = 0.2 s', None,
          COMMAND_S + MARGIN_S, tells='old'),
    Trial('this node killed (SIGKILL)', 'kill master', HEARTBEAT, None, HEARTBEAT_S + MARGIN_S,
          tells='8130h'),
    Trial('this node stopped for 1 s, goes on', 'pause master', HEARTBEAT, None,
          HEARTBEAT_S + MARGIN_S, tells='PRE_OPERATIONAL'),
    Trial('bus killed', 'kill bus', HEARTBEAT, None, HEARTBEAT_S + MARGIN_S,
          tells='the other end is gone'),
)
