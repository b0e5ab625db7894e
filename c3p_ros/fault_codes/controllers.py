# SPDX-License-Identifier: Apache-2.0
"""Codes of the velocity, position and module controllers and of the mux."""

from __future__ import annotations

from c3p_ros.fault_codes.code import codes_of

ZERO = 'send a command of zero, or nothing for the timeout of commands'
WIRING = 'check orders, signs and zeros of the joints with c3p commission'
LISTEN = 'start the forward controllers, and remap the topic to theirs'
SAMPLES = 'check the node that publishes joint_states, and its load'

VELOCITY = codes_of(
    'VC',
    (1, 'lock', ('starting;',), 'The controller has just started', ZERO),
    (2, 'lock', ('time went back',), 'Stamps of joint_states went back: a restarted simulation or '
     'bag, or a clock that was set', f'keep the clock monotonic, then {ZERO}'),
    (3, 'lock', ('several encoders have jumped',), 'Several joints jumped in one sample: the '
     'motor cards have restarted', f'check the supply of the cards, then {ZERO}'),
    (4, 'lock', ('nothing to answer for',), 'No cycle for longer than chain_timeout: a pause of '
     'this computer or of the chain', f'look for load and for lost messages, then {ZERO}'),
    (5, 'lock', ('the stop has no effect',), 'A commanded stop does not slow the robot down',
     'press the emergency stop, then check motor leads and other sources of torque'),
    (6, 'lock', ('the torque is not finite',), 'The law computed a torque that is not finite',
     'check masses and lengths of the description'),
    (7, 'lock', ('the law failed',), 'The torque law failed',
     'see the code of the condition "law", which has the reason'),
    (8, 'lock', ('the desired acceleration is not finite',), 'The reference of the law "paper" is '
     'not finite', 'check gains and limits of the controller'),
    (9, 'lock', ('have slipped for', 'has slipped for'), 'Traction control cannot end the slip',
     'clean the floor and the wheels, or reduce the acceleration'),
    (10, 'lock', ('turns at',), 'A wheel turns faster than its limit',
     'look for a wheel that spins, a slope, or wrong gear ratios'),
    (11, 'lock', ('no joint_states', 'no odom', 'no dynamics_effort', 'no single publisher'),
     'A part of the control chain is missing', f'restore that node, then {ZERO}'),
    (12, 'lock', ('contradict the description', 'more than one wheel slips'),
     'The pose is unknown: the joints contradict each other', WIRING),
    (19, 'lock', (), 'Locked for another reason', f'read the text of the condition, then {ZERO}'),
    (20, 'chain', ('no joint_states',), 'No joint_states: the wheels brake',
     'restart the hardware interface or the simulation'),
    (21, 'chain', ('no odom',), 'No odometry: the wheels brake', 'restart sensed_kinematics'),
    (22, 'chain', ('no dynamics_effort',), 'No response of the inverse dynamics: the wheels brake',
     'restart inverse_dynamics'),
    (23, 'chain', (), 'A topic of the chain has more than one publisher, or another part is '
     'missing', 'stop the second publisher'),
    (30, 'cmd_vel', (), 'The commands have expired: the robot stands',
     'restore the source of the commands, or let it end with a zero'),
    (40, 'law', ('diverges',), 'The law drives the robot far beyond its command',
     'check masses, lengths, wiring and gains'),
    (41, 'law', ('must be finite',), 'The law computed a torque that is not finite',
     'check masses and lengths of the description'),
    (49, 'law', (), 'The law raised an error', 'read its text; a law of another package: its '
     'author'),
    (50, 'stop', (), 'A commanded stop has no effect: wheel_effort is silent, the drives brake',
     'press the emergency stop, then check motor leads and other sources of torque'),
    (60, 'traction', ('have slipped for', 'has slipped for'), 'Slip that traction control cannot '
     'end', 'clean the floor and the wheels, or reduce the acceleration'),
    (61, 'traction', ('turns at',), 'A wheel turns faster than its limit',
     'look for a wheel that spins, a slope, or wrong gear ratios'),
    (69, 'traction', (), 'The torque of a wheel is limited, because it slips or has slipped',
     'clean the floor, or reduce the acceleration, if it lasts'),
    (75, 'reduced', (), 'The reduced-speed mode limits the speed',
     'none needed; or publish false on reduced_speed again and again'),
    (70, 'step', (), 'Cycles take longer than their period',
     'free the processor, set a priority, or reduce the rate'),
)

POSITION = codes_of(
    'PC',
    (1, 'goal', ('no odometry for',), 'The goal waits for odometry', 'restart sensed_kinematics'),
    (9, 'goal', (), 'The goal was given up', 'see the code of its result'),
    (10, 'lock', (), 'The velocity controller is locked; the goal waits',
     'see the lock of the velocity controller'),
    (20, 'result', ('cancelled',), 'The goal was cancelled on request', 'none needed'),
    (21, 'result', ('preempted',), 'A newer goal took its place', 'none needed'),
    (22, 'result', ('no progress',), 'The robot did not approach the goal for progress_timeout',
     'remove the obstacle; check slip, locks and disabled motors'),
    (23, 'result', ('no odometry',), 'The odometry was lost for longer than odom_patience, or '
     'came back elsewhere', 'restart sensed_kinematics, and send the goal again'),
    (24, 'result', ('time went back',), 'Stamps of the odometry went back',
     'keep the clock monotonic, and send the goal again'),
    (25, 'result', ('no command',), 'The position law computed a command that is not finite',
     'check gains and goal'),
    (26, 'result', ('robot restarted',), 'The robot or its controller was restarted',
     'send the goal again'),
    (27, 'result', ('stopped',), 'The velocity controller stopped the robot, or the pose is '
     'unknown', 'see the lock of the velocity controller'),
    (28, 'result', ('refused',), 'The goal was not accepted', 'read the text of the result'),
)

MODULE = codes_of(
    'MC',
    (1, 'lock', ('starting;',), 'The controller has just started', ZERO),
    (2, 'lock', ('time went back',), 'Stamps of joint_states went back', ZERO),
    (3, 'lock', ('nothing to answer for',), 'No cycle for longer than chain_timeout',
     f'look for load and for lost messages, then {ZERO}'),
    (4, 'lock', ('the commands are not finite',), 'The law computed a command that is not finite',
     'check lengths and limits of the description'),
    (5, 'lock', ('no joint_states', 'no single publisher'), 'joint_states are missing, or have '
     'more than one publisher', SAMPLES),
    (6, 'lock', ('no subscriber',), 'The commands have no subscriber', LISTEN),
    (19, 'lock', (), 'Locked for another reason', f'read the text of the condition, then {ZERO}'),
    (20, 'chain', (), 'joint_states are missing: the wheels stop', SAMPLES),
    (30, 'cmd_vel', (), 'The commands have expired: the robot stands',
     'restore the source of the commands, or let it end with a zero'),
    (40, 'listener', (), 'The commands have no subscriber', LISTEN),
    (50, 'stops', (), 'A steering joint is beyond its stop', 'check its zero'),
    (51, 'modules', (), 'A steering joint does not follow its command',
     'check its drive and its controller'),
    (52, 'wheels', (), 'A wheel does not follow its command', 'check its drive and the floor'),
    (53, 'rates', (), 'Rates of joints contradict their angles',
     'check signs and units of the velocities in joint_states'),
    (75, 'reduced', (), 'The reduced-speed mode limits the speed',
     'none needed; or publish false on reduced_speed again and again'),
    (70, 'step', (), 'Cycles take longer than their period',
     'free the processor, set a priority, or reduce the rate'),
)

MUX = codes_of(
    'MX',
    (1, 'start', (), 'The state of a lock is unknown, and it is closed',
     'release it: ~/release, or key r of c3p teleop'),
    (2, 'lock', (), 'A lock, such as the e-stop, is closed',
     'remove its cause, then publish false on its topic'),
    (3, 'waits', (), 'A source that was masked must begin with a zero', ZERO),
    (4, 'past', (), 'A node publishes cmd_vel past all priorities and locks',
     'remap it to a source of the mux'),
    (5, 'enable', (), 'A source commands while its enabling device is not held',
     'hold the device; after that the source begins with a zero'),
)

# conditions are the identities of the promises
EVIDENCE = 'keep a bag of it, stop the robot, and read the evidence'
MONITOR = codes_of(
    'PR',
    (1, 'torque-limits', (), 'A torque command is not finite, or above the limit of its motor',
     f'look for a second publisher of wheel_effort; {EVIDENCE}'),
    (2, 'command-timeout', (), 'The robot moves on without commands',
     f'look for a slope or a push; {EVIDENCE}'),
    (3, 'gate-opens-by-zero', (), 'A motor drives without torque commands, before one of zero',
     EVIDENCE),
    (10, 'lock-stops', (), 'A command moves the robot although a lock is pressed',
     f'look for a publisher of cmd_vel past the mux; {EVIDENCE}'),
    (11, 'unknown-closes', (), 'A command moves the robot before a lock was released after a '
     'start of the mux', f'look for a publisher of cmd_vel past the mux; {EVIDENCE}'),
    (12, 'silence-closes', (), 'A command moves the robot although a lock with a timeout is '
     'silent', f'look for a publisher of cmd_vel past the mux; {EVIDENCE}'),
    (13, 'no-resume', (), 'A source moves the robot on after a lock or a higher source, without '
     'a zero', EVIDENCE),
)
