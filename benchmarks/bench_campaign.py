# SPDX-License-Identifier: Apache-2.0
"""
What a campaign costs beside its drives: workers, messages, parts, and reading them.

The drives last one second on the analytic plant, the cheapest there are. Rates by the number of
workers are by the clock and need an idle computer; everything else is processor time.

    python benchmarks/bench_campaign.py [--quick]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from measuring import Figure, Spread, spread

from c3p_experiments.campaigns import store
from c3p_experiments.campaigns.campaign import run_campaign
from c3p_experiments.campaigns.draw import run_draw
from c3p_experiments.campaigns.result_files import have_parquet
from c3p_experiments.campaigns.spec import CampaignSpec
from c3p_experiments.campaigns.store import ResultSet
from c3p_experiments.campaigns.table import Table
from c3p_experiments.parallel.pool import Pool
from c3p_experiments.parallel.workers import Task, Workers, computing

SPEC = CampaignSpec(controller='paper', plant='analytic', goal=(0.0, 0.4, 0.0), timeout=1.0)


def spent(who: int = resource.RUSAGE_SELF) -> float:
    """Return the processor time of this process, or of those that it waited for, s."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def timed(work: Callable[[], object]) -> tuple[float, float, float]:
    """Return the time by the clock and the processor times here and in children of `work`, s."""
    begin = time.perf_counter(), spent(), spent(resource.RUSAGE_CHILDREN)
    work()
    return (time.perf_counter() - begin[0], spent() - begin[1],
            spent(resource.RUSAGE_CHILDREN) - begin[2])


def scaling(draws: int, workers: tuple[int, ...]) -> dict[int, tuple[float, float, float]]:
    """Return the times of a campaign by its number of workers, which include their start."""
    run_draw(SPEC, 0)
    found = {}
    for count in workers:
        with tempfile.TemporaryDirectory() as folder:
            def work(place: str = folder, jobs: int = count) -> None:
                run_campaign(SPEC, draws, Path(place), Workers(jobs))

            found[count] = timed(work)
    return found


def start() -> float:
    """Return the processor time of a worker from its start to the first draw, s."""
    pool = Pool(1)

    def work() -> None:
        tasks = [Task(run_draw, [(SPEC, 0)])]
        for _ in pool.compute(lambda: tasks.pop() if tasks else None):
            pass
        pool.close()

    return timed(work)[2]


def messages(workers: Workers, count: int) -> float:
    """Return the processor time in the command for one task without work, s."""
    with computing(workers) as each:
        # the workers have started
        list(each(abs, ((index,) for index in range(10))))
        return timed(lambda: sum(each(abs, ((index,) for index in range(count)))))[1] / count


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Yield rows of a campaign."""
    row = run_draw(SPEC, 0)
    numbers = {name: value for name, value in row.items() if isinstance(value, float)}
    for index in range(count):
        # files of equal values are small
        some = {name: value * (1.0 + 1e-9 * index) for name, value in numbers.items()}
        yield {**row, **some, 'index': index}


def storing(count: int, parquet: bool) -> tuple[float, float, float]:
    """Return the processor times of writing and of reading a row, s, and its size, bytes."""
    before = store.have_parquet
    store.have_parquet = lambda: parquet  # type: ignore[assignment]
    try:
        with tempfile.TemporaryDirectory() as folder:
            ready = list(rows(count))

            def work() -> None:
                with ResultSet(Path(folder), {}) as results:
                    for row in ready:
                        results.add(row)

            wrote = timed(work)[1]
            path = next(Path(folder).glob('campaign.*'))
            read = timed(lambda: Table.from_parts(path, count))[1]
            size = sum(part.stat().st_size for part in path.iterdir())
            return wrote / count, read / count, size / count
    finally:
        store.have_parquet = before


def one(name: str, unit: str, value: float) -> Figure:
    """Return a figure that was measured once."""
    return Figure(name, unit, Spread(value, value, value))


def figures(quick: bool = False) -> list[Any]:
    """Return costs of draws, workers, messages and rows, and the rate by the number of workers."""
    draws, repeats = (60, 2) if quick else (300, 5)
    times = scaling(draws, (1, 2))
    found: list[Any] = [
        one(f'processor time of a draw, {count} worker{"s" * (count > 1)} with their start', 'ms',
            1e3 * (here + children) / draws) for count, (_, here, children) in times.items()]
    found.append(one('processor time of the command for a draw, 2 workers', 'ms',
                     1e3 * times[2][1] / draws))
    found.append(Figure('start of a worker until its first draw is done', 's',
                        spread([start() for _ in range(repeats)])))
    found.append(one('task to a process and back', 'µs',
                     1e6 * messages(Workers(2), 200 if quick else 2000)))
    try:
        for block in (1, 20):
            found.append(one(f'task to a Dask worker and back, blocks of {block}', 'µs',
                             1e6 * messages(Workers(1, 'dask', block=block),
                                            200 if quick else 1000)))
    except ValueError:
        pass  # Dask is not installed
    for parquet in (True, False)[not have_parquet():]:
        wrote, read, size = storing(2000 if quick else 10_000, parquet)
        kind = 'Parquet' if parquet else 'CSV'
        found += [one(f'row to its part, {kind}', 'µs', 1e6 * wrote),
                  one(f'row to columns, {kind}', 'µs', 1e6 * read),
                  one(f'size of a row, {kind}', 'bytes', size)]
    return [*found, {'name': 'campaign', 'over': 'workers', 'unit': 'draws/s', 'x': list(times),
                     'y': [draws / clock for clock, _, _ in times.values()]}]


def main() -> None:
    """Print the figures."""
    for figure in figures('--quick' in sys.argv):
        if isinstance(figure, Figure):
            print(f'{figure.name}: {figure.ours.median:.3g} {figure.unit}')
        else:
            print(figure)


if __name__ == '__main__':
    main()
