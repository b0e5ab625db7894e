# SPDX-License-Identifier: Apache-2.0
"""Which variables the installed libraries read, and what is judged by them."""

import os
import subprocess
import sys

import pytest

from c3p_ros.middleware import (
    COMMON,
    LOCAL_ONLY,
    PROFILES,
    RANGE,
    loaded_libraries,
    of_this_process,
    variables_read,
)

# rcl warns of each value that it does not know, and of the old variable while it reads it
PROBE = 'import rclpy; rclpy.init(); rclpy.shutdown()'


def test_the_variables_are_those_that_stand_in_the_libraries(tmp_path):
    rcl, dds, other = (tmp_path / name for name in ('librcl.so', 'libfastdds.so.3.6', 'libm.so.6'))
    rcl.write_bytes(b'\0ROS_AUTOMATIC_DISCOVERY_RANGE\0')
    # a longer name is another variable
    dds.write_bytes(b'\0FASTDDS_DEFAULT_PROFILES_FILE\0ROS_LOCALHOST_ONLY_X\0')
    other.write_bytes(b'\0ROS_LOCALHOST_ONLY\0')
    maps = tmp_path / 'maps'
    maps.write_text(''.join(f'7f00-7f01 r-xp 00000000 00:01 5    {file}\n'
                            for file in (rcl, rcl, dds, other))
                    + '7f02-7f03 rw-p 00000000 00:00 0\n')
    assert loaded_libraries(maps) == [dds, rcl]
    assert variables_read(loaded_libraries(maps)) == {RANGE, PROFILES[0]}


def test_without_a_list_of_libraries_the_old_variable_is_not_trusted(tmp_path):
    assert loaded_libraries(tmp_path / 'none') == []
    empty = tmp_path / 'librcl.so'
    empty.touch()
    for libraries in ([], [tmp_path / 'none'], [empty]):
        assert variables_read(libraries) == COMMON
    assert LOCAL_ONLY not in COMMON and RANGE in COMMON


def test_what_stands_in_the_library_is_what_it_reads():
    pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
    said = {}
    for name in (RANGE, LOCAL_ONLY):
        # neither is a value that the library knows and accepts in silence
        environment = {**{k: v for k, v in os.environ.items() if k not in (RANGE, LOCAL_ONLY)},
                       name: '1'}
        done = subprocess.run([sys.executable, '-c', PROBE], env=environment, check=True,
                              capture_output=True, text=True, timeout=60)
        said[name] = name in done.stderr
    assert said == {name: name in of_this_process().reads for name in said}
