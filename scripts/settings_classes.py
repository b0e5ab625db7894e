# SPDX-License-Identifier: Apache-2.0
"""
The classes of settings that are generated from the parameter schemas: which parameters each has.

A class has the parameters of its groups, in the order of the schema, and those named one by one.
The description, type, default and bounds of a field are those of its parameter.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Generated:
    """
    One class of settings.

    Attributes
    ----------
    name : str
    summary : str
        First line of the docstring; further paragraphs after an empty line.
    groups : tuple of str
        Groups whose parameters are fields.
    parameters : tuple of str
        Further parameters, by their dotted names; their fields come first.
    without : tuple of str
        Parameters of the groups without a field.
    fields : dict
        ``{parameter: field}`` of fields that have not the last part of the name.
    unlimited : tuple of str
        Fields for which inf means no limit, in Python.
    keywords : bool
        The fields are keyword arguments only, so that a subclass may have others before them.
    """

    name: str
    summary: str
    groups: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)
    unlimited: tuple[str, ...] = ()
    keywords: bool = False


# by the schema; the module has the name of the schema and is located beside it
CLASSES = {
    'c3p_kinematics/sensed_kinematics_parameters.yaml': (
        Generated(
            'SlipSettings', 'Settings of the slip monitor.', groups=('slip', 'alarm')),
        Generated(
            'GripSettings', 'Plausibility limits of contact velocities.', groups=('grip',),
            unlimited=('acceleration',)),
        Generated(
            'FaultSettings', 'Settings of the fault monitor; deviations are those of a '
            'description.', groups=('faults', 'alarm')),
        Generated(
            'OdometryParameters', 'Settings of the odometry that are parameters of its own.',
            parameters=('max_gap', 'robust', 'stamp_jitter', 'sample_skew', 'rate_noise_std',
                        'rate_lag', 'creep', 'position_variance_per_metre',
                        'position_variance_per_radian', 'yaw_variance_per_metre',
                        'yaw_variance_per_radian', 'tyre_creep', 'side_slip')),
        Generated(
            'DescriptionErrors', 'Standard deviations of the described parameters from the true '
            'ones.', groups=('description_std',), fields={
                'description_std.wheel_radius': 'radius',
                'description_std.caster_offset': 'offset',
                'description_std.hip_position': 'hip', 'description_std.steering_zero': 'zero'}),
        Generated(
            'GyroSettings', 'Errors of a gyro.', parameters=('imu.scale_std', 'imu.walk'),
            fields={'imu.scale_std': 'scale'}),
        Generated(
            'GyroFusionSettings', 'Settings of a gyro in the odometry.', groups=('imu',),
            fields={'imu.scale_std': 'scale'}),
        Generated(
            'LearningParameters', 'Settings of the calibration while driving.',
            parameters=('calibration.creep', 'calibration.memory')),
        Generated(
            'EncoderCounts', 'Counts per turn of the encoders of wheels and steering axes.',
            parameters=('wheel_counts', 'steering_counts')),
    ),
    'c3p_controller/velocity_controller_parameters.yaml': (
        Generated(
            'VelocityGains', "Gains of the papers' law.\n\nThe loops of velocity have K_v "
            '(`linear_gain`, `yaw_gain`) and K_i (`integral_gain`); on the spot those of ω grow '
            'by `turn_gain` and `turn_integral_gain`. The smoothing of the fed-forward friction '
            "is wider than the model's, so that it never chatters. The escape: where the rolling "
            'lines meet in one point no torque turns the platform, and only a push moves the '
            'casters.',
            parameters=('linear_gain', 'yaw_gain', 'turn_gain', 'turn_integral_gain', 'turn_speed',
                        'integral_gain', 'integral_limit', 'wheel_gain', 'lambda_1', 'lambda_2',
                        'friction_compensation', 'friction_smoothing', 'escape_jerk',
                        'standstill_speed', 'standstill_yaw_rate')),
        Generated(
            'ReferenceLimits', 'Limits of speed and acceleration of a reference; inf means no '
            'limit.',
            parameters=('speed_limit', 'yaw_rate_limit', 'acceleration_limit',
                        'yaw_acceleration_limit', 'command_smoothing'),
            fields={'speed_limit': 'speed', 'yaw_rate_limit': 'yaw_rate',
                    'acceleration_limit': 'acceleration',
                    'yaw_acceleration_limit': 'yaw_acceleration',
                    'command_smoothing': 'smoothing'},
            unlimited=('speed', 'yaw_rate', 'acceleration', 'yaw_acceleration')),
        Generated(
            'StopParameters', 'Controlled stop, brake and standstill.',
            parameters=('stop_acceleration', 'stop_damping', 'standstill_speed',
                        'standstill_yaw_rate')),
        Generated(
            'TractionSettings', 'Thresholds and times of traction control.\n\nA wheel slips above '
            '``slip_speed + slip_fraction·|Rx ν|``, and grips again below half. A gripping wheel '
            'faster than `overspeed` times its ``wheel_rate_limit`` for `OVERSPEED_TIME` is a '
            'fault.', groups=('traction',)),
        Generated('FusionParameters', 'Readings of eq. (13) of paper I.', groups=('fusion',)),
        Generated(
            'PredictiveParameters', 'Weights, horizon and observer of the predictive controller.',
            groups=('mpc',)),
        Generated(
            'ModuleGains', 'Gains and limits of the law of modules.', groups=('modules',)),
    ),
    'c3p_controller/position_controller_parameters.yaml': (
        Generated(
            'ExponentialParameters', 'Gains of the exponential law, and its goal zone.',
            parameters=('speed', 'approach', 'line_approach', 'yaw_gain', 'line_yaw_gain',
                        'yaw_rate', 'goal_tolerance', 'yaw_tolerance', 'stop_distance',
                        'stop_yaw')),
        Generated(
            'PathGains', 'Speed profile along a path, and goal zone.\n\nIn the equations `speed` '
            'is K, `acceleration` a, `deceleration` a_b, `approach` k, `line_approach` μ_⊥, '
            '`yaw_gain` K_Φ and `yaw_rate` ω_max. Inside the zone the robot approaches the goal '
            'to `stop_distance` and `stop_yaw` and then stops until it leaves the zone.',
            groups=('path',),
            parameters=('speed', 'path.acceleration', 'path.deceleration', 'path.approach',
                        'path.line_approach', 'path.yaw_gain', 'path.yaw_rate', 'goal_tolerance',
                        'yaw_tolerance')),
        Generated(
            'PaperPositionGains', 'Gains of eqs (14)-(16); the defaults are Table I as printed.'
            '\n\nA `goal_zone` of 0 disables the zone; with a zone a pure turn is reached at '
            'once, without turning.',
            parameters=('printed.axis_gain', 'printed.axis_rate', 'printed.yaw_gain',
                        'printed.line_yaw_gain', 'printed.goal_zone')),
        Generated(
            'PrintedReadings', 'Readings of eqs (14)-(16) of paper I.', groups=('printed',),
            without=('printed.axis_gain', 'printed.axis_rate', 'printed.yaw_gain',
                     'printed.line_yaw_gain', 'printed.goal_zone')),
    ),
    'c3p_dynamics/inverse_dynamics_parameters.yaml': (
        Generated('SharingSettings', 'Weight of the virtual steering torques where a force is '
                  'shared among the casters.', parameters=('virtual_steering_weight',)),
    ),
    'c3p_hardware/hardware_interface_parameters.yaml': (
        Generated(
            'CardParameters', 'Bus, timeouts and limits of the motor cards of a robot.',
            parameters=('master_id', 'rate', 'bus.bitrate', 'heartbeat_period',
                        'heartbeat_timeout', 'missed_cycles', 'silence_timeout', 'arming_timeout',
                        'command_timeout', 'stop_damping', 'max_steering_rate', 'rate_bandwidth',
                        'overspeed_margin', 'torque_tolerance', 'torque_deviation_time',
                        'rpdo_deadline', 'max_wheel_rate', 'stop_margin',
                        'brake_close_time', 'brake_open_time'), keywords=True),
    ),
    'c3p_hardware/ros2_control_bridge_parameters.yaml': (
        Generated('GateSettings', 'Limits of the last check before the motors.',
                  parameters=('command_timeout', 'stop_damping')),
    ),
    'c3p_simulation/simulation_parameters.yaml': (
        Generated(
            'SensorParameters', 'Encoders, motor cards and loop delay of a simulated robot.',
            parameters=('wheel_counts', 'steering_counts', 'latency', 'wheel_noise',
                        'steering_noise', 'dropout', 'rate_bandwidth')),
    ),
    'c3p_viewers/marker_parameters.yaml': (
        Generated(
            'SceneParameters', 'Frame, scales and thresholds of the scene that are parameters.',
            parameters=('base_frame', 'ground', 'twist_time', 'slip_time', 'least_slip'),
            fields={'base_frame': 'frame'}, keywords=True),
    ),
}
