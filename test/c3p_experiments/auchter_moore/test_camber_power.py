# SPDX-License-Identifier: Apache-2.0
"""Drive power with and without camber: agreement with MuJoCo, the comparison, the page."""

import csv
import json

import numpy as np
import pytest

from c3p_description import load
from c3p_experiments.auchter_moore import camber_power as study
from c3p_experiments.auchter_moore import mujoco_check
from c3p_experiments.auchter_moore.mujoco_vehicle import Search
from c3p_experiments.loop.conditions import Conditions
from c3p_rough_ground.closed_chain.ground import ground_arrays
from c3p_rough_ground.dynamics import _vehicle_kernels as kernels
from c3p_rough_ground.dynamics import heavy_tricycle
from c3p_rough_ground.dynamics._contact_kernels import DEPTH, NZ, P
from c3p_rough_ground.dynamics.motion import HeavyDrive
from c3p_rough_ground.terrain import SplineGround


def test_contacts_are_where_the_circle_of_the_tube_is_nearest_to_the_ground():
    # the search of the check shares nothing with the kernel: least distance, not normals
    rng = np.random.default_rng(1)
    heavy = heavy_tricycle(load('pvc'))
    ground = SplineGround.random(3, degree=5)
    n, m = heavy.tree.count, heavy.vehicle.size[0]
    for _ in range(10):
        run = HeavyDrive(heavy, ground, rng.uniform(-3, 3, 3))
        run.state[2] -= rng.uniform(0.0, 0.01)
        run.state[3:n] += rng.uniform(-0.05, 0.05, n - 3)
        out = np.zeros_like(run.state)
        assert kernels.rates(heavy.system, ground_arrays(ground), run.state, np.zeros(m),
                             run._memory, out)[0] == kernels.GOES_ON
        frames = run._memory.frames[0, heavy.system.wheel[:, 0]]
        search = Search(np.full(3, 0.25), np.full(3, 0.05), ground)
        depth, point, normal = search.deepest(frames[:, 9:], frames[:, [2, 5, 8]])
        assert run._memory.spot[:, DEPTH] == pytest.approx(depth, abs=1e-12)
        assert run._memory.spot[:, P:P + 3] == pytest.approx(point, abs=1e-9)
        assert run._memory.spot[:, NZ:NZ + 3] == pytest.approx(normal, abs=1e-9)


def test_mujoco_needs_the_same_power_on_the_same_hills():
    pytest.importorskip('mujoco')
    heavy = mujoco_check.checked_vehicle('pvc')
    found = mujoco_check.compared(heavy, 'hills', SplineGround.random(2, degree=5), 2.0, 0.5)
    assert abs(found.power_error) < 0.02 and abs(found.work_error) < 0.02
    assert found.trace_error < 0.05 and found.apart < 0.02


def test_the_study_compares_with_the_locked_vehicle_on_the_same_ground(tmp_path, monkeypatch):
    monkeypatch.setattr(study, 'agreement', lambda *_: None)
    found = study.camber_power(tmp_path, Conditions(duration=1.0), seeds=1)
    assert found['reached'] and found['runs'] == 21 and found['left_out'] == 0
    group = found['groups']['random, equal rates']
    assert group['locked']['more_power']['largest'] == 0.0
    assert group['camber']['more_power_w']['median'] == pytest.approx(
        group['camber']['drive_power_w']['median'] - group['locked']['drive_power_w']['median'])
    # motors with one torque cannot work against each other
    assert (found['groups']['random, one torque']['locked']['circulating_power_w']['median']
            < 0.2 * group['locked']['circulating_power_w']['median'] + 1e-3)
    json.dumps(found)
    with open(found['files']['runs'], encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 21 and {row['form'] for row in rows} == {'locked', 'camber', 'axle'}
    assert (tmp_path / 'camber_power.png').is_file()


def test_a_ground_on_which_a_run_ends_early_is_left_out_of_all():
    whole = study.Measured(5.0, 2.0, 0.1, 0.1, 1.7, 0.0, 0.1, 1e-3, 0.0, 6.0, 1e-9, 30.0, '')
    found = {study.CamberTrial('random', seed, form, study.EQUAL): whole._replace(
        ended='second contact' if (seed, form) == (1, 'camber') else '')
        for seed in (0, 1) for form in ('locked', 'camber', 'axle')}
    out = study.compare(found, None)
    assert out['left_out'] == 1 and out['reached']
    assert out['groups']['random, equal rates']['axle']['more_power']['median'] == 0.0
