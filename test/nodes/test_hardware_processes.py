# SPDX-License-Identifier: Apache-2.0
"""A hardware interface that ends, or is killed, while the robot drives: it stops by itself."""

import os
import signal

import pytest
import yaml

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from card_bench import CRUISE, NODE, SOON, CardBench  # noqa: E402

from c3p_bringup.processes import NodeProcess  # noqa: E402
from c3p_hardware.canopen.cia301 import NmtState  # noqa: E402
from c3p_hardware.canopen.cia402 import DriveState  # noqa: E402

# what the drives wait for the heartbeat of their master here, s; a computer of its own needs 0.15
HEARTBEAT_TIMEOUT = 1.0
# starting a process on a busy machine, s
STARTED = 120.0


class ProcessBench(CardBench):
    """A bench of which some nodes are processes."""

    def start(self, name, **parameters):
        """Start a node in a process of its own."""
        file = self.place / f'{name}_{len(self.processes)}.yaml'
        file.write_text(yaml.safe_dump({name: {'ros__parameters': parameters}}))
        process = NodeProcess(name, 'c3p_hardware.hardware_interface_node',
                              ['--params-file', str(file)], file.with_suffix('.log'))
        self.processes.append(process)
        self.health.pop(name, None)
        return process

    def end(self, process, number):
        """Send a signal and wait for the end of the process; return how it ended."""
        os.kill(process.pid, number)
        return self.wait_for(process.ended, f'the end of {process.name}', SOON)

    def wait_for_drive(self):
        """Drive as soon as the interface is there, all wheels with torque."""
        self.wait_for(lambda: self.joints, 'joint states', STARTED)
        self.drive_in_the_end(lambda: self.rates() > 0.7 * CRUISE and all(
            d.drive.state is DriveState.OPERATION_ENABLED and d.drive.target > 0
            for d in self.cards.drives), 'driving')


@pytest.fixture
def bench(tmp_path):
    bench = ProcessBench(tmp_path)
    yield bench
    bench.close()


@pytest.mark.slow
@pytest.mark.real_time
@pytest.mark.timeout(900)
def test_an_interface_that_is_ended_or_killed_leaves_drives_that_stop_by_themselves(bench):
    bench.add_cards()
    told = {**bench.parameters(), 'autostart': 'active', 'heartbeat_timeout': HEARTBEAT_TIMEOUT}
    # SIGINT: the node takes the voltage away before it goes
    process = bench.start(NODE, **told)
    bench.wait_for_drive()
    assert 'exit code 0' in bench.end(process, signal.SIGINT)
    assert DriveState.OPERATION_ENABLED not in bench.states()
    bench.wait_for(bench.off_and_at_rest, 'rest', SOON)
    bench.wait_for(bench.pre_operational, 'the end of process data', SOON)
    # SIGKILL: nobody says anything any more, and the last order was to push
    bench.joints.clear()
    process = bench.start(NODE, **told)
    bench.wait_for_drive()
    os.kill(process.pid, signal.SIGKILL)
    bench.wait_for(lambda: bench.rates() < 0.05, 'rest', SOON)
    bench.wait_for(bench.off_and_at_rest, 'no voltage', SOON)
    # 1029h: who has lost its master takes no orders
    assert {d.state for d in bench.cards.drives} == {NmtState.PRE_OPERATIONAL}
    # a new interface configures them, and moves nothing
    process = bench.start(NODE, **told)
    bench.joints.clear()
    bench.wait_for(lambda: bench.joints, 'joint states', STARTED)
    bench.rests(0.3)
    bench.wait_for_drive()
