# SPDX-License-Identifier: Apache-2.0
"""
Fault trials on a driving robot: every fault that can be scripted, and its consequences.

Cards with a simulated robot, the master, and for its own trial the bus, are separate processes on
pseudo terminals. The robot accelerates to 0.3 m/s; the fault begins while the motors drive. After
the stop the controller keeps commanding. Nothing may move, neither at the end of the fault nor
after ``recover``, until the robot has been armed.
"""

from __future__ import annotations

import contextlib
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from c3p_experiments.card_faults.measures import measured
from c3p_experiments.card_faults.process import TrialError, TrialProcess
from c3p_experiments.card_faults.trials import NO_MESSAGE, SPEED, TRIALS, Trial, TrialOutcome

# duration of a fault, s
DURATION = 1.0
# a pause of the cards of this length disturbs a trial, which is repeated, s
STALL = 0.02
ATTEMPTS = 6
# timeout of each step of a trial, s
PATIENCE = 10.0
DRIVES_WITHIN = 1.5
# duration of each command that must not move the robot, s
PROBE = 0.15


class Laboratory:
    """
    The processes of the trials; use as a context.

    Parameters
    ----------
    parameters : mapping, optional
        Of the hardware interface, by dotted name; else its defaults.
    """

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        """Start no process yet."""
        self._parameters = dict(parameters or {})
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Laboratory:
        """Start the cards; a master starts when it is needed."""
        self._place = Path(self._stack.enter_context(
            tempfile.TemporaryDirectory(prefix='c3p_faults_')))
        self.cards = self._stack.enter_context(TrialProcess('cards'))
        self.master: TrialProcess | None = None
        self.bus: TrialProcess | None = None
        return self

    def __exit__(self, *_: Any) -> None:
        """End all processes."""
        for process in (self.master, self.bus):
            if process is not None:
                process.kill()
        self._stack.close()

    def run(self, trial: Trial) -> TrialOutcome:
        """
        Carry out one trial; repeat it when the computer itself paused meanwhile.

        Raises
        ------
        TrialError
            The robot did not drive.
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

    def _once(self, trial: Trial) -> TrialOutcome:
        self._set_up(wired=trial.script == 'kill bus')
        self._arm()
        self._ask('push', torque=list(trial.push))
        if not self._fast():
            raise TrialError(f'the robot does not drive: {self._ask("status")}')
        begin = self._begin_fault(trial)
        if trial.goes_on:
            return self._continues(trial, begin)
        self._settle(trial, begin)
        message = self._message(trial)
        back = self._back(trial)
        end = self._armed_at
        stop = measured(self.cards.call('record'), begin, end, trial.push)
        self._tear_down()
        return TrialOutcome(trial, stop, message, stop.moved > 2 * SPEED / 30, back)

    # -- the parts of a trial --------------------------------------------------------------------

    def _ask(self, request: str, **values: Any) -> dict[str, Any]:
        """Return the response of the master."""
        assert self.master is not None
        return self.master.call(request, **values)

    def _set_up(self, wired: bool) -> None:
        self._master_end = self._cards_end = str(self._place / 'can')
        if wired:
            self._cards_end = str(self._place / 'cards')
            self._connect_bus()
        self.cards.call('new', channel=self._cards_end, wired=wired)
        if self.master is None:
            self.master = TrialProcess('master')
        self._ask('push', torque=[0.0] * 3)
        self._ask('connect', channel=self._master_end,
                        parameters=self._parameters)

    def _connect_bus(self) -> None:
        self.bus = TrialProcess('bus')
        self.bus.call('lay', one=self._master_end, other=self._cards_end)

    def _tear_down(self) -> None:
        self._ask('close')
        self.cards.call('end')
        if self.bus is not None:
            self.bus.kill()
            self.bus = None

    def _start_again(self) -> None:
        for process in (self.master, self.bus):
            if process is not None:
                process.kill()
        self.master = self.bus = None
        self.cards.call('end')

    def _arm(self) -> None:
        """Command zeros and arm; it takes a cycle or two."""
        self._ask('push', torque=[0.0] * 3)

        def armed() -> bool:
            with contextlib.suppress(TrialError):
                return self._ask('arm')['value'] == 'armed'
            return False

        self._until(armed, 'arm')

    def _fast(self) -> bool:
        """Wait until the robot is fast enough."""
        give_up = time.monotonic() + 2 * DRIVES_WITHIN
        while self.cards.call('now')['speed'] < SPEED:
            if time.monotonic() > give_up:
                return False
            time.sleep(0.005)
        return True

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        give_up = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > give_up:
                raise TrialError(f'the robot did not {what} within {PATIENCE:.0f} s: '
                                 f'{self._ask("status")}')
            time.sleep(0.005)

    def _begin_fault(self, trial: Trial) -> float:
        """Begin the fault; return the time."""
        now = time.monotonic()
        assert self.master is not None
        if trial.script == 'silence controller':
            return self._ask('push', torque=None)['value']
        if trial.script == 'kill master':
            self.master.kill()
            self.master = None
        elif trial.script == 'pause master':
            self.master.signal(signal.SIGSTOP)
        elif trial.script == 'kill bus' and self.bus is not None:
            self.bus.kill()
        else:
            script = ' '.join(part if '+' in part else f'{part}+{DURATION}'
                              for part in trial.script.split())
            return self.cards.call('inject', faults=script)['value']
        return now

    def _settle(self, trial: Trial, begin: float) -> None:
        """Wait for standstill and the end of the fault; restart what was killed."""
        standing = 0
        while time.monotonic() < begin + PATIENCE and (
                standing < 3 or time.monotonic() < begin + DURATION + 2 * PROBE):
            now = self.cards.call('now')
            standing = standing + 1 if now['speed'] < 0.005 and abs(now['turning']) < 0.02 else 0
            time.sleep(0.02)
        self._errors = self.cards.call('now')['errors']
        if trial.script == 'kill master':
            self.master = TrialProcess('master')
            self._ask('push', torque=list(trial.push))
            self._ask('connect', channel=self._master_end,
                            parameters=self._parameters)
        elif trial.script == 'pause master' and self.master is not None:
            self.master.signal(signal.SIGCONT)
        elif trial.script == 'kill bus':
            self._connect_bus()
            self.cards.call('plug', channel=self._cards_end)
        self._command_motion(trial)

    def _command_motion(self, trial: Trial) -> None:
        """Command motion, with zeros in between that would open the gate."""
        torques = (trial.push, trial.push if trial.script == 'silence controller' else (0.0,) * 3,
                   trial.push)
        for torque in torques:
            self._ask('push', torque=list(torque))
            time.sleep(PROBE)

    def _message(self, trial: Trial) -> str:
        status = self._ask('status')
        if trial.script == 'kill master':
            codes = ', '.join(f'{c:04X}h' for c in sorted(set(self._errors)))
            return NO_MESSAGE.format(codes=codes)
        if trial.refused:
            try:
                self._ask('recover')
            except TrialError as error:
                return f'{error}'.split(': ', 2)[2]
            return ''
        # the first one stopped the robot, unless another one has the expected text
        texts = status['faults'] or [status['gate']]
        return next((text for text in texts if trial.message in text), texts[0])

    def _back(self, trial: Trial) -> bool:
        """Recover, command motion, arm, drive; return True when the robot drives."""
        self._armed_at = time.monotonic()
        if trial.script == 'silence controller':
            self._ask('push', torque=[0.0] * 3)
            time.sleep(PROBE)
            return self._drives(trial)
        for first in (True, False, False):
            # again, when the computer paused
            try:
                self._recover()
                if first:
                    self._command_motion(trial)
                    self._armed_at = time.monotonic()
                self._arm()
            except TrialError:
                continue
            if self._drives(trial):
                return True
        return False

    def _drives(self, trial: Trial) -> bool:
        self._ask('push', torque=list(trial.push))
        begin = time.monotonic()
        while time.monotonic() < begin + DRIVES_WITHIN:
            if self.cards.call('now')['speed'] > SPEED / 3:
                return True
            time.sleep(0.01)
        return False

    def _recover(self) -> None:
        def recovered() -> bool:
            with contextlib.suppress(TrialError):
                self._ask('recover')
            return self._ask('status')['state'] == 'disarmed'

        self._until(recovered, 'recover')

    def _continues(self, trial: Trial, begin: float) -> TrialOutcome:
        time.sleep(2 * PROBE)
        status = self._ask('status')
        stop = measured(self.cards.call('record'), begin, time.monotonic(), trial.push)
        self._tear_down()
        return TrialOutcome(trial, stop, '; '.join(status['warnings']), False,
                            status['state'] == 'armed' and stop.stand is None)


def run_trials(trials: tuple[Trial, ...] = TRIALS) -> Iterator[TrialOutcome]:
    """Yield the outcome of each trial at the default parameters."""
    with Laboratory() as laboratory:
        for trial in trials:
            yield laboratory.run(trial)
