# SPDX-License-Identifier: Apache-2.0
"""The table of docs/real_robots.md: its numbers are those of the runs, and of the profile."""

import sys

from source_tree import ROOT

sys.path.insert(0, str(ROOT / 'scripts'))
import write_real_sensors as write  # noqa: E402

from c3p_experiments.real_sensors.properties import PROPERTIES  # noqa: E402
from c3p_simulation.plants.sensors import SensorSettings  # noqa: E402

PAGE = (ROOT / 'docs/real_robots.md').read_text('utf-8')


def run(plant='mujoco', p90=0.012, alarms=0):
    errors = {'true_error_p90_m': p90, 'true_error_max_m': 2 * p90}
    found = {'line': errors, 'triangle': errors, 'slip_alarms': alarms, 'fault_alarms': 0,
             'alarms': alarms, 'held': 7, 'hours': 0.5}
    return {'conditions': {'plant': plant}, 'seeds': [50, 10], **dict.fromkeys(PROPERTIES, found)}


def test_a_row_has_the_errors_in_centimetres_and_the_alarms_of_each_plant():
    lines = write.table([run('analytic', 0.001), run(alarms=3)])
    assert lines[0].count('p90') == 2 and len(lines) == 2 + len(PROPERTIES)
    assert lines[-1] == ('| real | 0.10 / 0.20 | 0.10 / 0.20 | 0, 0 | 7 | 1.20 / 2.40 '
                         '| 1.20 / 2.40 | 3, 0 | 7 |')


def test_bars_are_met_or_missed_by_a_factor():
    text = '\n'.join(write.verdicts([run(alarms=3)]))
    assert 'line 1.20 of 1 cm (missed, 1.2 times); triangle 1.20 of 2 cm (met)' in text
    assert '3 false alarms in 30 minutes (missed)' in text


def test_the_page_states_every_setting_with_the_value_of_the_profile():
    real = SensorSettings.real()
    for group in ('errors', 'timing'):
        for name, value in vars(getattr(real, group)).items():
            rows = [line for line in PAGE.splitlines() if f'`{group}.{name}`' in line]
            assert rows, f'{group}.{name} is missing'
            numbers = value if isinstance(value, tuple) else (value,)
            assert all(f'{number:g}' in rows[0].split('|')[3] for number in numbers), rows[0]


def test_the_page_has_the_figures_of_each_property():
    table = PAGE.partition(write.BEGIN)[2].partition(write.END)[0]
    for name in PROPERTIES:
        assert f'| {name.replace("_", " ")} |' in table, name


def test_the_readme_has_the_figures_of_the_page():
    text = write.sentence([run('analytic', 0.001), run(p90=0.0166, alarms=3)])
    assert text == ('1.7 cm after 4 m and 1.7 cm\nafter a triangle of 11 m (90 % of 50 drives), '
                    '3 false alarms in 60 minutes')
    readme = (ROOT / 'README.md').read_text('utf-8').partition(write.SENTENCE)[2]
    told = readme.partition(write.END)[0].split()
    # the worse plant of the last row
    row = next(line for line in PAGE.splitlines() if line.startswith('| real |')).split('|')
    for place, cells in ((0, (2, 6)), (6, (3, 7))):
        largest = max(float(row[k].split('/')[0]) for k in cells)
        assert abs(float(told[place]) - largest) < 0.051
