# SPDX-License-Identifier: Apache-2.0
"""Small logs in the forms of other robots: CSV, WPILOG, ROS 1; and a drive to put into them."""

import struct
from pathlib import Path

import numpy as np
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_typestore

ROS_1 = get_typestore(Stores.ROS1_NOETIC)
ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / 'config' / 'import').glob('*.yaml'))

# a swerve robot as it can be described: wheels almost under their pivots
SWERVE = """
extends: c3p
name: swerve
casters:
  hip_position: [[0.3, 0.3], [0.3, -0.3], [-0.3, 0.3], [-0.3, -0.3]]
  caster_offset: 0.0
  wheel_radius: 0.05
  steered: true
wheel: {rate_limit: 100.0}
visual: {platform_mesh: ''}
"""


def write_csv(path, columns, names=None, separator=','):
    """Write columns, a text for each cell."""
    lines = [] if names is None else [separator.join(names)]
    lines += [separator.join(cell if isinstance(cell, str) else f'{cell:.15g}' for cell in row)
              for row in zip(*columns, strict=True)]
    path.write_text('\n'.join(lines) + '\n')
    return path


def _wpi_record(entry, time, data):
    def least(value, most):
        return next(n for n in range(1, most + 1) if value < 1 << 8 * n)

    a, b = least(entry, 4), least(len(data), 4)
    c = 8 if time < 0 else least(time, 8)
    return (bytes([a - 1 | b - 1 << 2 | c - 1 << 4]) + entry.to_bytes(a, 'little')
            + len(data).to_bytes(b, 'little') + time.to_bytes(c, 'little', signed=time < 0) + data)


def _wpi_text(text):
    return struct.pack('<I', len(text)) + text.encode()


WPI = {'double': '<d', 'int64': '<q', 'float': '<f', 'boolean': '<?'}


def write_wpilog(path, records, kinds, extra=''):
    """Write records (name, time [µs], value, values or bytes) of entries of these types."""
    data = b'WPILOG' + struct.pack('<HI', 0x0100, len(extra)) + extra.encode()
    for number, (name, kind) in enumerate(kinds.items(), 1):
        data += _wpi_record(0, 0, b'\0' + struct.pack('<I', number) + _wpi_text(name)
                            + _wpi_text(kind) + _wpi_text(''))
    numbers = {name: number for number, name in enumerate(kinds, 1)}
    for name, time, value in records:
        one = WPI.get(kinds[name].removesuffix('[]'))
        payload = value if isinstance(value, bytes) else b'text' if one is None else b''.join(
            struct.pack(one, v) for v in np.atleast_1d(value).tolist())
        data += _wpi_record(numbers[name], time, payload)
    path.write_bytes(data)
    return path


def write_ros1(path, messages, packing=None):
    """Write messages (topic, time [ns], message) as a bag of ROS 1."""
    writer = Writer(path)
    if packing:
        writer.set_compression(packing)
    with writer:
        connections = {}
        for topic, time, message in messages:
            kind = message.__msgtype__
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=ROS_1)
            writer.write(connections[topic], time, ROS_1.serialize_ros1(message, kind))
    return path


def joint_state(stamp, names, position, velocity=()):
    """Return a message of ROS 1."""
    types = ROS_1.types
    return types['sensor_msgs/msg/JointState'](
        types['std_msgs/msg/Header'](0, types['builtin_interfaces/msg/Time'](
            *divmod(stamp, 10**9)), ''), list(names),
        *(np.asarray(values, float) for values in (position, velocity, ())))
