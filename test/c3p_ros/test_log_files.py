# SPDX-License-Identifier: Apache-2.0
"""A node runs without log files where they cannot be written, and says how to have them."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from c3p_ros.log_files import log_folder, why_without

ROOT = Path(__file__).parents[2]


def test_the_folder_is_that_of_rcl(tmp_path, monkeypatch):
    monkeypatch.setenv('HOME', f'{tmp_path}')
    assert log_folder({}) == tmp_path / '.ros/log'
    assert log_folder({'ROS_HOME': '/r'}) == Path('/r/log')
    assert log_folder({'ROS_HOME': '/r', 'ROS_LOG_DIR': '~/l'}) == tmp_path / 'l'
    assert why_without({}) == '' and (tmp_path / '.ros/log').is_dir()


@pytest.mark.parametrize('place', ['/proc/none', '/proc/version', '/sys'])
def test_what_cannot_be_written_is_named_with_the_remedy(place):
    text = why_without({'ROS_LOG_DIR': place})
    assert text.startswith(f'log files are off: {place} is not writable')
    assert 'set ROS_LOG_DIR' in text and '\n' not in text


PROGRAM = """
import warnings
import rclpy
from c3p_ros.session import Session
with Session() as session:
    session.add(rclpy.create_node, node_name='listener')
    session.wait(0.01)
    warnings.warn('of a\\n library')
"""


def test_a_session_starts_without_log_files_and_logs_warnings(tmp_path):
    pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
    environment = {name: value for name, value in os.environ.items()
                   if name not in ('ROS_LOG_DIR', 'ROS_HOME')}
    done = subprocess.run([sys.executable, '-c', PROGRAM], capture_output=True, text=True,
                          cwd=ROOT, env={**environment, 'HOME': '/proc/none'})
    assert done.returncode == 0, done.stderr
    first, second = done.stderr.strip().splitlines()
    assert 'log files are off' in first and 'ROS_LOG_DIR' in first and '[WARN]' in first
    assert second.endswith('[c3p]: of a library')


def test_the_display_of_warnings_is_returned():
    rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced '
                                'one')
    from c3p_ros.session import Session

    before = warnings.showwarning
    with Session() as session:
        session.add(rclpy.create_node, node_name='listener')
        assert warnings.showwarning is not before
    assert warnings.showwarning is before
