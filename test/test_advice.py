# SPDX-License-Identifier: Apache-2.0
"""No text advises to install a package of another author in the place of ours."""

import re
import subprocess
import sys

import pytest
from source_tree import ROOT

from c3p_bringup.modules import EXTRAS, how_to_have
from c3p_description.reading.how_to_install import DISTRIBUTION, how_to_install

# a command of pip, to the end of its line or of the code that it is in; option -e has a path
COMMAND = re.compile(r'pip3? install ((?:[^`\n#()|<>&;]|\[[\w,]+\])*)')
NAME = re.compile(r'[A-Za-z][\w.-]*')

# what texts advise besides the requirements of setup.py: for tests, releases and documentation
FURTHER = {'uv', 'catkin_pkg', 'docutils', 'urdf_parser_py', 'websockets', 'numba', 'xacro',
           'rerun-sdk', 'colcon-common-extensions', 'setuptools', 'wheel', 'casadi', 'sphinx',
           'mujoco', 'build', 'twine', 'crocoddyl', 'atheris'}


def texts():
    """Yield the path and text of each file that a user reads or that prints something."""
    for pattern in ('c3p_*/**/*.py', 'c3p_*/**/*.yaml', 'launch/*.py', 'scripts/*', 'test/**/*.py',
                    'benchmarks/*.py', 'docs/**/*.md', '*.md', '*.py', '.devcontainer/*',
                    '.github/**/*.yml', 'docs/tutorials/*'):
        for path in ROOT.glob(pattern):
            if path.is_file() and path.name != 'test_advice.py':
                yield path, path.read_text(encoding='utf-8')


def names(command):
    """Yield the names of packages in the words of a command, without paths and options."""
    for word in command.replace('"', ' ').replace("'", ' ').split():
        if not (word.startswith(('-', '.', '{', '$', '\\', '&')) or '/' in word):
            yield NAME.match(word)[0] if NAME.match(word) else word
        # the sentence goes on
        if word.endswith((',', ':', ';')):
            return


@pytest.fixture(scope='module')
def required(distribution):
    every = [*distribution.install_requires,
             *(one for extra in distribution.extras_require.values() for one in extra)]
    return {NAME.match(one)[0].lower() for one in every}


def test_our_distribution_has_a_name_of_its_own(distribution):
    assert distribution.metadata.name == DISTRIBUTION == 'c3p-robots'


def test_no_text_names_the_distribution_of_others():
    wrong = [f'{path.relative_to(ROOT)}: {found[0]}' for path, text in texts()
             for found in re.finditer(r'\bc3p\[[a-z,]+\]|pip3? install (-\S+ )*[\'"]?c3p\b', text)]
    assert not wrong, '\n'.join(wrong)


def test_every_command_of_pip_names_a_requirement_or_a_path(required):
    commands = [(path, found[1].split('  ')[0]) for path, text in texts()
                for found in COMMAND.finditer(text)]
    assert len(commands) > 100
    wrong = [f'{path.relative_to(ROOT)}: pip install {command}: {name}'
             for path, command in commands for name in names(command)
             if name.lower() not in required | FURTHER]
    assert not wrong, '\n'.join(wrong)


def test_every_module_is_in_an_extra_that_exists(distribution):
    assert set(EXTRAS.values()) <= distribution.extras_require.keys()
    # a module of no extra is always required; that of ROS is in one of two places
    assert how_to_have('scipy') == how_to_install()
    assert how_to_have('serial') == how_to_install('hardware')
    assert 'ROS 2' in how_to_have('rclpy') and how_to_install('jazzy') in how_to_have('rclpy')


def test_the_version_is_that_of_our_distribution_and_needs_no_library():
    script = ('import sys\nfrom c3p_bringup.cli.main import main\nmain(["--version"])\nmain([])\n'
              'print({"numpy", "numba", "rclpy"} & sys.modules.keys())')
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                          check=True, cwd=ROOT)
    first, *_, last = done.stdout.strip().splitlines()
    assert first == 'c3p 0.1.0' or 'not installed' in first
    assert last == 'set()'
