# SPDX-License-Identifier: Apache-2.0
"""
Every fault that can be scripted, done to a robot that is being driven; and what then happens.

Cards with a simulated robot, the master, and where it is to be killed the bus, are processes of
their own on pseudo terminals. The robot is pushed to 0.3 m/s; the fault comes while the motors
push. After the stop the controller goes on commanding: nothing may move, neither when the fault is
over nor after ``recover``, until the robot has been armed.
"""

from __future__ import annotations

import contextlib
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from c3p_simulation.card_trials.trial_list import NOBODY, SPEED, TRIALS, Outcome, Trial
from c3p_simulation.card_trials.trial_measures import measured
from c3p_simulation.card_trials.trial_process import TrialError, TrialProcess

MODULE = 'c3p_simulation.card_trials.trial_'
# a fault lasts so long, s
LASTS = 1.0
# a computer that does not run the cards for so long disturbs a trial, which is done again, s
STALL, ATTEMPTS = 0.02, 6
# how long anything may take that must happen, s
PATIENCE = 10.0
DRIVES_WITHIN = 1.5
# the controller commands so long what must not move the robot, s
TEMPTING = 0.15


class Laboratory:
    """
    The processes of the trials; use as a context.

    Parameters
    ----------
    parameters : mapping, optional
        Of the hardware interface, by dotted name; else its defaults.
    """

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        """Start nothing yet."""
        self._parameters = dict(parameters or {})
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Laboratory:
        """Start the cards; a master starts when it is needed."""
        self._place = Path(self._stack.enter_context(
            tempfile.TemporaryDirectory(prefix='c3p_faults_')))
        self.cards = self._stack.enter_context(TrialProcess(f'{MODULE}cards'))
        self.master, self.bus = None, None
        return self

    def __exit__(self, *_: Any) -> None:
        """End all processes."""
        for process in (self.master, self.bus):
            if process is not None:
                process.end()
        self._stack.close()

    def run(self, trial: Trial) -> Outcome:
        """
        Carry out one trial; again, when the computer itself stood still meanwhile.

        Raises
        ------
        TrialError
            It did not even come to drive.
        """
        for left in reversed(range(ATTEMPTS)):
            try:
                outcome = self._once(trial)
            except TrialError:
                self._start_again()
                if not left:
                    raise
                continue
            if outcome.stop.stall < STALL or not left:
                break
        return outcome

    def _once(self, trial: Trial) -> Outcome:
        self._set_up(wired=trial.script == 'kill bus')
        self._arm()
        self.master.ask('push', torque=list(trial.push))
        if not self._fast():
            raise TrialError(f'it does not drive: {self.master.ask("status")}')
        begin = self._befall(trial)
        if trial.warns:
            return self._warned(trial, begin)
        self._settle(trial, begin)
        message = self._message(trial)
        back = self._back(trial)
        end = self._armed_at
        stop = measured(self.cards.ask('record'), begin, end, trial.push)
        self._tear_down()
        return Outcome(trial, stop, message, stop.moved > 2 * SPEED / 30, back)

    # -- the parts of a trial --------------------------------------------------------------------

    def _set_up(self, wired: bool) -> None:
        self._master_end = self._cards_end = str(self._place / 'can')
        if wired:
            self._cards_end = str(self._place / 'cards')
            self._lay_bus()
        self.cards.ask('new', channel=self._cards_end, wired=wired)
        if self.master is None:
            self.master = TrialProcess(f'{MODULE}master')
        self.master.ask('push', torque=[0.0] * 3)
        self.master.ask('connect', channel=self._master_end,
                        parameters=self._parameters)

    def _lay_bus(self) -> None:
        self.bus = TrialProcess(f'{MODULE}bus')
        self.bus.ask('lay', one=self._master_end, other=self._cards_end)

    def _tear_down(self) -> None:
        self.master.ask('close')
        self.cards.ask('end')
        if self.bus is not None:
            self.bus.end()
            self.bus = None

    def _start_again(self) -> None:
        for process in (self.master, self.bus):
            if process is not None:
                process.end()
        self.master = self.bus = None
        self.cards.ask('end')

    def _arm(self) -> None:
        """Command zeros and arm; a cycle or two pass before it is granted."""
        self.master.ask('push', torque=[0.0] * 3)

        def armed() -> bool:
            with contextlib.suppress(TrialError):
                return self.master.ask('arm')['value'] == 'armed'
            return False

        self._until(armed, 'arm')

    def _fast(self) -> bool:
        """Wait until the robot is fast enough."""
        give_up = time.monotonic() + 2 * DRIVES_WITHIN
        while self.cards.ask('now')['speed'] < SPEED:
            if time.monotonic() > give_up:
                return False
            time.sleep(0.005)
        return True

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        give_up = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > give_up:
                raise TrialError(f'the robot did not {what} within {PATIENCE:.0f} s: '
                                 f'{self.master.ask("status")}')
            time.sleep(0.005)

    def _befall(self, trial: Trial) -> float:
        """Let the fault happen; return when."""
        now = time.monotonic()
        if trial.script == 'silence controller':
            return self.master.ask('push', torque=None)['value']
        if trial.script == 'kill master':
            self.master.end()
            self.master = None
        elif trial.script == 'pause master':
            self.master.signal(signal.SIGSTOP)
        elif trial.script == 'kill bus':
            self.bus.end()
        else:
            script = ' '.join(part if '+' in part else f'{part}+{LASTS}'
                              for part in trial.script.split())
            return self.cards.ask('inject', faults=script)['value']
        return now

    def _settle(self, trial: Trial, begin: float) -> None:
        """Wait until the platform stands and the fault is over; restore what was killed."""
        standing = 0
        while time.monotonic() < begin + PATIENCE and (
                standing < 3 or time.monotonic() < begin + LASTS + 2 * TEMPTING):
            now = self.cards.ask('now')
            standing = standing + 1 if now['speed'] < 0.005 and abs(now['turning']) < 0.02 else 0
            time.sleep(0.02)
        self._errors = self.cards.ask('now')['errors']
        if trial.script == 'kill master':
            self.master = TrialProcess(f'{MODULE}master')
            self.master.ask('push', torque=list(trial.push))
            self.master.ask('connect', channel=self._master_end,
                            parameters=self._parameters)
        elif trial.script == 'pause master':
            self.master.signal(signal.SIGCONT)
        elif trial.script == 'kill bus':
            self._lay_bus()
            self.cards.ask('plug', channel=self._cards_end)
        self._tempt(trial)

    def _tempt(self, trial: Trial) -> None:
        """Command what would move the robot if it could, with a pause that would open the gate."""
        torques = (trial.push, trial.push if trial.script == 'silence controller' else (0.0,) * 3,
                   trial.push)
        for torque in torques:
            self.master.ask('push', torque=list(torque))
            time.sleep(TEMPTING)

    def _message(self, trial: Trial) -> str:
        status = self.master.ask('status')
        if trial.script == 'kill master':
            return NOBODY.format(codes=', '.join(f'{c:04X}h' for c in sorted(set(self._errors))))
        if trial.refused:
            try:
                self.master.ask('recover')
            except TrialError as error:
                return f'{error}'.split(': ', 2)[2]
            return ''
        # the first is what stopped the robot, unless another one says more
        said = status['faults'] or [status['gate']]
        return next((text for text in said if trial.tells in text), said[0])

    def _back(self, trial: Trial) -> bool:
        """Recover, tempt, arm, drive; return whether it drives."""
        self._armed_at = time.monotonic()
        if trial.script == 'silence controller':
            self.master.ask('push', torque=[0.0] * 3)
            time.sleep(TEMPTING)
            return self._drives(trial)
        for first in (True, False, False):
            # again, when the computer stood still for a moment
            try:
                self._recover()
                if first:
                    self._tempt(trial)
                    self._armed_at = time.monotonic()
                self._arm()
            except TrialError:
                continue
            if self._drives(trial):
                return True
        return False

    def _drives(self, trial: Trial) -> bool:
        self.master.ask('push', torque=list(trial.push))
        begin = time.monotonic()
        while time.monotonic() < begin + DRIVES_WITHIN:
            if self.cards.ask('now')['speed'] > SPEED / 3:
                return True
            time.sleep(0.01)
        return False

    def _recover(self) -> None:
        def recovered() -> bool:
            with contextlib.suppress(TrialError):
                self.master.ask('recover')
            return self.master.ask('status')['state'] == 'disarmed'

        self._until(recovered, 'recover')

    def _warned(self, trial: Trial, begin: float) -> Outcome:
        time.sleep(2 * TEMPTING)
        status = self.master.ask('status')
        stop = measured(self.cards.ask('record'), begin, time.monotonic(), trial.push)
        self._tear_down()
        return Outcome(trial, stop, '; '.join(status['warnings']), False,
                       status['state'] == 'armed' and stop.stand is None)


def run_trials(trials: tuple[Trial, ...] = TRIALS) -> Iterator[Outcome]:
    """Yield the outcome of each of the trials, at the default parameters."""
    with Laboratory() as laboratory:
        for trial in trials:
            yield laboratory.run(trial)
