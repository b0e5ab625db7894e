# SPDX-License-Identifier: Apache-2.0
"""Calibrations in words: deviation from the description with 95 % intervals."""

from __future__ import annotations

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.calibration.parameters import gauge, parameters_of

# half-width of a 95 % interval in standard deviations
INTERVAL = 1.96


def relative_to_gauge(robot: CasterRobot, covariance: Array) -> tuple[Array, Array]:
    """
    Return standard deviations (n, 5) of the estimate without the gauge, and of the gauge (4,).

    The first are what the joints determine: deviations of ratios of lengths and of differences of
    zeros from their means. The second are scale [1], heading [rad], and place x, y [m].
    """
    directions = gauge(parameters_of(robot))
    # weights with which scale, heading and place of the platform are read off the parameters
    n = robot.count
    rows = np.zeros((4, n, 5))
    rows[0, :, 0] = 1.0 / robot.wheel_radius / n
    rows[1, :, 4] = 1.0 / n
    rows[2, :, 2] = rows[3, :, 3] = 1.0 / n
    means = rows.reshape(4, -1)
    read = np.linalg.solve(means @ directions, means)
    rest = np.eye(5 * n) - directions @ read
    own = np.sqrt(np.diag(rest @ covariance @ rest.T).clip(0.0))
    common = np.sqrt(np.diag(read @ covariance @ read.T).clip(0.0))
    return own.reshape(n, 5), common


def lines(robot: CasterRobot, parameters: Array, covariance: Array) -> dict[str, str]:
    """
    Return one line per caster and one for the gauge: name → text.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> found = parameters_of(robot)
    >>> found[1, 0] *= 0.9969
    >>> text = lines(robot, found, 1e-10 * np.eye(15))
    >>> text['caster 2'].split(',')[0]
    'radius −0.31 % ± 0.05 %'
    """
    described = parameters_of(robot)
    change = parameters - described
    deviation = INTERVAL * np.sqrt(np.diag(covariance)).reshape(change.shape)
    own, common = relative_to_gauge(robot, covariance)
    out = {}
    for i in range(robot.count):
        parts = []
        d = described[i, 1]
        for k, (name, scale, unit, digits) in enumerate((
                ('radius', 100.0 / described[i, 0], ' %', 2),
                ('offset', 100.0 / d if d > 0.0 else 0.0, ' %', 2), ('hip x', 1e3, ' mm', 2),
                ('hip y', 1e3, ' mm', 2), ('zero', np.degrees(1.0), '°', 3))):
            # an offset of zero is exact, and the radius of a wheel without encoder shows nowhere
            if scale == 0.0 or (k == 0 and robot.rows[i, 0] == 0.0):
                continue
            value = f'{scale * change[i, k]:+.{digits}f}'.replace('-', '−')
            parts.append(f'{name} {value}{unit} ± {scale * deviation[i, k]:.{digits}f}{unit}')
        out[f'caster {i + 1}'] = ', '.join(parts)
    out['relative to each other'] = (
        f'radii ± {INTERVAL * 100 * (own[:, 0] / described[:, 0]).max():.3f} %, zeros ± '
        f'{INTERVAL * np.degrees(own[:, 4].max()):.3f}°')
    out['common to all'] = (f'scale ± {INTERVAL * 100 * common[0]:.2f} %, heading ± '
                            f'{INTERVAL * np.degrees(common[1]):.2f}°: only an outside reference '
                            'determines them')
    return out


def file_text(described: CasterRobot, parameters: Array, covariance: Array, base: str,
              source: str) -> str:
    """
    Return the text of a robot file.

    Parameters
    ----------
    described : CasterRobot
    parameters, covariance : arrays
        Of the estimate.
    base : str
        Line that names the description.
    source : str
    """
    text = lines(described, parameters, covariance)
    zero = described.steering_zero + parameters[:, 4]

    # to a nanometre: a number as small as rounding is refused by the reader
    def number(value: float) -> str:
        text = f'{round(float(value), 9) + 0.0:.9g}'
        # YAML reads an exponent without a point as text
        return text if '.' in text else text.replace('e', '.0e')

    def row(values: Array) -> str:
        return '[' + ', '.join(map(number, values)) + ']'

    hips = ', '.join(row(hip) for hip in parameters[:, 2:4])
    comments = [f'#   {name}: {value}' for name, value in text.items()]
    return '\n'.join([
        f'# Calibrated {source}. Change of the description, with 95 % intervals:',
        *comments, base, '', 'casters:', f'  wheel_radius: {row(parameters[:, 0])}',
        f'  caster_offset: {row(parameters[:, 1])}', f'  hip_position: [{hips}]',
        f'  steering_zero: {row(zero)}', ''])
