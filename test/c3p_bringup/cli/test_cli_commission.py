# SPDX-License-Identifier: Apache-2.0
"""``c3p commission``: refusals, and emulated cards from wrong wiring to parameters."""

import json

import pytest

from c3p_bringup.cli.main import main

WIRING = 'emulated_cards: {ros__parameters: {wiring: {exchanged_modules: [1 2], zeros: [3 90]}}}'


@pytest.mark.parametrize(('words', 'text'), [
    ([], '--free was not given'), (['--free', '0.5'], '--free 0.5'),
    (['--by-hand', '--confirm'], '--confirm: with --hardware emulated only')])
def test_a_robot_does_not_move_without_a_free_floor(capsys, tmp_path, words, text):
    assert main(['commission', *words, '--out', str(tmp_path)]) == 2
    assert text in capsys.readouterr().err and not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.real_time
def test_an_emulated_hand_finds_exchanged_modules_and_a_zero(capsys, tmp_path):
    file = tmp_path / 'w.yaml'
    file.write_text(WIRING)
    assert main(['commission', '--by-hand', '--hardware', 'emulated', '--params-file', str(file),
                 '--turn', '120', '--out', str(tmp_path), '--json', str(tmp_path / 'f.json')]) == 0
    shown = capsys.readouterr()
    assert 'modules of casters 1 and 2 exchanged' in shown.out
    assert f'next: c3p drive 1 0 0 --hardware emulated --params-file {file}' in shown.err
    parameters = json.loads((tmp_path / 'f.json').read_text())['parameters']
    assert parameters['drives.node_ids'] == [2, 1, 3]
    assert parameters['encoders.node_ids'] == [12, 11, 13]
    # 90° of 4096 counts, known by 0.3° after 30 caster offsets
    assert parameters['encoders.zeros'][2] == pytest.approx(1024, abs=4)
