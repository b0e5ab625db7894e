# SPDX-License-Identifier: Apache-2.0
"""
Functions on the path of a message, as a profiler sees them; a script that prints two paths.

Without compilation (NUMBA_DISABLE_JIT=1) kernels are seen as well. Each function of the suite that
runs for a message counts once; timers, diagnostics, the emulator and the simulation do not.

    python test/nodes/path_watch.py cards
    python test/nodes/path_watch.py cycle
"""

import json
import sys
import threading
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]

# simulated time in which the path is watched, s: some plans of the torque law are due in it
WATCHED = 0.1

# a short horizon: the kernels are not compiled
SHORT = {'mpc.steps': 8, 'mpc.horizon': 0.2}


class PathWatch:
    """
    Profile function that notes the functions called below some entry points.

    Parameters
    ----------
    entries : dict
        Code object of an entry point: function that names its hop from the frame.
    left_out : tuple of str
        Begins of the names of files, relative to the root of the repository, whose functions, and
        all that these call, are not on the path.

    Attributes
    ----------
    hops : dict of set
        Functions of each hop: file relative to the root of the repository, line and name.
    passes : list of (set, int)
        Of each entry: the functions below it, and the number of Python calls, of any package.
    """

    def __init__(self, entries, left_out):
        self.on, self.hops, self.passes = False, defaultdict(set), []
        self._entries, self._left_out = entries, left_out
        self._local = threading.local()

    def __call__(self, frame, event, _):
        local = self._local
        begin = getattr(local, 'begin', None)
        if event == 'return' and frame in (begin, getattr(local, 'aside', None)):
            local.aside = None
            if frame is begin:
                local.begin = None
                self.passes.append((local.found, local.calls))
                self.hops[local.hop] |= local.found
        if event != 'call' or not self.on or getattr(local, 'aside', None) is not None:
            return
        code = frame.f_code
        if begin is None:
            if code not in self._entries:
                return
            local.begin, local.hop = frame, self._entries[code](frame)
            local.found, local.calls = set(), 0
        name = code.co_filename.removeprefix(f'{ROOT}/')
        if name.startswith(self._left_out):
            local.aside = frame
            return
        local.calls += 1
        if name.startswith('c3p_') and code.co_name != '<module>':
            local.found.add(f'{name}:{code.co_firstlineno} {code.co_name}')


def watch_cards():
    """
    Return the watch of a robot that drives behind emulated motor cards.

    Sample of the cards → joint_states → odom → torque → card: each hop by the middleware, as
    between processes.
    """
    from card_bench import CardBench

    from c3p_controller.velocity_controller_node import VelocityControllerNode
    from c3p_hardware.transport.cycle_loop import CycleLoop
    from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode
    from c3p_ros import node

    received = next(code for code in node.SuiteNode.listen.__code__.co_consts
                    if getattr(code, 'co_name', '') == 'received')
    watch = PathWatch({
        CycleLoop._cycle.__code__: lambda frame: 'cycle of the cards',
        received: lambda frame: '{} → {}'.format(
            frame.f_locals['subscription'].topic_name, frame.f_locals['self'].get_name())},
        ('c3p_ros/diagnostics.py',))
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
        bench.add(VelocityControllerNode, controller='mpc', **SHORT)
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
    return watch


def watch_cycle(**law):
    """
    Return the watch of a robot that drives to a goal with all nodes in one process.

    A pass is one ``joint_states`` with all that it causes, until the torques are sent: the nodes
    hand each other values. The simulated robot, which takes the torques, is left out.
    """
    from ros_bench import Bench

    from c3p_ros.exchange import Exchange

    watch = PathWatch({code: lambda frame: 'cycle' for code in (
        Exchange._take.__code__, Exchange.arrived.__code__)},
        ('c3p_ros/diagnostics.py', 'c3p_simulation/', 'test/'))
    bench = Bench(shared=True)
    try:
        # tf2_msgs is not installed everywhere
        bench.add_robot(velocity_controller=law, sensed_kinematics={'publish_tf': False})
        bench.wait_until_unlocked()
        bench.goal(2.0, 0.0, 0.0)
        bench.wait_for(lambda: bench.speed() > 0.1, 'moving')
        # others need no copy of what the nodes hand each other
        for heard in ('odom', 'wheel_effort'):
            bench.forget(heard)
        sys.setprofile(watch)
        watch.on = True
        bench.run(2 * WATCHED)
        watch.on = False
        sys.setprofile(None)
    finally:
        bench.close()
    return watch


def report(watch):
    """Print the hops and the largest pass; the last line has the numbers as JSON."""
    for hop, functions in sorted(watch.hops.items()):
        print(f'{hop}: {len(functions)}', *sorted(functions), sep='\n    ')
    union = set().union(*watch.hops.values())
    functions, _ = max(watch.passes, key=lambda one: len(one[0]))
    print(f'the largest pass: {len(functions)}', *sorted(functions), sep='\n    ')

    def files(found):
        return {function.partition(':')[0] for function in found}

    print(json.dumps({
        'hops': len(watch.hops), 'functions': len(union), 'files': len(files(union)),
        'substrate': sum(file.startswith('c3p_ros/') for file in files(union)),
        'passes': len(watch.passes), 'largest functions': len(functions),
        'largest files': len(files(functions)),
        'largest calls': max(calls for _, calls in watch.passes)}))


if __name__ == '__main__':
    import numba

    short = SHORT if numba.config.DISABLE_JIT else {}
    report(watch_cards() if sys.argv[1] == 'cards' else watch_cycle(**short))
