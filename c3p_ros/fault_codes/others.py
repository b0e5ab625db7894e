# SPDX-License-Identifier: Apache-2.0
"""Codes of inputs, odometry, simulation, recorder and of the checks of ``c3p doctor``."""

from __future__ import annotations

from c3p_ros.fault_codes.code import codes_of

# conditions of messages; the others are those of the diagnostics
REJECTED = 'refused'
UNREAD = 'recorded unread'
WITHHELD = 'not published'
NOT_RECEIVED = 'not received'

CLOCKS = 'synchronise the clocks of the computers'
NUMBERS = 'check the node that publishes it'
RANGE = 'limit the range of discovery: ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST'

INPUTS = codes_of(
    'IN',
    (1, REJECTED, ('stale',), 'Messages are too old', CLOCKS),
    (2, REJECTED, ('from the future',), 'Stamps of messages are ahead of the clock', CLOCKS),
    (3, REJECTED, ('out of order', 'must be later'), 'Messages are out of order',
     'look for a second publisher or a clock that was set'),
    (4, REJECTED, ('finite', 'not a rotation', 'not a finite'), 'Numbers are invalid', NUMBERS),
    (5, REJECTED, ('stamp is zero',), 'Messages have no stamp', NUMBERS),
    (6, REJECTED, ('frame',), 'Frame of messages is unknown', 'correct the frame_id'),
    (7, REJECTED, ('joint', 'values for', 'missing'), 'Joints are missing or named twice',
     'correct the names in the message, or the description'),
    (8, REJECTED, ('CDR', 'bytes', 'cut off', 'must be at most'), 'Messages are malformed',
     NUMBERS),
    (9, REJECTED, (), 'Messages are rejected for another reason', 'read the text'),
    (10, UNREAD, (), 'A message is recorded without being read', NUMBERS),
    (11, WITHHELD, (), 'A message with invalid numbers was withheld',
     'check the inputs of this node'),
    (12, NOT_RECEIVED, (), 'A publisher is not received: type or QoS differ',
     'publish the expected type and QoS, or remap'),
    (13, 'publishers', ('one of them publishes',), 'A publisher was started again; its '
     'predecessor is still listed', 'wait until the network forgets it'),
    (14, 'publishers', (), 'A topic of the control chain has more than one publisher: the wheels '
     'brake', 'stop the second publisher'),
    (99, 'other', (), 'A condition without a code of its own', 'read the text'),
)

ODOMETRY = codes_of(
    'OD',
    (1, 'joint_states', (), 'joint_states are missing: the pose stands still',
     'restart the hardware interface or the simulation'),
    (2, 'pose', ('contradict the description',), 'The pose is unknown: wrong wiring or '
     'description', 'find the wiring with c3p commission'),
    (3, 'pose', ('more than one wheel slips',), 'The pose is unknown: several wheels contradict',
     'check that no two casters are exchanged'),
    (9, 'pose', (), 'The pose is unknown', 'read the text of the condition'),
    (10, 'slip', (), 'A wheel slips', 'clean the floor; check the encoder of that wheel'),
    (11, 'gap', (), 'A gap between joint_states, bridged by the joint positions',
     'look for load and for lost messages'),
    (12, 'rates', (), 'Rates of joints contradict their angles',
     'check signs and units of the velocities in joint_states'),
    (13, 'restart', (), 'Several joints jumped in one sample: the motor cards have restarted',
     'check the supply of the cards'),
    (14, 'calibration', (), 'The calibration should not be relied on',
     'drive on a floor with grip, or ~/forget_calibration'),
    (16, 'faults', (), 'A joint contradicts the others', 'check the joint that the text names'),
    (17, 'grip', (), 'All wheels spin together', 'reduce the acceleration; clean the floor'),
    (18, 'trust', (), 'The pose has become uncertain', 'set the pose: set_pose, or ~/reset'),
    (15, 'imu', (), 'The IMU contradicts the joints', 'check imu.axis and its mounting'),
)

NODES = codes_of(
    'SM',
    (1, 'pace', (), 'The simulation is slower than real time', 'free the processor'),
    (2, 'wheels', (), 'The simulated wheels brake without a command',
     'restore the velocity controller; it begins with a zero'),
    (3, 'faults', (), 'Faults are injected into the emulated cards on purpose', 'none needed'),
    (10, 'model', (), 'The simulated vehicle cannot move on', 'call ~/restart'),
    (11, 'cmd_vel', (), 'The simulated vehicle has no valid command', 'send valid commands'),
) + codes_of(
    'RC',
    (1, 'bag', (), 'The bag cannot be written: the recording has ended',
     'free the disk, and start the recorder again'),
    (2, 'robot_description', (), 'The description of the robot cannot be read',
     'correct the parameter robot'),
    (9, 'topic', (), 'A topic is not recorded', 'install the package of its type'),
)

# conditions are the names of the checks
DOCTOR = codes_of(
    'DR',
    (1, 'Python', (), 'The version of Python is not one of the tested ones',
     'install a supported version'),
    (3, 'rclpy', (), 'rclpy is missing or not one of the tested releases',
     'install ROS 2, or the extra kilted of the suite'),
    (4, 'ROS_DISTRO', (), 'Two ROS 2 distributions are mixed', 'source one of them'),
    (5, 'middleware', (), 'The middleware cannot be used', 'set RMW_IMPLEMENTATION'),
    (6, 'executor', (), 'The fast executor is not available', 'update rclpy'),
    (7, 'log files', (), 'Log files are large', 'delete old ones'),
    (10, 'ROS_DOMAIN_ID', (), 'The domain is invalid or uncommon', 'choose 1 to 101'),
    (11, 'discovery range', (), 'Other computers may command this robot', RANGE),
    (12, 'ROS_LOCALHOST_ONLY', (), 'A deprecated variable, with another effect than expected',
     RANGE),
    (13, 'ROS_SECURITY_ENABLE', (), 'SROS2 is not in effect', 'write true'),
    (14, 'ROS_SECURITY_STRATEGY', (), 'Nodes without keys start unprotected', 'write Enforce'),
    (15, 'zenoh router', (), 'No router of Zenoh on this computer', 'start it first'),
    (16, 'robots on the air', (), 'Another robot publishes on the same topics',
     'give each robot a namespace or a ROS_DOMAIN_ID'),
    (20, 'machine code', (), 'Compiled kernels cannot be used or kept',
     'make the cache writable; delete damaged files'),
    (21, 'control laws', (), 'A law of another package cannot be used', 'see its package'),
    (30, 'robot', (), 'The robot cannot be read', 'correct the file, or name another robot'),
    (31, 'parameters', (), 'A parameter file is wrong', 'correct the file'),
    (32, 'motor cards', (), 'The parameters of the motor cards are wrong',
     'correct the parameters of hardware_interface'),
    (40, 'processors', (), 'Only one processor', 'give the robot two'),
    (41, 'governor', (), 'The processor saves power', 'set the governor performance'),
    (42, 'real-time priority', (), 'Real-time priority is not allowed', 'set rtprio'),
    (43, 'locked memory', (), 'Locked memory is not allowed', 'set memlock'),
    (44, 'sleeping processors', (), 'Processors may sleep', 'allow /dev/cpu_dma_latency'),
    (45, 'real time', (), 'A loop with priority may starve others', 'allow two processors'),
    (46, 'wake-up', (), 'Threads wake up late', 'close programs; set governor and priority'),
    (47, 'clock', (), 'The clock is wrong or steps', 'let chrony slew it'),
    (48, 'shared memory', (), 'Shared memory is short, or has old files', 'increase or clean it'),
    (49, 'serial ports', (), 'Serial ports are not accessible', 'join the group dialout'),
    (50, 'CAN', (), 'The CAN interface is missing, down or faulty',
     'check adapter, bit rate and termination'),
    (98, 'check', ('missing; needed by',), 'A package is missing', 'install it'),
    (99, 'check', (), 'Another check failed', 'read its text'),
)
