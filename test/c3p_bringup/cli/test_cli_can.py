# SPDX-License-Identifier: Apache-2.0
"""``c3p can``: plain answers, exit codes, and files that are what they were but for the values."""

import json
import threading

import can
import canopen
import pytest
import yaml

from c3p_bringup.cli.common import reason
from c3p_bringup.cli.main import main
from c3p_description.reading.how_to_install import how_to_install
from c3p_experiments.card_faults import laboratory
from c3p_experiments.card_faults.measures import Stop
from c3p_experiments.card_faults.table import BEGIN, END, cells_of
from c3p_experiments.card_faults.trials import TRIALS, TrialOutcome
from c3p_hardware.canopen.bus_load import bus_load
from c3p_hardware.emulator.cards import EmulatedCards, EmulatedDevices
from c3p_simulation.make_plant import make_plant

GOOD = Stop(0.004, 1, 0.005, 0.3, 0.05, 0.0, 0.001)


def told_by(capsys, code, *arguments):
    """Run the command, which ends with `code`; return its output."""
    assert main(['can', *arguments]) == code, capsys.readouterr()
    return capsys.readouterr()


@pytest.fixture
def channel(request, virtual_time):
    """Cards in a thread, whose encoders have zeros; the name of their virtual bus."""
    bus = can.Bus(request.node.name, interface='virtual')
    cards = EmulatedCards(bus, make_plant('analytic', 'c3p'),
                          EmulatedDevices(steering_zero_counts=(7, 8, 9)))
    over = threading.Event()
    thread = threading.Thread(target=cards.run, args=(over,))
    thread.start()
    yield bus.channel_id
    over.set()
    thread.join()
    bus.shutdown()


def test_scan_says_who_is_there_and_ends_with_1_when_somebody_is_missing(channel, tmp_path,
                                                                         capsys):
    place = ['--interface', 'virtual', '--channel', channel, '--listen', '0.1']
    told = told_by(capsys, 0, 'scan', *place, '--json', '-')
    assert [n['node_id'] for n in json.loads(told.out)['nodes']] == [1, 2, 3, 11, 12, 13]
    assert 'all devices match the parameters' in told.err
    file = tmp_path / 'p.yaml'
    file.write_text('hardware_interface: {ros__parameters: {drives: {node_ids: [1, 2, 9]}}}')
    told = told_by(capsys, 1, 'scan', *place, '--params-file', str(file))
    assert 'WRONG: drive of wheel_joint_3 (node 9): missing' in told.out


def test_zero_writes_what_it_measured_and_keeps_the_rest(channel, tmp_path, capsys):
    file = tmp_path / 'robot.yaml'
    file.write_text(f'hardware_interface:  # mine\n  ros__parameters:\n    bus:\n'
                    f'      interface: virtual\n      channel: {channel}  # here\n')
    zero = ('zero', '--yes', '--samples', '3', '--params-file', str(file))
    told_by(capsys, 0, *zero, '--write', str(file))
    text = file.read_text()
    assert '# mine' in text and '# here' in text
    block = yaml.safe_load(text)['hardware_interface']['ros__parameters']
    assert block['encoders.zeros'] == [7, 8, 9]
    assert block['encoders.serial_numbers'] == [2001, 2002, 2003]
    # and with these the encoders stand at zero
    assert told_by(capsys, 0, *zero).out.count('off by +0.00°') == 3


@pytest.mark.parametrize(('arguments', 'says'), [
    (['scan', '--interface', 'serial', '--channel', '/nowhere'], 'start the program at'),
    (['scan', '--params-file', '/nowhere.yaml'], '/nowhere.yaml: no such file'),
    (['zero'], 'pass --yes'), (['rate', '--share', '0'], '--share 0: must be above 0'),
    (['faults', 'meteor'], "no trial matches 'meteor'"),
])
def test_what_cannot_be_done_is_one_line_and_exit_code_2(arguments, says, capsys, monkeypatch):
    monkeypatch.setattr('sys.stdin', open('/dev/null', encoding='utf-8'))
    assert main(['can', *arguments]) == 2
    assert says in capsys.readouterr().err.splitlines()[-1]


def test_a_rate_that_fits_loads_the_bus_by_the_share(tmp_path):
    file = tmp_path / 'rates.json'
    assert main(['can', 'rate', '--share', '0.4', '--rate', '300', '--json', str(file)]) == 0
    rows = json.loads(file.read_text())['rates']
    assert [(r['bitrate'], r['casters']) for r in rows[-2:]] == [(10**6, 3), (10**6, 4)]
    for row in rows:
        assert row['bus_load'] == bus_load(300, row['bitrate'], row['casters'])
        if row['fitting_rate_hz'] is not None:
            assert bus_load(row['fitting_rate_hz'], row['bitrate'],
                            row['casters']) == pytest.approx(0.4)


def test_eds_files_are_copied_whole(tmp_path):
    assert main(['can', 'eds', str(tmp_path / 'eds')]) == 0
    found = {p.name: canopen.import_od(str(p)) for p in (tmp_path / 'eds').iterdir()}
    assert set(found) == {'motor_drive.eds', 'absolute_encoder.eds'}
    assert 0x6071 in found['motor_drive.eds'] and 0x6004 in found['absolute_encoder.eds']


@pytest.mark.parametrize(('back', 'code'), [(True, 0), (False, 1)])
def test_faults_writes_its_table_and_ends_with_1_when_a_promise_is_missed(
        back, code, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(laboratory, 'run_trials', lambda trials: (
        TrialOutcome(t, GOOD, t.message, False, back) for t in trials))
    page, file = tmp_path / 'page.md', tmp_path / 'faults.json'
    page.write_text(f'above\n{BEGIN}\n{END}\nbelow\n')
    assert main(['can', 'faults', '--write', str(page), '--json', str(file)]) == code
    assert list(cells_of(page.read_text())) == [t.fault for t in TRIALS]
    assert page.read_text().startswith('above\n') and page.read_text().endswith('below\n')
    missed = [t['missed'] for t in json.loads(file.read_text())['trials']]
    assert all(bool(m) != back for m in missed)
    assert ('MISSED cable of a drive: it did not come back' in capsys.readouterr().err) != back


@pytest.mark.parametrize('module', ['can', 'canopen', 'can.interfaces.socketcan', 'serial'])
def test_missing_modules_of_the_bus_are_installed_with_the_suite(module):
    # the packages called can and serial are others
    text = reason(ModuleNotFoundError(f'No module named {module!r}', name=module))
    # a part that is missing shows that the installed package is another version
    what, part, _ = module.partition('.')
    assert text.startswith(f'{what} (python-can ' if part else f'{what} is missing: ')
    assert text.endswith(how_to_install('hardware'))
