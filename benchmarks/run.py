# SPDX-License-Identifier: Apache-2.0
"""
All figures of speed beside their peers, in one run and one table.

``python benchmarks/run.py`` from the root of the repository writes ``out/benchmarks.json`` and
prints the table in Markdown; ``--write-docs`` also writes docs/benchmarks.md and its picture, from
the JSON alone. Each benchmark runs in a process of its own. ``--only NAME …`` selects benchmarks,
``--quick`` takes the short form of each, ``--from FILE`` reads an earlier JSON.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DOCS = HERE.parent / 'docs'

# module and what it compares
BENCHMARKS = {
    'dynamics': 'Caster dynamics beside MuJoCo and Pinocchio',
    'trees': 'Trees of rigid bodies beside Pinocchio and MuJoCo',
    'constraints': 'Constrained dynamics beside Pinocchio',
    'plants': 'Plants: the analytic one beside MuJoCo with contacts',
    'rough_ground': 'Vehicles on rough ground: compiled beside numpy',
    'predictive': 'Predictive controller beside CasADi with IPOPT',
    'loop': 'Control loop on real topics, by the clock: the computer must be idle',
    'bag_scan': 'Reading of bags beside rosbags',
    'growth': 'Growth with casters, bodies and length of bags',
    'campaign': 'Campaigns: costs beside the drives',
    'fleet': 'Fleets on one computer: p99 latency of the worst robot (more in fleets.md)',
}
PACKAGES = ('numpy', 'numba', 'mujoco-core', 'pin', 'casadi', 'rosbags')
# one thread for linear algebra, as in a real-time loop
THREADS = ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS')


def machine() -> dict[str, Any]:
    """Return what the figures depend on: processor, threads, versions, load at the begin."""
    model = platform.processor() or platform.machine()
    known = Path('/proc/cpuinfo')
    if known.is_file():
        lines = [line for line in known.read_text().splitlines() if line.startswith('model name')]
        model = lines[0].partition(':')[2].strip() if lines else model
    versions = {'python': platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = 'not installed'
    return {'processor': model, 'cores': os.cpu_count(), 'threads': 1,
            'system': platform.system(), 'load': round(os.getloadavg()[0], 1),
            'versions': versions}


def described(what: dict[str, Any]) -> str:
    """Return one sentence about the computer `what` and its load."""
    busy = ' (other programs were running)' if what['load'] > 1.5 else ''
    return f"{what['processor']}, {what['cores']} cores, load {what['load']} at the begin{busy}."


def child(name: str, quick: bool) -> None:
    """Measure one benchmark in this process, and print the figures as JSON."""
    from measuring import Figure

    found = importlib.import_module(f'bench_{name}').figures(quick)
    print(json.dumps([one.record() if isinstance(one, Figure) else one for one in found]))


def measure(name: str, quick: bool) -> list[dict[str, Any]]:
    """
    Return the figures of one benchmark.

    Raises
    ------
    RuntimeError
        The benchmark failed; the text ends with its last line.
    """
    options = ['--quick'] if quick else []
    done = subprocess.run(
        [sys.executable, __file__, '--child', name, *options], capture_output=True, text=True,
        env={**os.environ, **dict.fromkeys(THREADS, '1')}, check=False)
    if done.returncode:
        raise RuntimeError(f'bench_{name}: {done.stderr.strip().splitlines()[-1]}')
    return json.loads(done.stdout.strip().splitlines()[-1])


def number(value: float) -> str:
    """
    Return a number with three digits.

    Examples
    --------
    >>> number(0.41234), number(57.31), number(12345.6)
    ('0.412', '57.3', '12,346')
    """
    return f'{value:.3g}' if value < 1000 else f'{value:,.0f}'


def with_spread(value: dict[str, float]) -> str:
    """Return the median, and the quartiles in brackets."""
    return f'{number(value["median"])} [{number(value["low"])}, {number(value["high"])}]'


def table(figures: list[dict[str, Any]]) -> str:
    """Return the figures of one benchmark as a table in Markdown."""
    lines = ['| figure | ours | peer | | ratio | bar |', '|---|---|---|---|---|---|']
    for one in figures:
        beside = one['ratio'] is not None
        bar = '' if one['bar'] is None else (
            f'{"≥" if beside else "≤"} {number(one["bar"])}{"" if one["met"] else ", **missed**"}')
        lines.append(
            f'| {one["name"]} | {with_spread(one["ours"])} {one["unit"]} | {one["peer"]} | '
            + (f'{with_spread(one["theirs"])} {one["unit"]} | {with_spread(one["ratio"])} | '
               if beside else '| | ') + f'{bar} |')
    return '\n'.join(lines)


def curves_table(curves: list[dict[str, Any]]) -> str:
    """Return growth curves as a table in Markdown."""
    lines = ['| curve | unit | sizes and values |', '|---|---|---|']
    for one in (one for one in curves if one.get('drawn', True)):
        values = ', '.join(f'{x:g}: {number(y)}' for x, y in zip(one['x'], one['y'], strict=True))
        lines.append(f'| {one["name"]}, by {one["over"]} | {one["unit"]} | {values} |')
    return '\n'.join(lines)


def markdown(results: dict[str, Any]) -> str:
    """Return all figures and curves as Markdown."""
    parts = []
    for name, figures in results['figures'].items():
        parts.append(f'## {BENCHMARKS[name]}\n')
        shown = [one for one in figures if 'over' not in one]
        curves = [one for one in figures if 'over' in one]
        parts += [table(shown) + '\n'] if shown else []
        parts += [curves_table(curves) + '\n'] if curves else []
    return '\n'.join(parts)


def page(results: dict[str, Any]) -> str:
    """Return docs/benchmarks.md."""
    what = results['machine']
    versions = ', '.join(f'{name} {version}' for name, version in what['versions'].items())
    drawn = any('over' in one for figures in results['figures'].values() for one in figures)
    picture = '![Growth curves](images/benchmarks.png)\n\n' if drawn else ''
    return f"""# Benchmarks

`python benchmarks/run.py --write-docs` measures all figures in one run and writes this page from
its JSON (`--only`, `--quick`, `--from FILE`). Every value is the median [quartiles] of rounds in
which ours and the peer take turns; a ratio is the peer's time divided by ours in the same round,
so that other work on the computer cancels. Times are processor times, and hold for this computer
only:

{what['processor']}, {what['cores']} cores, linear algebra with {what['threads']} thread, load
{what['load']} at the begin{' (other programs were running)' if what['load'] > 1.5 else ''};
{versions}.

{picture}{markdown(results)}"""


def draw(results: dict[str, Any], path: Path) -> bool:
    """Draw the growth curves as one picture; return whether there are any."""
    from matplotlib.ticker import LogLocator

    from c3p_plots import style

    curves = [one for figures in results['figures'].values() for one in figures
              if 'over' in one and one.get('drawn', True) and len(one['x']) > 2]
    kinds = list(dict.fromkeys(one['over'] for one in curves))
    if not kinds:
        return False
    sheet = style.figure(3.6 * len(kinds), 3.2)
    for k, over in enumerate(kinds):
        axes = sheet.add_subplot(1, len(kinds), k + 1)
        for one in (one for one in curves if one['over'] == over):
            axes.plot(one['x'], one['y'], marker='o', markersize=3.5, linewidth=1.2,
                      color=style.caster_colour(len(axes.lines)),
                      label=f'{one["name"]} [{one["unit"]}]')
        axes.set_xscale('log')
        axes.set_yscale('log')
        style.dress(axes, '', over, 'time' if k == 0 else '')
        sizes = sorted({x for one in curves if one['over'] == over for x in one['x']})
        axes.set_xticks(sizes, [f'{x:g}' for x in sizes])
        axes.set_xticks([], minor=True)
        for ticks in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            ticks('{x:g}')
        axes.yaxis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
        style.legend(axes)
    sheet.tight_layout()
    sheet.savefig(path, dpi=150)
    return True


def main() -> int:
    """Measure, write and print; return 1 if a benchmark failed."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--only', nargs='+', choices=BENCHMARKS, default=list(BENCHMARKS),
                        metavar='NAME', help=f'of {", ".join(BENCHMARKS)}')
    parser.add_argument('--quick', action='store_true', help='the short form of each')
    parser.add_argument('--from', dest='source', type=Path, metavar='FILE',
                        help='read this JSON; benchmarks of --only are measured anew')
    parser.add_argument('--out', type=Path, default=Path('out/benchmarks.json'),
                        metavar='FILE', help='(default: %(default)s)')
    parser.add_argument('--write-docs', action='store_true', help='write docs/benchmarks.md')
    parser.add_argument('--child', choices=BENCHMARKS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child, arguments.quick)
        return 0
    known = (json.loads(arguments.source.read_text(encoding='utf-8')) if arguments.source
             else {'figures': {}})
    # an earlier file alone is only shown
    names = [] if arguments.source and arguments.only == list(BENCHMARKS) else arguments.only
    results = {'machine': machine() if names else known['machine'],
               'figures': dict(known['figures'])}
    failures = []
    for name in names:
        print(f'{name}: {BENCHMARKS[name]}', file=sys.stderr, flush=True)
        try:
            results['figures'][name] = measure(name, arguments.quick)
        except RuntimeError as error:
            failures.append(f'{error}')
            print(f'  {error}', file=sys.stderr)
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(results, indent=1, ensure_ascii=False) + '\n',
                                 encoding='utf-8')
    results['figures'] = {name: results['figures'][name] for name in BENCHMARKS
                          if name in results['figures']}
    print(markdown(results))
    if arguments.write_docs:
        draw(results, DOCS / 'images/benchmarks.png')
        (DOCS / 'benchmarks.md').write_text(page(results), encoding='utf-8')
        if 'fleet' in results['figures']:
            from bench_fleet import write_page

            write_page(results['figures']['fleet'], described(results['machine']))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
