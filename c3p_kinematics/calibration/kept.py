# SPDX-License-Identifier: Apache-2.0
"""
Covariance of a calibration beside its robot file, which the next start continues from.

``NAME.covariance.yaml`` belongs to ``NAME.yaml``: it repeats the lengths of that file, so that a
covariance is never used with others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.calibration.parameters import parameters_of
from c3p_kinematics.calibration.recording import CalibrationError

# rounding of a robot file, m
SAME = 2e-9

# smallest eigenvalue of a covariance in units of its deviations that is rounding
NEGATIVE = -1e-9

REMEDY = 'save the calibration again, or delete the file to begin with the prior'


def kept_name(robot_file: str) -> str:
    """
    Return the name of the covariance file beside a robot file of this name.

    Examples
    --------
    >>> kept_name('mine.yaml')
    'mine.covariance.yaml'
    """
    return f'{robot_file.rpartition(".")[0]}.covariance.yaml'


def kept_text(name: str, parameters: Array, covariance: Array) -> str:
    """
    Return the text of the file.

    Parameters
    ----------
    name : str
        Of the robot file.
    parameters : (n, 5) array
    covariance : (5n, 5n) array
    """
    def rows(values: Array) -> list[str]:
        return ['  - [' + ', '.join(f'{float(v)!r}' for v in row) + ']' for row in values]

    return '\n'.join([
        f'# Covariance of the calibration in {name}: radius, offset, hip x, hip y [m] and zero',
        '# [rad] of each caster, casters one after the other. `lengths` are those of the file.',
        'lengths:', *rows(parameters[:, :4]), 'covariance:', *rows(covariance), ''])


def kept_covariance(content: Any, robot: CasterRobot, source: str) -> Array:
    """
    Return the covariance (5n, 5n) from the `content` of a file.

    Parameters
    ----------
    content : mapping
        The parsed YAML.
    robot : CasterRobot
        By the robot file.
    source : str
        Path, for messages.

    Raises
    ------
    CalibrationError
        Wrong shape, a number that is not finite, a matrix that is not a covariance, or lengths of
        another robot.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> lengths = parameters_of(robot)[:, :4].tolist()
    >>> kept_covariance({'lengths': lengths, 'covariance': np.eye(15).tolist()}, robot, 'x').shape
    (15, 15)
    """
    n = robot.count
    content = content if isinstance(content, dict) else {}
    lengths = _matrix(content, 'lengths', (n, 4), source)
    covariance = _matrix(content, 'covariance', (5 * n, 5 * n), source)
    apart = np.abs(lengths - parameters_of(robot)[:, :4]).max()
    if apart > SAME:
        raise CalibrationError(f'{source}: lengths differ from those of the robot by {apart:.3g} '
                               f'm: the covariance belongs to another file; {REMEDY}')
    scale = np.sqrt(np.abs(np.diag(covariance)))
    if not scale.min() > 0.0:
        raise CalibrationError(f'{source}: covariance has a variance of 0; {REMEDY}')
    unit = covariance / np.outer(scale, scale)
    uneven = float(np.abs(unit - unit.T).max())
    if uneven > -NEGATIVE:
        raise CalibrationError(f'{source}: covariance is not symmetric, by {uneven:.3g} of its '
                               f'deviations; {REMEDY}')
    least = float(np.linalg.eigvalsh(unit).min())
    if least < NEGATIVE:
        raise CalibrationError(f'{source}: covariance has the eigenvalue {least:.3g} in units of '
                               f'its deviations: must not be negative; {REMEDY}')
    return 0.5 * (covariance + covariance.T)


def _matrix(content: dict[str, Any], name: str, shape: tuple[int, int], source: str) -> Array:
    try:
        value = np.array(content.get(name), float)
    except (TypeError, ValueError):
        value = np.empty(0)
    if value.shape != shape:
        raise CalibrationError(f'{source}: {name} has the shape {value.shape}: must be {shape} '
                               f'numbers; {REMEDY}')
    if not np.all(np.isfinite(value)):
        raise CalibrationError(f'{source}: {name} has a number that is not finite; {REMEDY}')
    return value
