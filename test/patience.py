# SPDX-License-Identifier: Apache-2.0
"""Parameters for drives in real time on a machine that runs other tests, too."""

import yaml

# a robot stops when its computer stands still for 0.2 s, which a busy one does; a drive that is
# to arrive waits longer, s
NODES = {
    'velocity_controller': {'chain_timeout': 2.0, 'cmd_vel_timeout': 2.0},
    'position_controller': {'odom_timeout': 2.0},
    'simulation': {'command_timeout': 2.0},
    'hardware_interface': {
        'silence_timeout': 2.0, 'heartbeat_timeout': 4.0, 'heartbeat_period': 0.1,
        'command_timeout': 2.0, 'arming_timeout': 10.0, 'missed_cycles': 100},
}


def patient_parameters(folder, prefix=''):
    """Write the file for ``--params-file`` into `folder`; `prefix` of nodes' names: ``/**/``."""
    path = folder / 'patient.yaml'
    path.write_text(yaml.safe_dump({
        f'{prefix}{name}': {'ros__parameters': values} for name, values in NODES.items()}))
    return path
