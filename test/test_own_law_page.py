# SPDX-License-Identifier: Apache-2.0
"""The page of a law of one's own: its loop drives, and its file is a package that drives."""

import re
from configparser import ConfigParser
from pathlib import Path

import numpy as np
import pytest

from c3p_controller import law_named
from c3p_controller.control_law import ControlLaw
from c3p_description import load
from c3p_experiments.loop.closed_loop import Held, run_loop
from c3p_experiments.loop.command_sources import GoalSource
from c3p_experiments.loop.controllers import make_controller
from c3p_experiments.tuning.parameters import find
from c3p_simulation.make_plant import make_plant

PAGE = (Path(__file__).parents[1] / 'docs/own_law.md').read_text(encoding='utf-8')
LOOP, FILE = re.findall(r'```python\n(.*?)```', PAGE, re.DOTALL)
PROJECT, = re.findall(r'```toml\n(.*?)```', PAGE, re.DOTALL)
# lines of the loop that are not imports or blank
MOST_LINES = 12


def test_the_loop_of_the_page_is_short_and_reaches_its_goal():
    own = [line for line in LOOP.splitlines() if line and not line.startswith(('import', 'from'))]
    assert len(own) <= MOST_LINES
    names = {}
    exec(LOOP, names)  # noqa: S102
    assert names['reached']
    assert names['log'].ground_truth.pose[-1] == pytest.approx((0.0, 1.0, 0.5), abs=0.05)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install the package of the page as pip does: its file, and the metadata of its project."""
    project = ConfigParser()
    project.read_string(PROJECT)
    name, version = (project['project'][key].strip('"') for key in ('name', 'version'))
    (tmp_path / 'my_laws.py').write_text(FILE)
    place = tmp_path / f'{name.replace("-", "_")}-{version}.dist-info'
    place.mkdir()
    (place / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n')
    section, = (s for s in project.sections() if s.startswith('project.entry-points'))
    (place / 'entry_points.txt').write_text(
        f'[{section.split(".", 2)[2].strip(chr(34))}]\n' + ''.join(
            f'{law} = {value.strip(chr(34))}\n' for law, value in project[section].items()))
    monkeypatch.syspath_prepend(str(tmp_path))


def test_the_file_of_the_page_drives_by_its_name_and_is_tuned(installed):
    controller = make_controller('computed', load('c3p'))
    log = run_loop(make_plant('analytic', 'c3p'), controller.law,
                   GoalSource(controller.position(), [(0.0, 1.0, 0.5)]), duration=20.0,
                   steering=(0.3, 1.2, -0.7), stop=Held())
    assert log.ended and not log.fault
    assert np.hypot(*(log.ground_truth.pose[-1, :2] - (0.0, 1.0))) < 0.05
    tunable, = find('computed', [], {})
    assert (tunable.name, tunable.start) == ('velocity_controller.computed.gain', 8.0)
    assert law_named('computed').__module__ == 'my_laws'


def test_the_table_of_the_page_has_every_attribute_of_a_law_with_its_default():
    rows = dict(re.findall(r'^\| `(\w+)` \|.*\| (.*?) \|$', PAGE, re.M))
    declared = {name for name in ControlLaw.__annotations__ if name != 'limit'}
    assert set(rows) == declared
    for name, default in rows.items():
        if default == 'must be declared':
            assert not hasattr(ControlLaw, name)
        elif name in ('freedoms', 'compiler', 'inverse_dynamics'):
            assert default.strip('`') == repr(getattr(ControlLaw, name))
