# SPDX-License-Identifier: Apache-2.0
"""
Watch of the drives that must stop: each order has an effect, a deadline, and a harder order.

    torque 0 ──► quick stop ──► voltage off ──► heartbeat withheld ──► holding brakes

A quick stop is expected to slow the wheels (`OrderedStop`), with at least half of the deceleration
that ramp (6085h), torque limits and tyres allow. A drive whose motor turns against its counts
accelerates instead. Where the momentum of the robot shows which one that is (`TorqueSense`), its
voltage is switched off and the others go on braking; otherwise the voltage of all drives is. A
drive that keeps its voltage afterwards receives no heartbeat any more: what remains is its own
reaction to a lost computer (6007h), and the emergency stop on its STO inputs.

The brake of armed wheels after a command timeout is watched in the same way; where it has no
effect a quick stop follows. A slope of `SLOPE` may keep a braked robot in slow motion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from c3p_description.model import GRAVITY, Array, CasterRobot
from c3p_dynamics.traction import braking_deceleration
from c3p_hardware.canopen.cia402 import Target
from c3p_hardware.devices import Drive
from c3p_hardware.drive_motion import REST_SPEED, DriveMotion
from c3p_hardware.problem import RECOVER, Problem
from c3p_hardware.settings import CardSettings
from c3p_hardware.torque_sense import COUNTS, LEADS, SLOPE, TorqueSense
from c3p_kinematics.ordered_stop import Effect, OrderedStop

# fraction of the deceleration by ramp, torque limits and tyres that a quick stop has at least:
# payload, and wheels that stand askew to the motion
LEAST_EFFECT = 0.5

# deceleration of a robot about whose motors and tyres nothing is known, m/s²
UNKNOWN = 1.0

# speed in a quick stop to which a slope or a push may slow a robot that is wired well, m/s: wheels
# that stand askew brake less, and without voltage it would roll away
CREEP_SPEED = 0.15

# time in which a drive must leave its powered states after "voltage off", s: some cycles
OFF_TIME = 0.1

# the brake of the gate must have slowed the robot after this multiple of its time constant
BRAKE_TIME = 8.0

# path after arming on which the senses of the drives are judged while they drive, m: wrong wiring
# shows in the first centimetres, and a floor is not always as good
FIRST_PATH = 1.0

# cycles without joints after which the motion is a new one
MOST_MISSED = 3

FAILURES = (Effect.LATE, Effect.GROWS)

# causes and remedies of wrong senses
TRY = 'try it alone with its wheel off the floor'
WRONG = {
    LEADS: ('its motor turns against its counts: motor leads or 607Eh',
            f'exchange two of its motor leads, or correct its polarity (607Eh), and {TRY}'),
    COUNTS: ('its counts run against its motor: 607Eh, encoder channels or motor leads',
             f'exchange its encoder channels, or correct its polarity (607Eh), and {TRY}')}


class StopWatch:
    """
    Orders of drives that must stop, and the watch of their effect.

    Parameters
    ----------
    robot : CasterRobot
    settings : CardSettings
    drives : sequence of Drive
        The driven ones.
    places : (m,) array of int
        Place of each drive's joint among the efforts of the robot.

    Attributes
    ----------
    motion : DriveMotion
    withheld : bool
        This computer must not send its heartbeat: a drive does not follow "voltage off".
    ignored : bool
        Nor does it react to the missing heartbeat: all holding brakes must close.
    """

    def __init__(self, robot: CasterRobot, settings: CardSettings, drives: Sequence[Drive],
                 places: Array) -> None:
        """Start at rest."""
        self._robot = robot
        self._settings = settings
        self._drives = list(drives)
        self.motion = DriveMotion(robot, settings, drives, places)
        self._places, self._sense = places, TorqueSense(robot, places.tolist())
        self._sensed_at = -math.inf
        self._path = 0.0
        self.release()

    def release(self) -> None:
        """End the stop: the drives may be enabled."""
        # the order to come to rest, the one to slow down, and the brake of armed wheels
        self._stop: OrderedStop | None = None
        self._creep: OrderedStop | None = None
        self._brake: OrderedStop | None = None
        self._rate_at_order = list(self.motion.rate)
        # drives whose voltage is switched off: since when, s
        self._off: dict[int, float] = {}
        self.withheld = False
        # since when it is withheld, s, and whether drives have ignored that
        self._withheld_at = math.inf
        self.ignored = False

    def arm(self) -> None:
        """Judge the senses of the drives again, on the first path after arming."""
        self._path = 0.0
        self._sense.reset()
        self.release()

    # -- senses ----------------------------------------------------------------------------------

    def judge(self, now: float, steering: Array, wheel_rate: Array, steering_rate: Array) -> None:
        """
        Take the joints of a complete cycle, in which the drives may drive or must stop.

        Parameters
        ----------
        now : float, s
        steering, wheel_rate, steering_rate : (n,) arrays, rad and rad/s
        """
        dt = now - self._sensed_at
        self._sensed_at = now
        new = dt > MOST_MISSED * self._settings.period
        self._path += 0.0 if new else self.motion.speed() * dt
        if new or (self._stop is None and self._path > FIRST_PATH):
            self._sense.reset()
            return
        torque = np.zeros(self._robot.efforts)
        torque[self._places] = [d.settings.units.torque(d.torque) for d in self._drives]
        self._sense.step(dt, steering, wheel_rate, steering_rate, torque)

    def wrong_senses(self, now: float) -> Iterator[Problem]:
        """Yield the drives that turn against their counts; their voltage is switched off."""
        for i, kind in self._sense.found:
            drive = self._drives[i]
            cause, remedy = WRONG[kind]
            torque = drive.settings.units.torque(drive.torque)
            self._switch_off(now, [i])
            yield Problem(
                drive.name, 'sense', f'its quick stop does not brake, as {cause} (it reports '
                f'{torque:.2f} N·m at {self.motion.rate[i]:.1f} rad/s, and the robot moves the '
                'other way)', f'{remedy}, {RECOVER}')

    # -- orders ----------------------------------------------------------------------------------

    def target(self, i: int) -> Target:
        """Return the target of drive `i`: quick stop, or voltage off."""
        return (Target.QUICK_STOP if self._settings.quick_stop and i not in self._off
                else Target.DISABLED)

    def step(self, now: float) -> Iterator[Problem]:
        """Yield the orders without an effect, each with the harder order that follows."""
        powered = self.motion.powered()
        if self._stop is None and powered:
            self._begin(now)
        elif not powered and self.motion.at_rest(now):
            # the order is carried out; a drive that gets voltage later is a new one
            self.release()
        if self._stop is None or self._creep is None:
            return
        yield from self.wrong_senses(now)
        rests = self._stop.step(now, self.motion.speed())
        slows = self._creep.step(now, self.motion.speed())
        braking = [i for i in powered if self.target(i) is Target.QUICK_STOP]
        if braking and (slows in FAILURES or rests in FAILURES and not self._sense.well):
            yield self._without_effect(now - self._stop.begun, braking, rests)
            self._switch_off(now, braking)
        # a drive that does not see the end of its quick stop has nothing to brake
        if rests is Effect.RESTS and now - self._stop.begun > self._settings.stop_margin:
            self._switch_off(now, braking)
        yield from self._with_voltage(now, powered)

    def braked(self, now: float, reason: str) -> Iterator[Problem]:
        """Yield the brake of armed wheels, because of `reason`, without effect; '' ends it."""
        if not reason or not self._settings.stop_damping > 0.0:
            self._brake = None
            return
        speed = self.motion.speed()
        if self._brake is None:
            # of wheels that all roll in one direction, as J_xᵀ b J_x
            damping = self._settings.stop_damping * float(
                np.sum(self._robot.driven / self._robot.wheel_radius ** 2))
            decay = self._robot.total_mass / damping
            rest = max(REST_SPEED, GRAVITY * math.sin(SLOPE) * decay)
            self._brake = OrderedStop(max(speed, rest) / (BRAKE_TIME * decay),
                                      self._settings.stop_margin, rest)
            self._brake.begin(now, speed)
            self._rate_at_order = list(self.motion.rate)
        effect = self._brake.step(now, speed)
        if effect in FAILURES:
            what = 'accelerate' if effect is Effect.GROWS else 'do not slow down'
            yield Problem(
                'robot', 'brake', f'the wheels brake ({reason}), but {what}: after '
                f'{now - self._brake.begun:.2f} s {self._rates(range(len(self._drives)))}',
                f'look for a slope, a push, or exchanged motor leads, {RECOVER}')

    def _begin(self, now: float) -> None:
        margin = self._settings.stop_margin
        least = self._deceleration()
        self._stop = OrderedStop(least, margin, REST_SPEED)
        self._creep = OrderedStop(least, margin, CREEP_SPEED)
        for order in (self._stop, self._creep):
            order.begin(now, self.motion.speed())
        self._rate_at_order = list(self.motion.rate)

    def _switch_off(self, now: float, drives: Sequence[int]) -> None:
        for i in drives:
            self._off.setdefault(i, now)

    def _deceleration(self) -> float:
        """Return the least deceleration of a quick stop, m/s²."""
        found = [braking_deceleration(self._robot)]
        found += [d.ramp * lever for d, lever in zip(self._drives, self.motion.lever, strict=True)]
        return LEAST_EFFECT * min((a for a in found if 0.0 < a < math.inf), default=UNKNOWN)

    # -- problems --------------------------------------------------------------------------------

    def _rates(self, drives: Sequence[int]) -> str:
        """Return the rates now and at the order as text."""
        return ', '.join(
            f'{self._drives[i].name} {self.motion.rate[i]:.1f} rad/s, '
            f'{self._rate_at_order[i]:.1f} at the order' for i in drives)

    def _without_effect(self, after: float, braking: Sequence[int], effect: Effect) -> Problem:
        """Return the problem of a quick stop that has not slowed the wheels `after` s."""
        what = 'accelerates' if effect is Effect.GROWS else 'does not brake'
        return Problem(
            'robot', 'stop', f'its quick stop {what}: after {after:.2f} s {self._rates(braking)}; '
            'the voltage is switched off, and the robot rolls', 'one of these drives has a motor '
            'that turns against its counts, or a slope or a push is stronger: check motor leads, '
            f'polarity (607Eh) and encoder channels, one drive at a time, {RECOVER}')

    def _with_voltage(self, now: float, powered: Sequence[int]) -> Iterator[Problem]:
        """Yield the drives that do not follow "voltage off"."""
        for i in powered:
            if self.target(i) is not Target.DISABLED:
                continue
            drive = self._drives[i]
            waited = now - self._off.setdefault(i, now)
            if waited > OFF_TIME:
                self._withheld_at = min(self._withheld_at, now)
                self.withheld = True
                yield Problem(
                    drive.name, 'voltage', 'it does not follow "voltage off": '
                    f'{drive.state.name} for {waited:.2f} s, {self.motion.rate[i]:.1f} rad/s; '
                    'this computer has ended its heartbeat, and the emergency stop (STO) remains',
                    'press the emergency stop, then check its command PDO (1400h) and its '
                    f'firmware, {RECOVER}')
            if now - self._withheld_at > self._settings.heartbeat_timeout + OFF_TIME:
                self.ignored = True
                yield Problem(
                    drive.name, 'ignored', 'it keeps its voltage without a heartbeat: '
                    f'{drive.state.name}, {self.motion.rate[i]:.1f} rad/s; holding brakes are '
                    'closed, and the emergency stop (STO) is the only order that remains',
                    'press the emergency stop, then check its reaction to a lost computer '
                    f'(1016h, 6007h), {RECOVER}')
