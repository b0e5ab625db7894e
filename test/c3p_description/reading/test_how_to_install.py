# SPDX-License-Identifier: Apache-2.0
"""The advice to install something fits the installation that gives it."""

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from c3p_description.reading import how_to_install as installation
from c3p_description.reading.how_to_install import how_to_install, in_workspace, requirements

METADATA = ('numpy>=1.26', 'trimesh>=4; extra == "view"', "pycollada (>=0.8) ; extra == 'view'",
            'mujoco-core[rendering]>=4.0.1; python_version >= "3.10" and extra == "view"',
            'mujoco>=3.2; python_version < "3.10" and extra == "view"',
            'other; extra == "viewer"')


class Installed:
    """Metadata of an installed distribution."""

    version = '0.1.0'

    def __init__(self, requires=METADATA, **files):
        self.requires, self._files = list(requires), files

    def read_text(self, name):
        return self._files.get(name.partition('.')[0])


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Return a function that puts an installation, without a checkout, in the place of ours."""
    def install(found):
        monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
        monkeypatch.setattr(installation, 'HERE', tmp_path / 'site-packages/c3p_description')
        monkeypatch.setattr(installation, '_installed', lambda: found)
    return install


def command(text):
    """Return the words of the command in a text, as a shell reads them."""
    return shlex.split(text.split('`')[1])


def test_a_checkout_is_installed_by_its_path(monkeypatch, tmp_path):
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    place = tmp_path / 'a folder'
    place.mkdir()
    (place / 'setup.py').touch()
    monkeypatch.setattr(installation, 'HERE', place / 'c3p_description')
    assert command(how_to_install('view'))[-3:] == ['install', '-e', f'{place}[view]']
    assert command(how_to_install())[-2:] == ['-e', f'{place}']
    # brackets are patterns for zsh
    assert f"'{place}[view]'" in how_to_install('view')


def test_a_folder_or_wheel_that_pip_installed_from_is_named_as_long_as_it_is_there(
        installed, tmp_path):
    url = json.dumps({'url': (tmp_path / 'ä wheel.whl').as_uri(), 'archive_info': {}})
    installed(Installed(INSTALLER='pip\n', direct_url=url))
    named = ['trimesh>=4', 'pycollada>=0.8', 'mujoco-core[rendering]>=4.0.1']
    assert command(how_to_install('view'))[-3:] == named
    (tmp_path / 'ä wheel.whl').touch()
    assert command(how_to_install('view'))[-1] == f'{tmp_path}/ä wheel.whl[view]'


def test_an_installation_of_a_repository_names_the_packages(installed):
    url = json.dumps({'url': 'https://example.org/c3p.git', 'vcs_info': {'vcs': 'git'}})
    installed(Installed(INSTALLER='pip', direct_url=url))
    assert 'trimesh>=4' in command(how_to_install('view'))


def test_an_installation_of_an_index_is_extended_by_the_name_of_the_distribution(installed):
    installed(Installed(INSTALLER='pip'))
    assert command(how_to_install('view'))[-1] == 'c3p-robots[view]'


def test_without_a_known_origin_the_packages_are_named(installed):
    installed(Installed())
    assert command(how_to_install())[-1] == 'numpy>=1.26'
    assert requirements('no_such') == []
    installed(None)
    assert how_to_install('view') == 'install the suite again with view'


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    marker = tmp_path / 'share/ament_index/resource_index/packages/c3p'
    marker.parent.mkdir(parents=True)
    marker.touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/opt/none{os.pathsep}{tmp_path}')
    return tmp_path


def test_in_a_workspace_rosdep_installs_what_has_a_key_and_pip_the_rest(workspace, monkeypatch):
    monkeypatch.setattr(installation, '_installed', Installed)
    assert how_to_install('hardware') == how_to_install() == installation.ROSDEP
    assert command(how_to_install('view'))[-3] == 'trimesh>=4'


def test_a_virtual_environment_on_the_path_of_ament_is_no_workspace(workspace, monkeypatch):
    assert in_workspace(os.environ)
    monkeypatch.setattr(sys, 'prefix', f'{workspace}')
    assert not in_workspace(os.environ)


def test_a_python_of_the_system_needs_a_virtual_environment(installed, tmp_path, monkeypatch):
    installed(Installed(INSTALLER='pip'))
    monkeypatch.setattr(installation.sysconfig, 'get_path', lambda _: f'{tmp_path}')
    monkeypatch.setattr(sys, 'prefix', sys.base_prefix)
    assert how_to_install('sim').endswith('`')
    (tmp_path / 'EXTERNALLY-MANAGED').touch()
    assert how_to_install('sim').endswith(' in a virtual environment with --system-site-packages')


def test_pip_is_that_of_this_python(installed, monkeypatch):
    installed(Installed(INSTALLER='pip'))
    monkeypatch.setattr(installation.shutil, 'which', lambda _: '/usr/bin/pip')
    assert command(how_to_install())[:3] == [sys.executable, '-m', 'pip']
    monkeypatch.setattr(installation.shutil, 'which',
                        lambda _: f'{Path(sys.executable).parent}/pip')
    assert command(how_to_install())[0] == 'pip'
