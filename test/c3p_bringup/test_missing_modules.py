# SPDX-License-Identifier: Apache-2.0
"""Errors of imports: packages that are missing, parts of installed ones, parts of the suite."""

import sys

import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_bringup import programs  # noqa: E402
from c3p_bringup.cli.main import main  # noqa: E402
from c3p_bringup.modules import how_to_have, import_reason, of_suite  # noqa: E402
from c3p_ros import distribution  # noqa: E402
from c3p_ros.distribution import supported  # noqa: E402

PYTHON = '.'.join(map(str, sys.version_info[:2]))


def missing(module):
    return ModuleNotFoundError(f'No module named {module!r}', name=module)


@pytest.fixture(params=['7.1.6 (jazzy)', '10.0.10 (lyrical)', '99.0.0 (unknown)'])
def rclpy_of(request, monkeypatch):
    """Make the installed rclpy one of another version; return version and distribution."""
    monkeypatch.setattr(distribution, 'version', lambda _: request.param.split()[0])
    return request.param


def test_a_missing_part_of_rclpy_is_not_said_to_be_rclpy(rclpy_of):
    text = import_reason(missing('rclpy.no_such_part'))
    assert text.startswith(f'rclpy {rclpy_of} has no module rclpy.no_such_part for Python '
                           f'{PYTHON}: ')
    assert supported() in text and 'is missing' not in text


def test_a_missing_part_of_another_package_has_its_version_and_extra():
    text = import_reason(missing('numpy.no_such_part'))
    assert text.startswith(f'numpy (numpy {sys.modules["numpy"].__version__}) has no module '
                           'numpy.no_such_part: ')
    assert text.endswith(how_to_have('numpy'))


@pytest.mark.parametrize('module', ['no_such_package', 'no_such_package.part'])
def test_a_missing_package_is_missing(module):
    assert import_reason(missing(module)) == ('no_such_package is missing: '
                                              f'{how_to_have("no_such_package")}')


def test_other_errors_of_imports_keep_their_text():
    assert import_reason(ImportError('numba needs\n numpy 2.4 or less')) == (
        'numba needs numpy 2.4 or less')
    assert of_suite(missing('c3p_ros.no_such_part'))
    assert not of_suite(missing('rclpy.no_such_part'))
    assert not of_suite(ImportError('c3p_ros'))


def without(monkeypatch, part, *users):
    """Let a part of rclpy be missing where modules are imported that use it."""
    for name in users:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, part, None)


def test_a_node_program_names_the_part_in_one_line(monkeypatch, capsys):
    without(monkeypatch, 'rclpy.parameter', 'c3p_controller.twist_mux_node', 'c3p_ros.session')
    assert programs.run('c3p_controller.twist_mux_node', 'main') == 1
    told = capsys.readouterr().err
    assert 'has no module rclpy.parameter' in told and len(told.splitlines()) == 1


def test_a_command_names_the_part_in_one_line(monkeypatch, tmp_path, capsys):
    without(monkeypatch, 'rclpy.parameter', 'c3p_bringup.drive', 'c3p_ros.session')
    assert main(['drive', '1', '0', '0', '--out', str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert told.startswith('c3p drive: rclpy ') and 'has no module rclpy.parameter' in told
    assert len(told.splitlines()) == 1


def test_a_missing_part_of_the_suite_is_a_fault_of_the_program(monkeypatch):
    monkeypatch.setitem(sys.modules, 'c3p_controller.twist_mux_node', None)
    with pytest.raises(ModuleNotFoundError, match='twist_mux_node'):
        programs.run('c3p_controller.twist_mux_node', 'main')
