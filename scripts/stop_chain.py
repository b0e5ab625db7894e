# SPDX-License-Identifier: Apache-2.0
"""
Enumerate all states of the stop chain against its promises: the table of docs/safety.md.

Run from the root of the repository: ``python scripts/stop_chain.py [PART …]``; without a part all
of them, about ten minutes on one processor. Ends with 1 and the shortest sequence to a
broken promise, if there is one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

from c3p_controller.command_lock import LATCHED
from c3p_controller.stop_promises import Promise
from c3p_description import load
from c3p_experiments.stop_chain.explore import Machine, explore
from c3p_experiments.stop_chain.hand_machine import HandMachine, hand_promises
from c3p_experiments.stop_chain.mux_machine import MuxMachine, mux_promises
from c3p_experiments.stop_chain.wheel_machine import WheelMachine, wheel_promises

PARTS: dict[str, tuple[Callable[[], Machine], Callable[[], list[Promise]]]] = {
    'hand': (HandMachine, hand_promises),
    'wheels': (lambda: WheelMachine(load('c3p')), wheel_promises),
    'mux': (MuxMachine, mux_promises),
    'mux-latched': (lambda: MuxMachine(LATCHED), mux_promises)}

# pairs of a state and an event that are stepped at most: memory
MOST_PAIRS = 10**8


def main(arguments: Sequence[str] | None = None) -> int:
    """Enumerate the parts that are named, and print a row of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('parts', nargs='*', metavar='PART', help=', '.join(PARTS))
    parser.add_argument('--pairs', type=int, default=MOST_PAIRS, help='of each part, at most')
    given = parser.parse_args(arguments)
    if unknown := [part for part in given.parts if part not in PARTS]:
        parser.error(f'{", ".join(unknown)}: must be of {", ".join(PARTS)}')
    broken = 0
    for part in given.parts or PARTS:
        machine, promises = PARTS[part]
        begun = time.process_time()
        found = explore(machine(), promises(), given.pairs)
        print(f'{part}: {found.states} states, {found.pairs} pairs, depth {found.depth}, '
              f'{"complete" if found.complete else "not complete"}, '
              f'{time.process_time() - begun:.0f} s', flush=True)
        if found.counterexample:
            broken += 1
            print(found.counterexample, flush=True)
    return 1 if broken else 0


if __name__ == '__main__':
    raise SystemExit(main())
