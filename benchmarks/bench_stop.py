# SPDX-License-Identifier: Apache-2.0
"""
Time from a press of STOP on the live page until the page states its effect, in Chromium.

The page is pressed by its button, and the time is that of the page's own clock until button or
alert change to one of the outcomes:

    pressed      acknowledged by the node that publishes the stop
    not heard    acknowledged, and no node receives it
    not sent     no acknowledgement

Cases: tabs of one browser beside a simulated robot (``c3p sim --web``), the one in front or one
that the others hide; a dashboard whose process is stopped (SIGSTOP); a dashboard without a robot.

    python benchmarks/bench_stop.py [--tries 20] [--markdown]
"""

from __future__ import annotations

import argparse
import contextlib
import re
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / 'test'))

from headless_browser import Browser, Page  # noqa: E402

# resolves to the outcome and its time, s; changes of the page are observed, since timers of a
# hidden tab run once a second
PRESS = """
new Promise(resolve => {
  const begin = performance.now();
  const outcomes = {STOPPED: "pressed", "NOT HEARD": "not heard"};
  const look = () => {
    const found = el("alert").textContent.includes("NOT sent") ? "not sent"
      : outcomes[el("stop").textContent];
    if (!found) return;
    observer.disconnect();
    resolve([found, (performance.now() - begin) / 1000]);
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, {subtree: true, childList: true, characterData: true});
  el("stop").dispatchEvent(new PointerEvent("pointerdown"));
})
"""
READY = 'connected && status.pressed === false && !status.locked'


class Case(NamedTuple):
    """A case: name, the outcome that is expected, its time limit, s, and what is measured, s."""

    name: str
    outcome: str
    limit: float
    times: list[float]


@contextlib.contextmanager
def running(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a command of c3p; yield its process and the address of the page."""
    process = subprocess.Popen([sys.executable, '-m', 'c3p_bringup', *arguments],
                               stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        assert process.stderr is not None
        yield process, next(found[1] for line in process.stderr
                            if (found := re.search(r'live page: (\S+)', line)))
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def press(page: Page, case: Case) -> None:
    """Press the stop of a page that is ready, and keep the time."""
    outcome, seconds = page.value(PRESS)
    if outcome != case.outcome:
        raise RuntimeError(f'{case.name}: {outcome} after {seconds:.2f} s, expected '
                           f'{case.outcome}')
    case.times.append(seconds)


def release(page: Page) -> None:
    """Release the stop and wait until the page shows it."""
    page.until('connected && status.pressed')
    page.value('el("release").click()')
    page.until(READY)


def tabs(tries: int) -> list[Case]:
    """Press in one of 1, 6 and 12 tabs beside a robot."""
    cases = []
    with running('sim', '--web', '--port', '0') as (_, url), Browser() as first:
        pages: list[Page] = [first]
        for count in (1, 6, 12):
            pages += [first.tab() for _ in range(count - len(pages))]
            for page in pages:
                if page.value('location.href') == 'about:blank':
                    page.open(url)
                page.until('status.mux && status.alive && connected')
            shown = [(f'{count} tab{"s" if count > 1 else ""}', pages[-1])]
            if count == 12:
                shown.append(('12 tabs, one that is hidden', pages[0]))
            for name, page in shown:
                case = Case(name, 'pressed', 0.3, [])
                for _ in range(tries):
                    page.until(READY)
                    press(page, case)
                    release(page)
                cases.append(case)
    return cases


def alone(tries: int) -> list[Case]:
    """Press without a robot, and while the dashboard is stopped."""
    unheard = Case('no mux, no robot', 'not heard', 0.3, [])
    stopped = Case('dashboard stopped (SIGSTOP)', 'not sent', 1.5, [])
    with running('dashboard', '--port', '0', '--robot', 'c3p') as (process, url), \
            Browser() as page:
        page.open(url)
        for case in (unheard, stopped):
            for _ in range(tries):
                page.until(READY)
                if case is stopped:
                    process.send_signal(signal.SIGSTOP)
                try:
                    press(page, case)
                finally:
                    process.send_signal(signal.SIGCONT)
                release(page)
    return [unheard, stopped]


def main(arguments: Any = None) -> int:
    """Measure, print a table; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[1])
    parser.add_argument('--tries', type=int, default=20)
    parser.add_argument('--markdown', action='store_true', help='rows of a table of the docs')
    options = parser.parse_args(arguments)
    missed = False
    for measure in (alone, tabs):
        for case in measure(options.tries):
            median, worst = statistics.median(case.times), max(case.times)
            missed |= worst > case.limit
            print(f'| {case.name}: {case.outcome} | {median:.2f} s | {worst:.2f} s |'
                  if options.markdown else
                  f'{case.name:30} {case.outcome:10} median {median:.3f} s, worst {worst:.3f} s, '
                  f'limit {case.limit:g} s', flush=True)
    return int(missed)


if __name__ == '__main__':
    raise SystemExit(main())
