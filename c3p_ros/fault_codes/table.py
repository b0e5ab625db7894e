# SPDX-License-Identifier: Apache-2.0
"""
Table of all fault codes, and the code of a condition, a card's problem, a goal or a check.

``docs/fault_codes.md`` is written from this table (scripts/write_fault_codes.py) and is the record
of the published codes: a code is neither removed nor given another meaning.
"""

from __future__ import annotations

import re

from c3p_ros.fault_codes.cards import BRIDGE, CARDS, ERROR_CLASS, HARDWARE
from c3p_ros.fault_codes.code import FaultCode
from c3p_ros.fault_codes.controllers import MODULE, MONITOR, MUX, POSITION, VELOCITY
from c3p_ros.fault_codes.others import DOCTOR, INPUTS, NODES, NOT_RECEIVED, ODOMETRY

TABLE: tuple[FaultCode, ...] = tuple(sorted(
    BRIDGE + CARDS + DOCTOR + HARDWARE + INPUTS + MODULE + MONITOR + MUX + NODES + ODOMETRY
    + POSITION + VELOCITY))

# component of each node, by the name of its kind
COMPONENTS = {
    'ros2_control_bridge': 'BR', 'hardware_interface': 'HW', 'module_controller': 'MC',
    'twist_mux': 'MX', 'sensed_kinematics': 'OD', 'position_controller': 'PC', 'recorder': 'RC',
    'simulation': 'SM', 'emulated_cards': 'SM', 'rough_ground': 'SM',
    'safety_monitor': 'PR', 'velocity_controller': 'VC'}

TITLES = {
    'BR': 'ros2_control bridge', 'CM': 'Motor cards, encoders and their bus',
    'DR': '`c3p doctor`', 'HW': 'Hardware interface', 'IN': 'Messages of all nodes',
    'MC': 'Module controller', 'MX': 'Multiplexer of commands', 'OD': 'Odometry',
    'PC': 'Position controller and goals', 'PR': 'Safety monitor: broken promises',
    'RC': 'Recorder', 'SM': 'Simulations', 'VC': 'Velocity controller'}

# an error code of CiA 301 or 402 in a text
_ERROR_CODE = re.compile(r'\b([1-9A-F])[0-9A-F]{3}h\)')


def _find(component: str, condition: str, text: str) -> str:
    """Return the first code of a component that means `condition` with `text`, else ''."""
    return next((one.code for one in TABLE
                 if one.component == component and one.means(condition, text)), '')


OTHER = _find('IN', 'other', '')


def condition_code(node: str, condition: str, text: str) -> str:
    """
    Return the code of a condition in the diagnostics of a node.

    Parameters
    ----------
    node : str
        Kind of the node: its name without remapping.
    condition, text : str

    Examples
    --------
    >>> condition_code('velocity_controller', 'lock', 'nothing to answer for 0.40 s')
    'C3P-VC-0004'
    >>> condition_code('velocity_controller', '/odom from /bag', 'not received: best effort …')
    'C3P-IN-0012'
    >>> condition_code('node_of_a_user', 'kettle', 'empty')
    'C3P-IN-0099'
    """
    component = COMPONENTS.get(node, '')
    found = (_find(component, condition, text) or _find('IN', condition, text)
             or (_find('IN', NOT_RECEIVED, text) if NOT_RECEIVED in text else ''))
    # the conditions of a recorder are topics
    return found or (_find('RC', 'topic', text) if component == 'RC' else OTHER)


def card_code(kind: str, text: str) -> str:
    """
    Return the code of a problem of a motor card or encoder.

    Examples
    --------
    >>> card_code('silence', 'silent for 0.10 s')
    'C3P-CM-0010'
    >>> card_code('fault', 'FAULT: drive temperature (431Fh)')
    'C3P-CM-0140'
    """
    if kind in ('fault', 'emergency') and (error := _ERROR_CODE.search(text)):
        if found := _find('CM', ERROR_CLASS.format(error[1]), text):
            return found
    return _find('CM', kind, text) or _find('CM', 'motors', text)


def refusal_code(text: str) -> str:
    """Return the code of a request that the hardware interface rejects."""
    return _find('HW', 'refusal', text)


def result_code(reason: str) -> str:
    """
    Return the code of the result of a goal; empty for one that was reached.

    >>> result_code('no progress'), result_code('reached')
    ('C3P-PC-0022', '')
    """
    return _find('PC', 'result', reason)


def message_code(how: str, text: str) -> str:
    """Return the code of a message that was refused, recorded unread or not published."""
    return _find('IN', how, text)


def check_code(name: str, text: str = '') -> str:
    """
    Return the code of a check of ``c3p doctor`` that is not OK, by its name and text.

    >>> check_code('clock'), check_code('CAN can0')
    ('C3P-DR-0047', 'C3P-DR-0050')
    """
    return (_find('DR', name, text) or _find('DR', name.split()[0], text)
            or _find('DR', 'check', text))
