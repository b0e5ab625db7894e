# SPDX-License-Identifier: Apache-2.0
"""The container for development, and the jobs of CI that run in containers."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from c3p_ros.distribution import DISTRIBUTIONS

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / '.devcontainer'
DOCKERFILE = (FOLDER / 'Dockerfile').read_text(encoding='utf-8')


@pytest.fixture(scope='module')
def editor():
    """Return what editors read; lines that begin with // are comments."""
    text = (FOLDER / 'devcontainer.json').read_text(encoding='utf-8')
    return json.loads(re.sub(r'^\s*//.*$', '', text, flags=re.MULTILINE))


def test_the_distribution_is_an_argument_and_jazzy_without_one(editor):
    assert re.findall(r'^ARG ROS_DISTRO(.*)$', DOCKERFILE, re.MULTILINE) == ['=jazzy', '']
    assert 'FROM osrf/ros:${ROS_DISTRO}-' in DOCKERFILE
    assert editor['build']['args'] == {'ROS_DISTRO': 'jazzy'}


def test_nothing_else_in_the_container_names_a_distribution(editor):
    named = re.compile('|'.join(DISTRIBUTIONS.values()))
    # comments and the default value apart
    steps = re.sub(r'^(#.*|ARG ROS_DISTRO=.*)$', '', DOCKERFILE, flags=re.MULTILINE)
    entry = (FOLDER / 'entrypoint.sh').read_text(encoding='utf-8')
    for text in (steps, entry, editor['name'], editor['postCreateCommand']):
        assert not named.search(text), text
    assert steps.count('${ROS_DISTRO}') >= 6 and '$ROS_DISTRO' in entry


def test_the_command_after_the_creation_is_one_of_sh(editor):
    command = editor['postCreateCommand']
    assert subprocess.run(['sh', '-n', '-c', command]).returncode == 0
    # a builtin of bash; editors call /bin/sh, which is dash on Ubuntu
    assert not re.search(r'(^|&& )source ', command)


def test_ci_builds_on_the_distributions_with_long_support():
    jobs = yaml.safe_load((ROOT / '.github/workflows/ci.yml').read_text(encoding='utf-8'))['jobs']
    job = jobs['colcon']
    assert job['strategy']['matrix']['distribution'] == ['jazzy', 'lyrical']
    assert job['container'] == 'osrf/ros:${{ matrix.distribution }}-desktop'
    for step in job['steps']:
        assert not re.search('jazzy|lyrical', step.get('run', ''))
