# SPDX-License-Identifier: Apache-2.0
"""Nodes of the suite by name: the module and class of each, and those that make up a robot."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a program that has not begun must import nothing slow
    from rclpy.node import Node

NODES = {
    'sensed_kinematics': 'c3p_kinematics.sensed_kinematics_node.SensedKinematicsNode',
    'velocity_controller': 'c3p_controller.velocity_controller_node.VelocityControllerNode',
    'module_controller': 'c3p_controller.module_controller_node.ModuleControllerNode',
    'inverse_dynamics': 'c3p_dynamics.inverse_dynamics_node.InverseDynamicsNode',
    'position_controller': 'c3p_controller.position_controller_node.PositionControllerNode',
    'simulation': 'c3p_simulation.simulation_node.SimulationNode',
    'hardware_interface': 'c3p_hardware.hardware_interface_node.HardwareInterfaceNode',
    'emulated_cards': 'c3p_simulation.emulated_cards_node.EmulatedCardsNode',
    'recorder': 'c3p_bags.recorder.recorder_node.RecorderNode',
    'player': 'c3p_bags.player.player_node.PlayerNode',
    'safety_monitor': 'c3p_bags.promises.safety_monitor_node.SafetyMonitorNode',
    'marker': 'c3p_viewers.marker_node.MarkerNode',
    'twist_mux': 'c3p_controller.twist_mux_node.TwistMuxNode',
    'ros2_control_bridge': 'c3p_hardware.ros2_control_bridge_node.Ros2ControlBridgeNode',
    'rough_ground': 'c3p_rough_ground.node.rough_ground_node.RoughGroundNode',
}
# the control chain, in the order in which a cycle needs its nodes
CHAIN = ('sensed_kinematics', 'velocity_controller', 'inverse_dynamics', 'position_controller')
# behind the joints: the node that owns the cycle, last, and the nodes that it needs
ROBOTS = {'none': ('simulation',), 'can': ('hardware_interface',),
          'emulated': ('emulated_cards', 'hardware_interface')}


def module_of(name: str) -> str:
    """
    Return the module of a node, which ``python -m`` runs.

    Examples
    --------
    >>> module_of('recorder')
    'c3p_bags.recorder.recorder_node'
    """
    return NODES[name].rpartition('.')[0]


def executable_of(name: str) -> str:
    """Return the name under which ``ros2 run c3p`` starts a node."""
    return f'{name}_node'


def node_class(name: str) -> type[Node]:
    """Return the class of a node; only its own packages are imported."""
    return getattr(import_module(module_of(name)), NODES[name].rpartition('.')[2])
