# SPDX-License-Identifier: Apache-2.0
"""What a parameter of a YAML file is to rclcpp."""

# rclcpp takes no integer for a double, nor the reverse
SCALARS = {bool: 'bool', int: 'int', float: 'double', str: 'string'}


def leaves(node, prefix=''):
    """Return (name, value) of every parameter below `node`; groups joined with a dot."""
    for key, value in node.items():
        if isinstance(value, dict):
            yield from leaves(value, f'{prefix}{key}.')
        else:
            yield prefix + key, value


def ros_type(value):
    """Return the type that rclcpp gives to a value of a YAML file."""
    if isinstance(value, list):
        (kind,) = {ros_type(item) for item in value}
        return f'{kind}[]'
    return SCALARS[type(value)]
