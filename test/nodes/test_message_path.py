# SPDX-License-Identifier: Apache-2.0
"""
Functions on the path of one message: sample of the cards → joint_states → odom → torque → card.

Hardware interface with emulated cards, sensed kinematics and velocity controller (mpc) run in one
process without compilation, so that kernels are seen. Each function of the suite that runs for a
message counts once; timers, diagnostics and the emulator do not. Run as a script, it prints the
functions of each hop.
"""

import os
import subprocess
import sys
import threading
from collections import defaultdict
from pathlib import Path

import pytest
from source_tree import python_path

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

ROOT = Path(__file__).parents[2]

# functions on the path, at most: newer versions of Python see fewer; and files of c3p_ros on it.
# All files are not counted: that would reward one file for two ideas
MOST_FUNCTIONS, MOST_SUBSTRATE = 347, 4

# simulated time in which the path is watched, s: some plans of the torque law are due in it
WATCHED = 0.1


class PathWatch:
    """
    Profile function that notes the functions called below some entry points.

    Parameters
    ----------
    entries : dict
        Code object of an entry point: function that names its hop from the frame.
    left_out : container of str
        Files whose functions, and all that these call, are not on the path.

    Attributes
    ----------
    hops : dict of set
        Functions of each hop: file relative to the root of the repository, line and name.
    """

    def __init__(self, entries, left_out):
        self.on, self.hops = False, defaultdict(set)
        self._entries, self._left_out = entries, left_out
        self._local = threading.local()

    def __call__(self, frame, event, _):
        local = self._local
        begin = getattr(local, 'begin', None)
        if event == 'return' and frame in (begin, getattr(local, 'aside', None)):
            local.aside = None
            if frame is begin:
                local.begin = None
        if event != 'call' or not self.on or getattr(local, 'aside', None) is not None:
            return
        code = frame.f_code
        if begin is None:
            if code not in self._entries:
                return
            local.begin, local.hop = frame, self._entries[code](frame)
        name = code.co_filename.removeprefix(f'{ROOT}/')
        if name in self._left_out:
            local.aside = frame
        elif name.startswith('c3p_') and code.co_name != '<module>':
            self.hops[local.hop].add(f'{name}:{code.co_firstlineno} {code.co_name}')


def watch_path():
    """Return the functions of each hop of a robot that drives."""
    from card_bench import CardBench

    from c3p_controller.velocity_controller_node import VelocityControllerNode
    from c3p_hardware.transport.cycle_loop import CycleLoop
    from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode
    from c3p_ros import diagnostics, node

    received = next(code for code in node.SuiteNode.listen.__code__.co_consts
                    if getattr(code, 'co_name', '') == 'received')
    watch = PathWatch({
        CycleLoop._cycle.__code__: lambda frame: 'cycle of the cards',
        received: lambda frame: '{} → {}'.format(frame.f_locals['topic'],
                                                 frame.f_locals['self'].get_name())},
        {diagnostics.__file__.removeprefix(f'{ROOT}/')})
    threading.setprofile(watch)
    bench = CardBench()
    # the controller commands, not the bench
    bench.effort = None
    bench.talker.destroy_publisher(bench.effort_pub)
    try:
        bench.add_cards()
        bench.add_interface(autostart='active')
        # tf2_msgs is not installed everywhere
        bench.add(SensedKinematicsNode, publish_tf=False)
        # a short horizon: the kernels are not compiled
        short = {'mpc.steps': 8, 'mpc.horizon': 0.2}
        bench.add(VelocityControllerNode, controller='mpc', **short)
        bench.wait_until_unlocked()
        bench.wait_for(lambda: bench.enable().success, 'arming')
        bench.command_until(lambda: bench.speed() > 0.02, 'moving', 0.2, 0.0, 0.0)
        sys.setprofile(watch)
        watch.on = True
        end = bench.time.monotonic() + WATCHED
        bench.command_until(lambda: bench.time.monotonic() > end, 'driving', 0.2, 0.0, 0.0)
        watch.on = False
        sys.setprofile(None)
    finally:
        threading.setprofile(None)
        bench.close()
    return dict(watch.hops)


def report():
    """Print the hops; the last lines are the numbers."""
    hops = watch_path()
    for hop, functions in sorted(hops.items()):
        print(f'{hop}: {len(functions)}', *sorted(functions), sep='\n    ')
    union = set().union(*hops.values())
    files = {function.partition(':')[0] for function in union}
    print('files', len(files))
    print('hops', len(hops))
    print('substrate', sum(file.startswith('c3p_ros/') for file in files))
    print('functions', len(union))


def test_a_message_passes_few_functions():
    """The count today; lower it whenever the path becomes shorter."""
    done = subprocess.run(
        [sys.executable, __file__], capture_output=True, text=True, timeout=600, env={
            **os.environ, 'NUMBA_DISABLE_JIT': '1',
            'PYTHONPATH': python_path(ROOT, ROOT / 'test', ROOT / 'test/nodes')})
    assert done.returncode == 0, done.stderr[-3000:]
    numbers = dict(line.split() for line in done.stdout.splitlines()[-3:])
    # cards, joint_states twice, odom, wheel_effort
    assert int(numbers['hops']) == 5, done.stdout
    assert int(numbers['functions']) <= MOST_FUNCTIONS, done.stdout
    assert int(numbers['substrate']) <= MOST_SUBSTRATE, done.stdout


if __name__ == '__main__':
    report()
