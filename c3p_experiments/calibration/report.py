# SPDX-License-Identifier: Apache-2.0
"""Results of a calibration as metrics, text and a robot file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from c3p_description.reading.robot_files import base_of
from c3p_kinematics.calibration.batch import OUTLIER, Calibration
from c3p_kinematics.calibration.parameters import DOUBTFUL, NAMES, Prior
from c3p_kinematics.calibration.wheel_slip import slip_notes
from c3p_kinematics.calibration.words import file_text, lines, relative_to_gauge

# difference of ages that is noted, s: some 2 mm at 1 m/s
NOTED_SKEW = 2e-3

# part of the prior deviation that is left, above which a parameter was not seen
UNSEEN = 0.9

# ratio of deviations to those of the default prior that is rounding
WIDER = 1.001

# deviations from which slip of all wheels is noted
SHOWN = 2.0

KEYS = ('wheel_radius', 'caster_offset', 'hip_x', 'hip_y', 'steering_zero')


def metrics_of(found: Calibration, references: int) -> dict[str, Any]:
    """Return the metrics of a calibration for JSON, SI units; `references` is their number."""
    own, common = relative_to_gauge(found.described, found.covariance)
    described = found.parameters - found.change
    casters = [{key: {'value': float(found.parameters[i, k]),
                      'described': float(described[i, k]),
                      'deviation': float(found.deviation[i, k]),
                      'deviation_without_gauge': float(own[i, k])}
                for k, key in enumerate(KEYS)} for i in range(found.described.count)]
    return {'casters': casters,
            'gauge': {'scale_deviation': float(common[0]),
                      'heading_deviation_rad': float(common[1])},
            'text': lines(found.described, found.parameters, found.covariance),
            'windows': {'used': len(found.weights),
                        'outliers': int(np.sum(found.weights < OUTLIER))},
            'path_m': found.path, 'residual_rms': {'before': found.rms_before,
                                                   'after': found.rms_after},
            'noise_factor': found.noise, 'ages': _ages(found),
            'common_slip': {'value': float(found.slip[0]), 'deviation': float(found.slip[1])},
            'wheel_slip': [{'explained_ratio': float(part), 'slip': float(slip)}
                           for part, slip in found.wheel_slip],
            'references': {'count': references, 'largest_before': _largest(found, 0),
                           'largest_after': _largest(found, 1)},
            'covariance': found.covariance.tolist(), 'notes': notes(found)}


def _ages(found: Calibration) -> dict[str, Any] | None:
    """Return age and deviation of each joint less their mean; None where none is estimated."""
    if not len(found.ages):
        return None
    joints = (*found.described.steering_joints, *found.described.wheel_joints)
    mean = found.ages[:, 0].mean()
    return {name: {'value_s': float(age - mean), 'deviation_s': float(deviation)}
            for name, (age, deviation) in zip(joints, found.ages, strict=True)}


def _largest(found: Calibration, column: int) -> float | None:
    """Return the largest whitened residual of the references, None without any."""
    return float(found.references[:, column].max()) if len(found.references) else None


def notes(found: Calibration) -> list[str]:
    """Return notes on the result, one sentence each."""
    text = []
    own, _ = relative_to_gauge(found.described, found.covariance)
    prior = found.prior.reshape(own.shape)
    for k, name in enumerate(NAMES):
        unseen = [f'{i + 1}' for i in range(len(own)) if own[i, k] > UNSEEN * prior[i, k]]
        if unseen:
            text.append(f'{name} of caster {", ".join(unseen)}: the motion shows nothing of it, '
                        'and it stays as described; drive curves in both directions, with '
                        'changes of direction')
    if found.rms_after > DOUBTFUL:
        text.append(f'WARNING: residuals are {found.rms_after:.1f} times their noise: wheels slip '
                    'or creep more than --creep states, or the description misses something; '
                    'compare with another drive before using the file')
    text += slip_notes(found.described, found.wheel_slip, found.change[:, 0], prior[:, 0])
    slip, uncertain = found.slip.tolist()
    if abs(slip) > SHOWN * uncertain:
        text.append(f'all wheels turn {100.0 * slip:.1f} ± {196.0 * uncertain:.1f} % further than '
                    'their radii roll: they slip, or all radii are wrong against offsets and '
                    'hips; tape a distance (--distance) to know which')
    if len(found.ages):
        apart = np.ptp(found.ages[:, 0])
        if apart > NOTED_SKEW:
            text.append(f'joints of one sample are up to {1e3 * apart:.1f} ms apart, which the '
                        'lengths allow for; sample them together, or state it as sample_skew of '
                        'sensed_kinematics')
    if found.noise > 1.0:
        text.append(f'all intervals are for residuals that are {found.noise:.2f} times their '
                    'noise')
    if np.any(found.prior > WIDER * Prior().deviations(found.described)):
        text.append('the prior is wider than that of sensed_kinematics: a node that continues '
                    'from the covariance needs the same, description_std.wheel_radius, '
                    '.caster_offset, .hip_position and .steering_zero')
    aside = int(np.sum(found.weights < OUTLIER))
    if aside:
        text.append(f'{aside} of {len(found.weights)} windows fit much worse than the rest '
                    '(slip, a bump) and have little weight')
    if not len(found.references):
        text.append('without an outside reference scale and heading are those of the '
                    'description: tape a distance (--distance), or end on a mark (--place)')
    elif found.references[:, 1].max() > 3.0:
        text.append('an outside reference contradicts the joints by '
                    f'{found.references[:, 1].max():.1f} standard deviations: check its numbers')
    return text


def robot_file(found: Calibration, robot: str, file: str | Path, source: str) -> str:
    """
    Return the text of a robot file that extends `robot`, a file or a URDF, by the estimates.

    Parameters
    ----------
    found : Calibration
    robot : str
        Name or path of the description.
    file : str or Path
        Path of the new file: the path in ``extends`` is relative to it.
    source : str
        Source of the motion, for the comment.
    """
    (key, base), = base_of(robot, file).items()
    return file_text(found.described, found.parameters, found.covariance,
                     f'{key}: {base}',
                     f'from {source}')
