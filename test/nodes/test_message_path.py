# SPDX-License-Identifier: Apache-2.0
"""Functions, files and Python calls on the paths of a message (path_watch.py)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from source_tree import python_path

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

ROOT = Path(__file__).parents[2]

# functions on the path behind motor cards, at most: newer versions of Python see fewer; and files
# of c3p_ros on it. All files are not counted: that would reward one file for two ideas
MOST_FUNCTIONS, MOST_SUBSTRATE = 367, 8
# functions of the largest cycle in one process, without cards, and its Python calls when kernels
# are compiled. They grew by 25 functions, from 260, with what each step now does besides: lasting
# faults (5), weights of rows (3), wrong wirings (3), unmeasured rows (3), the alarm of the pose
# with the controllers that obey it (5), the times of the samples (5), and the judgement of a
# window of the wiring, where it falls into that cycle (2)
MOST_OF_A_CYCLE, MOST_CALLS = 287, 220


def counted(path, compiled=False):
    """Return the numbers of a path, counted in a process of its own, and all that it prints."""
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name('path_watch.py'), path], capture_output=True,
        text=True, timeout=600, env={
            **os.environ, 'NUMBA_DISABLE_JIT': f'{int(not compiled)}',
            'PYTHONPATH': python_path(ROOT, ROOT / 'test', ROOT / 'test/nodes')})
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stdout


def test_a_message_passes_few_functions():
    """The count today; lower it whenever the path becomes shorter."""
    numbers, printed = counted('cards')
    # cards, joint_states twice, odom, wheel_effort
    assert numbers['hops'] == 5, printed
    assert numbers['functions'] <= MOST_FUNCTIONS, printed
    assert numbers['substrate'] <= MOST_SUBSTRATE, printed


def test_the_largest_cycle_in_one_process_passes_few_functions():
    """One joint_states with a plan and a command due: all nodes share their messages."""
    numbers, printed = counted('cycle')
    assert numbers['passes'] > 30, printed
    # it is the cycle of the torque law, of the goal and of the odometry
    for function in ('_box_ddp.py', 'path_controller.py', '_odometry_step.py'):
        assert function in printed.partition('the largest pass')[2], printed
    assert numbers['largest functions'] <= MOST_OF_A_CYCLE, printed


def test_the_largest_cycle_in_one_process_makes_few_python_calls():
    """Those of other packages included; a compiled kernel is none."""
    numbers, printed = counted('cycle', compiled=True)
    assert numbers['largest calls'] <= MOST_CALLS, printed
