# SPDX-License-Identifier: Apache-2.0
"""One damaged file: it is read, or refused in one line, and nothing else happens."""

import signal
import sys
import warnings
from contextlib import contextmanager

from hypothesis import settings
from watch import watched

# processor time that one file may take, s: a bound for what runs away, not a measure
MOST_SECONDS = 20.0
# characters of a refusal
LONGEST = 3000


class RanAway(BaseException):
    """A file that took more processor time than any may."""


def count(base):
    """Return how many variants to try: `base`, and fifty times as many when exploring."""
    return max(1, int(base * settings().max_examples / 10))


@contextmanager
def limited():
    """Raise in this thread when a block takes too much processor time."""
    def ring(*_):
        raise RanAway

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def outcome(use, path, refusals, places, allowed=()):
    """
    Return what is wrong with the way in which a file is opened; None when nothing is.

    Parameters
    ----------
    use : callable
        Takes the path.
    path : Path
    refusals : tuple of classes
        By which it may be refused.
    places : sequence of Path
        Where it may read and write.
    allowed : sequence of str
        Audit events that it may cause.
    """
    wrong = None
    with watched(places, allowed) as seen, warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            with limited():
                use(path)
        except RanAway:
            wrong = f'more than {MOST_SECONDS} s of processor time'
        except refusals as error:
            text = f'{error}'
            if type(error) not in refusals:
                wrong = f'{type(error).__name__} instead of {refusals[0].__name__}: {text[:200]}'
            elif len(text) > LONGEST or not text.strip():
                wrong = f'a refusal of {len(text)} characters'
        except Exception as error:
            place = error.__traceback__
            while place.tb_next is not None:
                place = place.tb_next
            wrong = (f'{type(error).__name__}: {str(error)[:200]} in '
                     f'{place.tb_frame.f_code.co_filename}:{place.tb_lineno}')
    return wrong or ('; '.join(seen) or None)


def explain(kind, number, wrong):
    """Return one line for a failure, by which it is found again."""
    print(f'{kind} {number}: {wrong}', file=sys.stderr)
    return f'variant {number}: {wrong}'
