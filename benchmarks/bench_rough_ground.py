# SPDX-License-Identifier: Apache-2.0
"""
How fast and how exact closed-chain vehicles on rough ground are, in one run.

``python benchmarks/bench_rough_ground.py`` from the root of the repository prints medians of the
time of one call, taken in turns, and the ratios: the compiled reduced right-hand side beside the
full system in numpy; then runs of 20 s, 2000 s of random hills, 1000 random poses and 10 000
rollouts. ``--quick`` takes a tenth of the long ones.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from measuring import Figure, beside, spread

from c3p_description.pvc_model import PvcTricycle
from c3p_kernels.compiled import kernel
from c3p_rough_ground.closed_chain import (
    RolloutOptions,
    State,
    _rate_kernels,
    locked_slip,
    place,
    rollouts,
    simulate,
    velocity,
)
from c3p_rough_ground.closed_chain.ground import ground_arrays
from c3p_rough_ground.closed_chain.placement import memory_of
from c3p_rough_ground.terrain import Hills, SplineGround, Terrain
from c3p_rough_ground.vehicles import caster_vehicle, four_wheel_rover, pvc_tricycle

TRICYCLE = pvc_tricycle(PvcTricycle('tricycle', 1.2, 0.6, 0.1, 0.25, 0.05))
GROUNDS = {'hills of 8 waves': Hills.random(1), 'cubic net': SplineGround.random(1),
           'quintic net': SplineGround.random(1, degree=5)}
STEEP = Hills.random(3, amplitude=3.5, wavelength=10.0)
DESIRED = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
ROUNDS, CALLS, WORKERS = 41, 300, 2
# rollouts of one round
MANY = 64


@kernel
def rates_loop(packed, ground, vectors, block, sizes, out, count):
    """Compiled loop over the right-hand side; the state changes each time."""
    state, desired, scale = vectors
    for _ in range(count):
        state[0] += 1e-15 * out[0]
        _rate_kernels.rates(packed, ground, state, desired, scale, block, sizes, out)


def right_hand_sides(ground: Terrain) -> tuple[Callable[[], float], Callable[[], float], float]:
    """Return timers of the compiled and of the numpy path, and how far they differ."""
    state = place(TRICYCLE, ground, 1.0, 2.0, 0.3, [0.2, 0, 0.1, 0, -0.1, 0]).require()
    packed, memory = TRICYCLE.pack_state(state), memory_of(TRICYCLE)
    scale, out = np.ones(6), np.zeros(len(packed))
    arguments = (TRICYCLE.packed, ground_arrays(ground), (packed, DESIRED, scale),
                 memory.work.block, memory.work.values, out)

    def fast() -> float:
        start = time.process_time()
        rates_loop(*arguments, CALLS)
        return (time.process_time() - start) / CALLS

    def full() -> float:
        start = time.process_time()
        velocity(TRICYCLE, ground, state, DESIRED)
        return time.process_time() - start

    fast()
    both = velocity(TRICYCLE, ground, state, DESIRED)
    return fast, full, float(max(np.abs(both.joint_rates - out[7:13]).max(),
                                 np.abs(both.contact_rates.ravel() - out[13:]).max()))


def report_rates() -> None:
    """Print the times of one right-hand side."""
    print(f'{"right-hand side":22}{"compiled µs":>12}{"numpy µs":>10}{"ratio":>8}{"differ":>10}')
    for name, ground in GROUNDS.items():
        fast, full, differ = right_hand_sides(ground)
        times = np.array([(fast(), full()) for _ in range(ROUNDS)])
        one, other = np.median(times, axis=0)
        print(f'{name:22}{1e6 * one:12.3f}{1e6 * other:10.0f}{other / one:8.0f}{differ:10.1e}')


def report_runs() -> None:
    """Print real-time factors and measures of 20 s, h = 20 ms, projected after each step."""
    print(f'\n{"20 s at 20 ms":34}{"× real time":>12}{"closure L2":>11}{"rolling L2":>11}'
          f'{"slip m/s":>10}')
    vehicles = {'tricycle': TRICYCLE, 'rover': four_wheel_rover(), 'caster': caster_vehicle()}
    for name, ground in GROUNDS.items():
        for which, one in vehicles.items():
            if which != 'tricycle' and 'hills' not in name:
                continue
            desired = np.zeros(one.size[0])
            for spin, wheel in zip(one.spins, one.wheels, strict=True):
                desired[spin] = 0.3 / wheel.surface.outer_radius
            start, times = place(one, ground, 0.0, 0.0, 0.3).require(), []
            for _ in range(ROUNDS):
                begin = time.perf_counter()
                run = simulate(one, ground, start, desired, 20.0, camber_gain=1.0)
                times.append(time.perf_counter() - begin)
            factor = run.time[-1] / np.median(times)
            print(f'{name + ", " + which:34}{factor:12.0f}{run.closure_l2.max():11.1e}'
                  f'{run.rolling_l2.max():11.1e}{run.material_slip.max():10.1e}'
                  + ''.join(f'  {event.text}' for event in run.events))


def report_long(share: float) -> None:
    """Print what 2000 s, 1000 poses, the locked camber and 10 000 rollouts give."""
    ground = GROUNDS['hills of 8 waves']
    start = place(TRICYCLE, ground, 0.0, 0.0, 0.3).require()
    begin = time.perf_counter()
    run = simulate(TRICYCLE, ground, start, DESIRED, 2000.0 * share, camber_gain=1.0,
                   weights=[1, 1, 100, 1, 100, 1])
    took = time.perf_counter() - begin
    print(f'\n{run.time[-1]:.0f} s of hills in {took:.2f} s: closure L2 ≤ '
          f'{run.closure_l2.max():.1e}, rolling L2 ≤ {run.rolling_l2.max():.1e}')

    rng, count = np.random.default_rng(7), round(1000 * share)
    begin = time.perf_counter()
    found = [place(TRICYCLE, STEEP, *rng.uniform(-40, 40, 2), rng.uniform(-3, 3),
                   rng.uniform(-0.5, 0.5, 6)) for _ in range(count)]
    took = time.perf_counter() - begin
    steps = np.bincount([one.iterations for one in found])
    print(f'{count} poses on slopes to 45°: {sum(one.success for one in found)} solved, Newton '
          f'steps {dict(enumerate(steps.tolist()))}, {1e6 * took / count:.0f} µs each')

    slip = locked_slip(simulate(TRICYCLE, GROUNDS['cubic net'], place(
        TRICYCLE, GROUNDS['cubic net'], 0, 0, 0).require(), DESIRED, 20.0))
    print(f'camber locked on the cubic net: mean slip {slip.equal.mean():.2e} m/s with equal '
          f'drives, {slip.best.mean():.2e} with the best; equal drives cause '
          f'{100 * slip.equal_drive_energy_fraction:.1f} % of the square, '
          f'{100 * slip.equal_drive_fraction:.1f} % of the mean')
    report_rollouts(start, round(10000 * share))


def report_rollouts(start: State, count: int) -> None:
    """Print the time of so many rollouts of 20 s on two threads, with 20 and 100 ms steps."""
    ground, rng = GROUNDS['hills of 8 waves'], np.random.default_rng(0)
    desired = np.tile(DESIRED, (count, 1))
    desired[:, 0] = rng.uniform(-0.03, 0.03, count)
    with ThreadPoolExecutor(WORKERS) as pool:
        for step in (0.02, 0.1):
            begin = time.perf_counter()
            many = rollouts(TRICYCLE, ground, start, desired, 20.0,
                            RolloutOptions(step, spread=pool.map), camber_gain=1.0)
            took = time.perf_counter() - begin
            early = sum(bool(what) for what in many.ended)
            print(f'{count} rollouts of 20 s, step {step} s, {WORKERS} threads: {took:.1f} s; '
                  f'{early} ended early')


def figures(quick: bool = False) -> list[Figure]:
    """Return right-hand sides beside numpy, and the run of 20 s; `quick` takes fewer rounds."""
    rounds, found = 5 if quick else ROUNDS, []
    for name, ground in GROUNDS.items():
        fast, full, _ = right_hand_sides(ground)
        one, other = np.array([(fast(), full()) for _ in range(rounds)]).T
        found.append(beside(f'right-hand side of the tricycle, {name}',
                            {'ours': one, 'numpy': other}, 'ours', 'numpy'))
    ground, times = GROUNDS['hills of 8 waves'], []
    start = place(TRICYCLE, ground, 0.0, 0.0, 0.3).require()
    for _ in range(rounds + 1):
        begin = time.process_time()
        simulate(TRICYCLE, ground, start, DESIRED, 20.0, camber_gain=1.0)
        times.append(1e3 * (time.process_time() - begin))
    # 20 s in 4 ms are 5000 times real time
    found.append(Figure('tricycle, 20 s of hills in steps of 20 ms', 'ms', spread(times[1:]),
                        bar=4.0))
    # 10 000 of these in 20 s on two cores are 4 ms of processor time each
    desired, times = np.tile(DESIRED, (MANY, 1)), []
    desired[:, 0] = np.linspace(-0.03, 0.03, MANY)
    for _ in range(rounds + 1):
        begin = time.process_time()
        rollouts(TRICYCLE, ground, start, desired, 20.0, camber_gain=1.0)
        times.append(1e3 * (time.process_time() - begin) / MANY)
    found.append(Figure(f'the same, each of {MANY} rollouts', 'ms', spread(times[1:]), bar=4.0))
    return found


def main() -> None:
    """Measure and print."""
    report_rates()
    report_runs()
    report_long(0.1 if '--quick' in sys.argv else 1.0)


if __name__ == '__main__':
    main()
