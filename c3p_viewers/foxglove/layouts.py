# SPDX-License-Identifier: Apache-2.0
"""
Layouts for Foxglove and PlotJuggler, as these programs import them, with the same plots.

scripts/write_viewer_layouts.py writes them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from c3p_description.model import CasterRobot
from c3p_description.wheels import steering_axes
from c3p_plots.palette import caster_colour
from c3p_viewers.foxglove.scene_channel import NUMBERS, SCENE

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
    # the last one is drawn over the others
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
    axes = np.flatnonzero(steering_axes(robot)).tolist()
    angles = list(robot.joint_places)
    efforts = list(robot.effort_places)
    return (
        Plot('steering', 'steering [rad]', tuple(
            Curve(f'caster {i + 1}', caster_colour(i),
                  f'/joint_states.position[{angles.index(robot.steering_joints[i])}]',
                  f'/joint_states/{robot.steering_joints[i]}/position') for i in axes)),
        Plot('torque', 'commanded wheel torque [N·m]', tuple(
            Curve(f'wheel {i + 1}', caster_colour(i), f'/wheel_effort.effort[{i}]',
                  f'/wheel_effort/{robot.wheel_joints[i]}/effort') for i in casters)),
        *([Plot('turning', 'commanded steering torque [N·m]', tuple(
            Curve(f'caster {i + 1}', caster_colour(i),
                  f'/wheel_effort.effort[{efforts.index(robot.steering_joints[i])}]',
                  f'/wheel_effort/{robot.steering_joints[i]}/effort')
            for i in axes if robot.steered[i]))] if robot.efforts > robot.count else []),
        Plot('slip', 'slip of each wheel [m/s]', tuple(
            Curve(f'wheel {i + 1}', caster_colour(i), f'{slip}.position[{i}]',
                  f'{slip}/{robot.wheel_joints[i]}/position') for i in casters)),
        *([] if robot.other_wheels else [
            Plot('sigma_min', 'distance from a singularity, σ_min', (
                Curve('σ_min', '#009E73', f'{NUMBERS}.sigma_min',
                      f'/diagnostics/{robot.name}/sensed_kinematics: state/{SIGMA_MIN}'),))]),
    )


# frames whose axes are shown, and what is behind everything
AXES = ('odom', 'base_link')
GROUND = '#14181d'


def foxglove_layout(plots: Sequence[Plot]) -> str:
    """
    Return the layout of the Foxglove app: robot and scene, plots, diagnostics and log.

    Returns
    -------
    str
        JSON, to be imported with "Layouts", "Import from file".
    """
    panels = {'3D!robot': _robot_panel(),
              **{f'Plot!{plot.name}': _plot_panel(plot) for plot in plots},
              'DiagnosticSummary!health': {
                  'minLevel': 0, 'pinnedIds': [], 'hardwareIdFilter': '',
                  'topicToRender': '/diagnostics', 'sortByLevel': True},
              'RosOut!log': {'topicToRender': '/rosout', 'minLogLevel': 1}}
    below = {'direction': 'row', 'first': 'DiagnosticSummary!health', 'second': 'RosOut!log',
             'splitPercentage': 50}
    left = {'direction': 'column', 'first': '3D!robot', 'second': below, 'splitPercentage': 78}
    layout = {'direction': 'row', 'first': left, 'splitPercentage': 58,
              'second': _stack([f'Plot!{plot.name}' for plot in plots])}
    return json.dumps({'configById': panels, 'globalVariables': {}, 'userNodes': {},
                       'playbackConfig': {'speed': 1}, 'layout': layout}, indent=2,
                      ensure_ascii=False) + '\n'


def _stack(names: Sequence[str]) -> str | dict[str, Any]:
    """Return panels of equal height, one below the other."""
    if len(names) == 1:
        return names[0]
    return {'direction': 'column', 'first': names[0], 'second': _stack(names[1:]),
            'splitPercentage': round(100 / len(names), 2)}


def _robot_panel() -> dict[str, Any]:
    """Return the 3D panel: it goes along with the robot, and a click sends it to a goal."""
    return {
        'cameraState': {'distance': 3.2, 'perspective': True, 'phi': 48, 'thetaOffset': 55,
                        'target': [0, 0, 0], 'targetOffset': [0, 0, 0],
                        'targetOrientation': [0, 0, 0, 1], 'fovy': 45, 'near': 0.05, 'far': 500},
        'followMode': 'follow-position', 'followTf': 'base_link',
        'scene': {'backgroundColor': GROUND,
                  'transforms': {'axisScale': 0.25, 'showLabel': False}},
        'transforms': {f'frame:{frame}': {'visible': True} for frame in AXES},
        'topics': {
            SCENE: {'visible': True}, '/marker/scene': {'visible': False},
            '/marker/path': {'visible': True, 'type': 'line', 'lineWidth': 0.012,
                             'gradient': ['#E6521FFF', '#E6521FFF']},
            '/goal_pose': {'visible': True, 'type': 'arrow', 'color': '#009E73FF'}},
        'layers': {
            'grid': {'layerId': 'foxglove.Grid', 'instanceId': 'grid', 'label': 'Grid',
                     'frameId': 'odom', 'visible': True, 'size': 20, 'divisions': 40,
                     'lineWidth': 1, 'color': '#3a424dff', 'position': [0, 0, 0],
                     'rotation': [0, 0, 0], 'order': 1},
            'robot': {'layerId': 'foxglove.Urdf', 'instanceId': 'robot', 'label': 'Robot',
                      'sourceType': 'topic', 'topic': '/robot_description',
                      'displayMode': 'visual', 'framePrefix': '', 'visible': True, 'order': 2}},
        'publish': {'type': 'pose', 'poseTopic': '/goal_pose',
                    'pointTopic': '/clicked_point', 'poseEstimateTopic': '/initialpose',
                    'poseEstimateXDeviation': 0.5, 'poseEstimateYDeviation': 0.5,
                    'poseEstimateThetaDeviation': 0.26},
    }


def _plot_panel(plot: Plot) -> dict[str, Any]:
    return {
        'title': plot.title, 'showLegend': True, 'legendDisplay': 'floating',
        'isSynced': True, 'xAxisVal': 'timestamp', 'followingViewWidth': 20,
        'showXAxisLabels': True, 'showYAxisLabels': True, 'sidebarDimension': 200,
        'paths': [{'value': curve.foxglove, 'label': curve.label, 'color': curve.colour,
                   'enabled': True, 'timestampMethod': 'receiveTime', 'lineSize': 1.5}
                  for curve in plot.curves],
    }


def plotjuggler_layout(plots: Sequence[Plot]) -> str:
    """
    Return the layout of PlotJuggler, with the plots one below the other in two columns.

    Returns
    -------
    str
        XML, to be loaded with "Layout".
    """
    root = ElementTree.Element('root')
    tabs = ElementTree.SubElement(root, 'tabbed_widget',
                                  {'parent': 'main_window', 'name': 'Main Window'})
    tab = ElementTree.SubElement(tabs, 'Tab', tab_name='c3p', containers='1')
    columns = _splitter(ElementTree.SubElement(tab, 'Container'), '|', 2)
    half = (len(plots) + 1) // 2
    for part in (plots[:half], plots[half:]):
        column = _splitter(columns, '-', len(part))
        for plot in part:
            area = ElementTree.SubElement(column, 'DockArea', name=plot.title)
            drawn = ElementTree.SubElement(area, 'plot', mode='TimeSeries', style='Lines',
                                           flip_x='false', flip_y='false')
            ElementTree.SubElement(drawn, 'limitY')
            for curve in plot.curves:
                ElementTree.SubElement(drawn, 'curve', name=curve.plotjuggler,
                                       color=curve.colour)
    ElementTree.SubElement(tabs, 'currentTabIndex', index='0')
    ElementTree.SubElement(root, 'use_relative_time_offset', enabled='1')
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding='unicode')
    return f"<?xml version='1.0' encoding='UTF-8'?>\n<!-- {LICENCE} -->\n{text}\n"


LICENCE = 'SPDX-License-Identifier: Apache-2.0'


def _splitter(parent: ElementTree.Element, orientation: str, count: int) -> ElementTree.Element:
    sizes = ';'.join([f'{1 / count:.6f}'] * count)
    return ElementTree.SubElement(parent, 'DockSplitter', orientation=orientation,
                                  count=str(count), sizes=sizes)
