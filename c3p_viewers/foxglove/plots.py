# SPDX-License-Identifier: Apache-2.0
"""
The plots of the layouts for Foxglove and PlotJuggler: which fields of which topics.

One list, so that both show the same. scripts/write_viewer_layouts.py writes the layouts.
"""

from __future__ import annotations

from typing import NamedTuple

from c3p_bags.report.palette import caster_colour
from c3p_description.model import CasterRobot
from c3p_viewers.foxglove.scene_channel import NUMBERS

# key of the measure in the diagnostics
SIGMA_MIN = 'sigma_min of the wheel Jacobian'


class Curve(NamedTuple):
    """
    One line of a plot.

    `foxglove`: message path of the Foxglove app: topic and fields; `plotjuggler`: name of the
    series in PlotJuggler, which names joints and diagnostics by their names.
    """

    label: str
    colour: str
    foxglove: str
    plotjuggler: str


class Plot(NamedTuple):
    """A plot: identifier, title with unit, and its curves."""

    name: str
    title: str
    curves: tuple[Curve, ...]


def plots(robot: CasterRobot) -> tuple[Plot, ...]:
    """
    Return the plots of a robot.

    `robot`: gives names of joints and their number.
    """
    return (*(_twist(*axis) for axis in (
        ('vx', 'velocity along x [m/s]', 'linear.x'), ('vy', 'velocity along y [m/s]', 'linear.y'),
        ('omega', 'yaw rate [rad/s]', 'angular.z'))), *_wheels(robot))


def _twist(name: str, title: str, field: str) -> Plot:
    """Return the plot of a component of the twist: commanded, by odometry and true."""
    slashed = field.replace('.', '/')
    # the last one lies over the others
    lines = (('commanded', '#E69F00', '/cmd_vel', 'twist'),
             ('true', '#7f7f7f', '/ground_truth/odom', 'twist.twist'),
             ('odometry', '#0072B2', '/odom', 'twist.twist'))
    return Plot(name, title, tuple(
        Curve(label, colour, f'{topic}.{path}.{field}',
              f'{topic}/{path.replace(".", "/")}/{slashed}')
        for label, colour, topic, path in lines))


def _wheels(robot: CasterRobot) -> tuple[Plot, ...]:
    """Return the plots with a curve per caster, and that of the measure."""
    slip = '/sensed_kinematics/wheel_slip'
    casters = range(robot.count)
    return (
        Plot('steering', 'steering [rad]', tuple(
            Curve(f'caster {i + 1}', caster_colour(i), f'/joint_states.position[{i}]',
                  f'/joint_states/{robot.steering_joints[i]}/position') for i in casters)),
        Plot('torque', 'commanded wheel torque [N·m]', tuple(
            Curve(f'wheel {i + 1}', caster_colour(i), f'/wheel_effort.effort[{i}]',
                  f'/wheel_effort/{robot.wheel_joints[i]}/effort') for i in casters)),
        Plot('slip', 'slip of each wheel [m/s]', tuple(
            Curve(f'wheel {i + 1}', caster_colour(i), f'{slip}.position[{i}]',
                  f'{slip}/{robot.wheel_joints[i]}/position') for i in casters)),
        Plot('sigma_min', 'distance from a singularity, σ_min', (
            Curve('σ_min', '#009E73', f'{NUMBERS}.sigma_min',
                  f'/diagnostics/{robot.name}/sensed_kinematics: state/{SIGMA_MIN}'),)),
    )
