# SPDX-License-Identifier: Apache-2.0
"""What may happen to one device of the robot, and how it shows."""

from c3p_hardware.canopen.cia301 import NmtState
from c3p_hardware.canopen.cia402 import DriveState
from c3p_hardware.devices import SURPLUS

DRIVE, ENCODER = 2, 12
ENABLE_OPERATION = 0x0F
# controlwords that bring a drive to READY_TO_SWITCH_ON or further
TOWARDS_POWER = (0x06, 0x07, 0x0F)


def set_state(**values):
    """Return what changes a slave for good."""
    return lambda slave: [setattr(slave, k, v) for k, v in values.items()]


# kind: (node, what happens, cycles until it shows, words of the text, must be configured again)
FAULTS = {
    'silence': (DRIVE, set_state(silent=True), 12, ['silent for 0.0', 'OPERATION_ENABLED'], True),
    'silent encoder': (ENCODER, set_state(silent=True), 12, ['silent for 0.0'], True),
    'heartbeat': (DRIVE, set_state(heartless=True), 31, ['no heartbeat for 0.15',
                                                         'OPERATION_ENABLED'], True),
    'reboot': (ENCODER, set_state(nmt=NmtState.INITIALISING), 1, ['restarted'], True),
    'nmt': (DRIVE, set_state(nmt=NmtState.PRE_OPERATIONAL), 1, ['PRE_OPERATIONAL'], True),
    'duplicate': (ENCODER, set_state(twins=2), SURPLUS, ['two devices have this node id'], True),
    'emergency': (ENCODER, lambda s: s.emergency(0x5210), 1, ['measuring circuit (5210h)'], False),
    'emergency of a drive': (DRIVE, lambda s: s.emergency(0x4310), 1,
                             ['over-temperature of the drive (4310h)', 'OPERATION_ENABLED'],
                             False),
    'mode': (DRIVE, lambda s: s.health(mode=8), 1, ['cyclic synchronous position (8)',
                                                    'OPERATION_ENABLED'], True),
    'no mode': (DRIVE, lambda s: s.health(mode=0), 1, ['none (0)'], True),
    'fault': (DRIVE, lambda s: (s.health(error=0x2310), set_state(state=DriveState.FAULT)(s)), 1,
              ['FAULT: continuous over-current (2310h)'], False),
    'left': (DRIVE, set_state(state=DriveState.SWITCH_ON_DISABLED, sto=True), 1,
             ['SWITCH_ON_DISABLED', 'no voltage', 'STO'], False),
    'left by quick stop': (DRIVE, set_state(state=DriveState.QUICK_STOP_ACTIVE), 1,
                           ['left OPERATION_ENABLED on its own: QUICK_STOP_ACTIVE'], False),
    'alarm': (ENCODER, set_state(alarms=1), 1, ['position is not valid'], False),
    'range': (ENCODER, set_state(position=4096), 1, ['position 4096: must be below 4096'], False),
}


def heal(bench):
    """Let all devices be healthy again, and configured."""
    for slave in bench.slaves:
        set_state(nmt=NmtState.OPERATIONAL, sto=False, silent=False, heartless=False, twins=1,
                  position=0, alarms=0)(slave)
        if slave.drive:
            slave.health()
    bench.configure()
