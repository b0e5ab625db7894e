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
    """

    name: str
    summary: str
    groups: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)
    unlimited: tuple[str, ...] = ()


# by the schema; the module has the name of the schema and lies beside it
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
                        'yaw_variance_per_radian')),
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
            'EncoderCounts', 'Counts per turn of the encoders of wheels and steering axes.',
            parameters=('wheel_counts', 'steering_counts')),
    ),
}
