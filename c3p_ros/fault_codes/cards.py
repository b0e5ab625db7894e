# SPDX-License-Identifier: Apache-2.0
"""Codes of motor cards and encoders, the hardware interface, and the ros2_control bridge."""

from __future__ import annotations

from c3p_ros.fault_codes.code import codes_of

CABLE = 'check power, cable, termination and node id'
RECOVER = 'then ~/recover and ~/enable'
MASTER = 'stop the other master'
ENCODER = 'check the encoder, its cable and its shaft coupling'

# conditions of the error classes of CiA 301 and 402: the first digit of the error code
ERROR_CLASS = 'error class {}'

CARDS = codes_of(
    'CM',
    # the bus
    (1, 'bus', (), 'The CAN interface fails', f'check adapter and driver, {RECOVER}'),
    (2, 'bus_off', (), 'The CAN controller is bus-off: too many errors',
     f'check cable, termination and bit rate, {RECOVER}'),
    (3, 'silence', ('no device responds',), 'No device responds',
     f'check power of the cards, cable, termination and bit rate, {RECOVER}'),
    (4, 'foreign_command', (), 'Frames of another master on the bus', f'{MASTER}, {RECOVER}'),
    # a device
    (10, 'silence', (), 'A device is silent', f'{CABLE}, {RECOVER}'),
    (11, 'heartbeat', (), 'A device sends no heartbeat', f'{CABLE}, {RECOVER}'),
    (12, 'reboot', (), 'A device has restarted and lost its configuration',
     f'check its supply, {RECOVER}'),
    (13, 'nmt', (), 'A device has left the state OPERATIONAL', f'{MASTER}, {RECOVER}'),
    (14, 'duplicate', (), 'Two devices have one node id, or another master sends SYNC',
     f'give each device its own node id, {RECOVER}'),
    # a drive
    (20, 'fault', (), 'A drive is in FAULT without an error code',
     f'read its error history (1003h), {RECOVER}'),
    (21, 'emergency', (), 'An emergency message without a known error class',
     f'see the manual of the device, {RECOVER}'),
    (22, 'mode', (), 'A drive is in another mode than configured', f'{MASTER}, {RECOVER}'),
    (23, 'enabled', (), 'A drive without a motor in the description is enabled',
     f'{MASTER}, {RECOVER}'),
    (24, 'left', ('no voltage at the power stage',), 'A drive has no voltage at its power stage',
     f'check motor supply and STO inputs, {RECOVER}'),
    (25, 'left', (), 'A drive is not enabled although it should be',
     f'read its error history (1003h), {RECOVER}'),
    (26, 'overspeed', (), 'A joint turns faster than its limit',
     f'look for a wheel that spins, a slope or a second source of commands, {RECOVER}'),
    (27, 'torque', (), 'The torque of a drive deviates from its command',
     f'check current limits, torque slope and motor cables, {RECOVER}'),
    (28, 'warning', (), 'A drive or encoder states a warning', 'see the manual of the device'),
    # error codes of the drives
    (110, ERROR_CLASS.format('1'), (), 'Generic error (1xxxh)',
     f'see the manual of the drive, {RECOVER}'),
    (120, ERROR_CLASS.format('2'), (), 'Current (2xxxh)',
     f'check motor, motor cable and current limits, {RECOVER}'),
    (130, ERROR_CLASS.format('3'), (), 'Voltage (3xxxh)',
     f'check motor supply and brake chopper, {RECOVER}'),
    (140, ERROR_CLASS.format('4'), (), 'Temperature (4xxxh)',
     f'let it cool; check load and ventilation, {RECOVER}'),
    (150, ERROR_CLASS.format('5'), (), 'Device hardware (5xxxh)',
     f'check the electronics supply, or replace the drive, {RECOVER}'),
    (160, ERROR_CLASS.format('6'), (), 'Device software (6xxxh)',
     f'check parameters and firmware, {RECOVER}'),
    (170, ERROR_CLASS.format('7'), (), 'Motor, brake or sensor (7xxxh)', f'{ENCODER}, {RECOVER}'),
    (180, ERROR_CLASS.format('8'), (), 'Communication or monitoring (8xxxh)',
     f'{CABLE}, {RECOVER}'),
    (190, ERROR_CLASS.format('9'), (), 'External error (9xxxh)',
     f'check the inputs of the drive, {RECOVER}'),
    (199, ERROR_CLASS.format('F'), (), 'Error of the manufacturer (Fxxxh)',
     f'see the manual of the drive, {RECOVER}'),
    # stops
    (30, 'quick_stop', (), 'A quick stop was requested', 'call ~/recover and ~/enable'),
    (31, 'stop', (), 'A quick stop has no effect: the voltage is switched off',
     f'check motor leads, polarity (607Eh) and encoder channels, {RECOVER}'),
    (32, 'brake', (), 'The brake of the wheels has no effect',
     f'look for a slope, a push, or exchanged motor leads, {RECOVER}'),
    (33, 'voltage', (), 'A drive does not follow "voltage off": the heartbeat has ended',
     f'press the emergency stop (STO), then check its command PDO, {RECOVER}'),
    (34, 'sense', (), 'A motor turns against its counts',
     f'exchange motor leads or encoder channels, {RECOVER}'),
    (35, 'moving', (), 'The robot does not come to rest', f'wait until it stands, {RECOVER}'),
    # sensors
    (40, 'jump', (), 'The position of an encoder jumped', f'{ENCODER}, {RECOVER}'),
    (41, 'counts', (), 'The counts of a wheel contradict the other casters',
     f'check the motor encoder and drives.directions, {RECOVER}'),
    (42, 'stuck', (), 'The angle of an encoder is stuck', f'check its coupling, {RECOVER}'),
    (43, 'drift', ('after arming',), 'Joints contradict each other soon after arming: wiring',
     f'check directions, node ids and zeros with c3p commission, {RECOVER}'),
    (44, 'drift', (), 'The angle of an encoder drifts against the motion',
     f'{ENCODER}, {RECOVER}'),
    (45, 'alarm', (), 'An encoder states an alarm', f'clean or replace it, {RECOVER}'),
    (46, 'range', (), 'The position of an encoder is out of range',
     f'correct encoders.counts and encoders.range, {RECOVER}'),
    (47, 'wiring', (), 'Joints are exchanged or reversed, or their zeros are off',
     f'find the wiring with c3p commission, {RECOVER}'),
    (99, 'motors', (), 'Another fault of the motor cards', f'read its text, {RECOVER}'),
)

HARDWARE = codes_of(
    'HW',
    (1, 'configure', ('CAN bus',), 'The bus cannot be opened',
     'connect the adapter, and set bus.interface, bus.channel and bus.bitrate'),
    (2, 'configure', ('no heartbeat',), 'Devices do not start', CABLE),
    (9, 'configure', (), 'A device refuses or differs from its configuration',
     'read the text: it names device, object and value'),
    (10, 'late', (), 'Samples of a device are late: all torques are zero',
     f'{CABLE}; check the bus load'),
    (20, 'wheels', ('old, at most',), 'The torque commands are missing: the wheels brake',
     'restore the velocity controller; it begins with a zero'),
    (21, 'wheels', ('a command came while arming',), 'A command came during arming',
     'release the command, then arm again'),
    (22, 'wheels', ('publishers',), 'A topic has more than one publisher',
     'stop the second publisher'),
    (29, 'wheels', (), 'The wheels brake for another reason', 'read the text of the condition'),
    (30, 'bus', (), 'The CAN interface blocks', 'disconnect and connect the adapter'),
    (40, 'refusal', ('the node is not active',), 'Refused: the node is not active',
     'ros2 lifecycle set /hardware_interface activate'),
    (41, 'refusal', ('the node is not configured',), 'Refused: the node is not configured',
     'ros2 lifecycle set /hardware_interface configure'),
    (42, 'refusal', ('no fresh wheel_effort',), 'Refused: no recent command',
     'start the controllers first'),
    (43, 'refusal', ('arming needs zeros',), 'Refused: a command other than zero',
     'release the command first'),
    (44, 'refusal', ('not at rest',), 'Refused: the robot is not at rest',
     'wait until it stands, or press the emergency stop'),
    (45, 'refusal', ('no sample yet',), 'Refused: a device has not been sampled', CABLE),
    (46, 'refusal', ('the bus is closed',), 'Refused: the bus is closed', 'call ~/recover'),
    (47, 'refusal', ('publishers',), 'Refused: a topic has more than one publisher',
     'stop the second publisher'),
    (49, 'refusal', (), 'Refused: a fault is present, or the state does not allow it',
     'read the text, and see the codes of the devices'),
)

BRIDGE = codes_of(
    'BR',
    (1, 'commands', ('no controller writes',), 'No controller writes the effort interfaces',
     'activate the controller'),
    (2, 'commands', ('have been the same',), 'The torques are frozen: their controller has ended',
     'activate the controller'),
    (9, 'commands', (), 'The commands of the controller cannot be used', 'read the text'),
    (10, 'wheels', ('coast',), 'No joint_states: the wheels coast', 'restart the broadcaster'),
    (11, 'wheels', ('old, at most',), 'The torque commands are missing: the wheels brake',
     'restore the velocity controller; it begins with a zero'),
    (12, 'wheels', ('the torques are not finite',), 'A torque is not finite',
     'check the source of the torques'),
    (19, 'wheels', (), 'The wheels brake for another reason', 'read the text of the condition'),
    (20, 'listener', (), 'The torques have no subscriber',
     'start the controller or the hardware, and check its topic'),
)
