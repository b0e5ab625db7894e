# SPDX-License-Identifier: Apache-2.0
"""
Watch of the drives that must stop: each order has an effect, a deadline, and a harder order.

    torque 0 ──► quick stop ──► voltage off ──► heartbeat withheld

A quick stop is expected to slow the wheels (`OrderedStop`), with at least half of the deceleration
that ramp (6085h), torque limits and tyres allow. A drive whose motor turns against the counts of
its encoder accelerates instead; where the momentum of the robot shows which one that is
(`TorqueSense`), its voltage is switched off and the others go on braking. Otherwise the voltage of
all drives is. Speeds are those of the counts of each drive alone, since a silent device must not
blind the watch of the others. A drive that keeps its voltage afterwards hears no heartbeat any
more: what remains is its own reaction to a lost computer (6007h), and the emergency stop on its
STO inputs.

The brake of armed wheels after a command timeout is watched in the same way; where it has no
effect a quick stop follows. A slope of `SLOPE` may keep a braked robot in slow motion.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from c3p_description.model import GRAVITY, Array, CasterRobot
from c3p_dynamics.traction import traction_torque
from c3p_hardware.canopen.cia402 import POWERED, Target
from c3p_hardware.devices import Drive
from c3p_hardware.problem import RECOVER, Problem
from c3p_hardware.settings import CardSettings
from c3p_hardware.torque_sense import BOTH, COUNTS, LEADS, TorqueSense
from c3p_kinematics.ordered_stop import Effect, OrderedStop

# fraction of the deceleration by ramp, torque limits and tyres that a quick stop has at least:
# payload, and wheels that stand askew to the motion
LEAST_EFFECT = 0.5

# speed of a wheel at standstill, m/s: 0.2 rad/s of a wheel of 4 cm, some counts per cycle
REST_SPEED = 0.008

# speed in a quick stop to which a slope or a push may slow a robot that is wired well, m/s: wheels
# that stand askew brake less, and without voltage it would roll away
CREEP_SPEED = 0.15

# time for which all wheels must be at rest, s
REST_TIME = 0.05

# time over which a rate is measured, s, and counts within it that are noise of a standstill
RATE_TIME, JITTER = 0.025, 2

# time in which a drive must leave its powered states after "voltage off", s: some cycles
OFF_TIME = 0.1

# deceleration of a robot about whose motors and tyres nothing is known, m/s²
UNKNOWN = 1.0

# path after arming on which the senses of the drives are judged while they drive, m: wrong wiring
# shows in the first centimetres, and a floor is not always as good
FIRST_PATH = 1.0

# the brake of the gate must have slowed the robot after this multiple of its time constant, and
# inclination, rad, on which it may roll on
BRAKE_TIME, SLOPE = 8.0, 0.1

FAILURES = (Effect.LATE, Effect.GROWS)

# cycles without joints after which the motion is a new one
MOST_MISSED = 3

TRY = 'try it alone with its wheel off the floor'
WRONG = {
    LEADS: ('its quick stop does not brake, as its motor turns against its counts: motor leads or '
            '607Eh',
            f'exchange two of its motor leads, or correct its polarity (607Eh), and {TRY}'),
    COUNTS: ('its quick stop does not brake, as its counts run against its motor: 607Eh, encoder '
             'channels or motor leads',
             f'exchange its encoder channels, or correct its polarity (607Eh), and {TRY}'),
    BOTH: ('its motor and its counts turn against the direction of its joint: drives.directions, '
           'or motor and encoder leads', f'change its drives.directions, and {TRY}')}

# kinds with which the control loops in the drive are unstable
UNSTABLE = (LEADS, COUNTS)


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
    withheld : bool
        This computer must not send its heartbeat: a drive does not follow "voltage off".
    """

    def __init__(self, robot: CasterRobot, settings: CardSettings, drives: Sequence[Drive],
                 places: Array) -> None:
        """Start at rest."""
        self._robot, self._settings, self._drives = robot, settings, list(drives)
        # m/s of the contact point, or of a caster about its pivot, per rad/s of the joint
        lever = np.concatenate([robot.wheel_radius, robot.caster_offset])
        self._lever = lever[places].tolist()
        # times and counts of the last moments, and the rates by them, rad/s
        self._counts: list[deque[tuple[float, int]]] = [deque() for _ in self._drives]
        self._rate = [0.0] * len(self._drives)
        self._still_since = math.inf
        self._places, self._sense = places, TorqueSense(robot, places.tolist())
        self._sensed_at = -math.inf
        self._path = 0.0
        self.release()

    def release(self) -> None:
        """End the stop: the drives may be enabled."""
        self._stop: OrderedStop | None = None
        self._brake: OrderedStop | None = None
        self._began_rate = list(self._rate)
        self._off: dict[int, float] = {}
        self.withheld = False

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
        dt, self._sensed_at = now - self._sensed_at, now
        if dt > MOST_MISSED * self._settings.period:
            self._sense.reset()
            return
        self._path += self._speed() * dt
        if self._stop is None and self._path > FIRST_PATH:
            self._sense.reset()
            return
        torque = np.zeros(self._robot.efforts)
        torque[self._places] = [d.settings.units.torque(d.torque) for d in self._drives]
        self._sense.step(dt, steering, wheel_rate, steering_rate, torque)

    def wrong_senses(self, now: float) -> Iterator[Problem]:
        """Yield the drives that turn against their counts; those are not braked by themselves."""
        for i, kind in self._sense.found:
            drive = self._drives[i]
            text, remedy = WRONG[kind]
            if kind in UNSTABLE:
                self._switch_off(now, [i])
            yield Problem(drive.name, 'sense', f'{text} (the robot moves against the torque that '
                          f'it reports, {drive.settings.units.torque(drive.torque):.2f} N·m at '
                          f'{self._rate[i]:.1f} rad/s)', f'{remedy}, {RECOVER}')

    # -- standstill ------------------------------------------------------------------------------

    def see(self, now: float) -> None:
        """Take the counts of the drives that have responded in this cycle."""
        for i, (drive, counts) in enumerate(zip(self._drives, self._counts, strict=True)):
            if not drive.sampled:
                continue
            counts.append((drive.sampled_at, drive.position))
            while drive.sampled_at - counts[0][0] > RATE_TIME:
                counts.popleft()
            span = counts[-1][0] - counts[0][0]
            moved = (counts[-1][1] - counts[0][1] + (1 << 31)) % (1 << 32) - (1 << 31)
            turned = moved * drive.settings.units.angle_resolution
            self._rate[i] = turned / span if span > 0.0 and abs(moved) > JITTER else 0.0
        still = self._speed() <= REST_SPEED
        self._still_since = min(self._still_since, now) if still else math.inf

    def at_rest(self, now: float) -> bool:
        """Return whether all drives respond, without voltage, and have been still for a while."""
        return (all(d.sampled and d.state not in POWERED for d in self._drives)
                and now - self._still_since > REST_TIME)

    def powered(self) -> bool:
        """Return whether a drive that responds has voltage at its motor."""
        return any(d.sampled and d.state in POWERED for d in self._drives)

    def moving(self) -> str:
        """
        Return the joints that turn and the drives with voltage, as text; empty for neither.

        Drives that do not respond are left out: nothing is known about them.
        """
        known = [(i, d) for i, d in enumerate(self._drives) if d.sampled]
        turning = [f'{d.joint} turns at {abs(self._rate[i]):.1f} rad/s' for i, d in known
                   if abs(self._rate[i]) * self._lever[i] > REST_SPEED]
        return ', '.join([*turning, *(f'{d.name} is in {d.state.name}' for _, d in known
                                      if d.state in POWERED)])

    def _speed(self) -> float:
        """Return the largest speed of a joint with a drive that responds, m/s."""
        return max((abs(rate) * lever for drive, rate, lever in zip(
            self._drives, self._rate, self._lever, strict=True) if drive.sampled), default=0.0)

    # -- orders ----------------------------------------------------------------------------------

    def target(self, i: int) -> Target:
        """Return the target of drive `i`: quick stop, or voltage off."""
        return (Target.QUICK_STOP if self._settings.quick_stop and i not in self._off
                else Target.DISABLED)

    def step(self, now: float) -> Iterator[Problem]:
        """Yield the orders without an effect, each with the harder order that follows."""
        powered = [i for i, d in enumerate(self._drives) if d.state in POWERED and d.sampled]
        if self._stop is None and powered:
            self._began_rate = list(self._rate)
            margin, least = self._settings.stop_margin, self._deceleration()
            self._stop = OrderedStop(least, margin, REST_SPEED)
            self._creep = OrderedStop(least, margin, CREEP_SPEED)
            for order in (self._stop, self._creep):
                order.begin(now, self._speed())
        elif not powered and self.at_rest(now):
            # the order is carried out; a drive that gets voltage later is a new one
            self.release()
        if self._stop is None:
            return
        yield from self.wrong_senses(now)
        effect, slowed = (order.step(now, self._speed()) for order in (self._stop, self._creep))
        braking = [i for i in powered if self.target(i) is Target.QUICK_STOP]
        fails = slowed in FAILURES or effect in FAILURES and not self._sense.well
        if braking and fails:
            yield self._without_effect(now, braking, effect)
            self._switch_off(now, braking)
        # at rest there is nothing to brake: an end of the quick stop that the drive does not see
        overdue = now - self._stop.begun > self._settings.stop_margin and effect is Effect.RESTS
        if overdue:
            self._switch_off(now, braking)
        yield from self._with_voltage(now, powered)

    def _switch_off(self, now: float, drives: Sequence[int]) -> None:
        for i in drives:
            self._off.setdefault(i, now)

    def _deceleration(self) -> float:
        """Return the least deceleration of a quick stop, m/s²."""
        robot = self._robot
        force = np.minimum(robot.torque_limit, traction_torque(robot)) / robot.wheel_radius
        found = [float(force[robot.driven].sum()) / robot.total_mass,
                 *(d.ramp * lever for d, lever in zip(self._drives, self._lever, strict=True))]
        known = [a for a in found if 0.0 < a < math.inf]
        return LEAST_EFFECT * min(known, default=UNKNOWN)

    def braked(self, now: float, reason: str) -> Iterator[Problem]:
        """Yield the brake of armed wheels, because of `reason`, that has no effect; '' ends it."""
        if not reason or not self._settings.stop_damping > 0.0:
            self._brake = None
            return
        if self._brake is None:
            # J_xᵀ b J_x of wheels that roll in one direction
            driven = self._robot.driven
            damping = self._settings.stop_damping * float(
                np.sum(driven / self._robot.wheel_radius ** 2))
            decay = self._robot.total_mass / damping
            rest = max(REST_SPEED, GRAVITY * math.sin(SLOPE) * decay)
            self._began_rate = list(self._rate)
            self._brake = OrderedStop(max(self._speed(), rest) / (BRAKE_TIME * decay),
                                      self._settings.stop_margin, rest)
            self._brake.begin(now, self._speed())
        effect = self._brake.step(now, self._speed())
        if effect in FAILURES:
            what = 'accelerate' if effect is Effect.GROWS else 'do not slow down'
            yield Problem('robot', 'brake', f'the wheels brake ({reason}), but {what}: after '
                          f'{now - self._brake.begun:.2f} s {self._rates()}', 'look for a slope, a '
                          f'push, or motor leads that are exchanged, {RECOVER}')

    def _rates(self, drives: Sequence[int] | None = None) -> str:
        """Return the rates now and at the order, of all drives when omitted, as text."""
        return ', '.join(
            f'{self._drives[i].name} {self._rate[i]:.1f} rad/s, {self._began_rate[i]:.1f} at the '
            'order' for i in (range(len(self._drives)) if drives is None else drives))

    def _without_effect(self, now: float, braking: Sequence[int], effect: Effect) -> Problem:
        """Return the problem of a quick stop that does not slow the wheels."""
        assert self._stop is not None
        what = 'accelerates' if effect is Effect.GROWS else 'does not brake'
        return Problem(
            'robot', 'stop', f'its quick stop {what}: after {now - self._stop.begun:.2f} s '
            f'{self._rates(braking)}; the voltage is switched off, and the robot rolls',
            'one of these drives has a motor that turns against its counts, or a slope or a push '
            'is stronger: check motor leads, polarity (607Eh) and encoder channels, one drive at '
            f'a time, {RECOVER}')

    def _with_voltage(self, now: float, powered: Sequence[int]) -> Iterator[Problem]:
        """Yield the drives that do not follow "voltage off"."""
        for i in powered:
            if self.target(i) is not Target.DISABLED:
                continue
            drive, waited = self._drives[i], now - self._off.setdefault(i, now)
            if waited > OFF_TIME:
                self.withheld = True
                yield Problem(
                    drive.name, 'voltage', 'it does not follow "voltage off": '
                    f'{drive.state.name} for {waited:.2f} s, {self._rate[i]:.1f} rad/s; this computer has ended its '
                    'heartbeat, and the emergency stop (STO) remains', 'press the emergency stop, '
                    f'then check its command PDO (1400h) and its firmware, {RECOVER}')
