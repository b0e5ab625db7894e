# SPDX-License-Identifier: Apache-2.0
"""Reports, alone and side by side, and pages of robots show hostile names as text."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from test_markup import HOSTILE, Texts

from c3p_bags.report import write
from c3p_bringup.cli.main import main
from c3p_description.reading.loader import load

GOLDEN = Path(__file__).parents[2] / 'data' / 'golden_bag'
# all of them in one name, and what matplotlib takes for mathematics
NAME = ' '.join(HOSTILE).replace('/', '∕') + ' $\\frac$ a_b^c'
EVIL = ' '.join(HOSTILE) + ' $\\frac$'


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Small pictures: the test is of their texts."""
    monkeypatch.setattr(write, 'png', lambda page, path: path)


@pytest.fixture
def hostile_reading(monkeypatch):
    """Every text of a run that comes from a bag is hostile."""
    read = write.read

    def made(*arguments, **options):
        run = read(*arguments, **options)
        messages = {f'/{EVIL}{topic}': count for topic, count in run.log.messages.items()}
        return replace(
            run, name=NAME, log=replace(run.log, messages=messages),
            states=tuple(span._replace(name=f'{EVIL}{k % 3}', message=EVIL, level=2)
                         for k, span in enumerate(run.states)),
            goals=[{**goal, 'frame': EVIL} for goal in run.goals])

    monkeypatch.setattr(write, 'read', made)


def robot_file(folder):
    """Write a robot with a hostile name and hostile joints; return its path."""
    robot = load('c3p')
    path = folder / 'evil.yaml'
    path.write_text(yaml.safe_dump({'extends': 'c3p', 'name': EVIL}))
    assert load(str(path)).name == EVIL and robot.name != EVIL
    return path


@pytest.mark.parametrize('count', [1, 2])
def test_a_report_shows_hostile_texts_as_text(tmp_path, hostile_reading, count):
    found = write.report([GOLDEN] * count, tmp_path / 'out', robot=str(robot_file(tmp_path)))
    page = (tmp_path / 'out' / 'report.html').read_text(encoding='utf-8')
    check(page, scripts=1)
    text = Texts(page).text
    assert text.count(NAME) >= 2 and EVIL in text
    assert json.loads((tmp_path / 'out' / 'figures.json').read_text()) and found


def test_the_page_of_a_robot_shows_hostile_texts_as_text(tmp_path):
    out = tmp_path / 'out'
    assert main(['robot', str(robot_file(tmp_path)), '--out', str(out), '--no-battery']) in (0, 1)
    page = (out / 'robot.html').read_text(encoding='utf-8')
    check(page, scripts=0)
    assert Texts(page).text.count(EVIL) >= 2


def check(page, scripts):
    """Assert that a page has no element of a hostile text and shows each part of it."""
    found = Texts(page)
    assert found.tags.count('script') == scripts and 'img' not in found.tags
    assert not [value for value in found.attributes if value and 'alert' in value
                and not value.startswith('data:') and '<' not in value]
    # neither filled in nor cut
    for part in ('$name', '${style}', 'SCRIPTS', 'NONCE'):
        assert part in found.text
