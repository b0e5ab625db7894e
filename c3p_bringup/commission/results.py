# SPDX-License-Identifier: Apache-2.0
"""Results of a commissioning: parameters of the cards, a page, and what is printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.report.wiring_page import CommissioningReport, wiring_page
from c3p_description.model import CasterRobot
from c3p_experiments.commissioning.measured_robot import (
    MeasuredRobot,
    measured_lines,
    measured_metrics,
    measured_robot,
    write_measured,
)
from c3p_hardware.axes import card_settings
from c3p_hardware.tools.parameter_file import hardware_values, merged
from c3p_hardware.tools.wiring_parameters import Corrections, corrections, expressed
from c3p_kinematics.commissioning.assignment import (
    Assignment,
    FoundWiring,
    WiringRecord,
    channels_of,
)
from c3p_kinematics.commissioning.ties import SMALL_GEAR, SMALL_ZERO
from c3p_kinematics.commissioning.words import differences

# files in the directory of results
CARDS = 'cards.yaml'
ROBOT = 'robot.yaml'
PAGE = 'commissioning.html'

# always so, and not measured here
ASSUMED = (
    'a common factor of all gears, or of all radii, is not visible from inside: drive 1 m along a '
    'tape, `c3p calibrate --distance`',
    'torque constants, and so masses and friction up to a common factor, are those of the '
    'parameters')

# without a drive on the spot, and with one
GEOMETRY_ASSUMED = ('places of the casters, radii and caster offsets are those of the '
                    'description: `c3p calibrate` measures them')
PLACES_ASSUMED = 'places of the pivots are within some millimetres of the description'


class Commissioned(NamedTuple):
    """
    Result of a commissioning.

    Attributes
    ----------
    lines : list of str
        What differs from the description.
    corrections : Corrections
    files : dict
        Written files, by kind.
    report : CommissioningReport
        Contents of the page.
    measured : MeasuredRobot or None
        What a drive on the spot shows.
    """

    lines: list[str]
    corrections: Corrections
    files: dict[str, str]
    report: CommissioningReport
    measured: MeasuredRobot | None


def write_results(robot: CasterRobot, name: str, found: FoundWiring, files: Sequence[Path],
                  out: Path, cards: bool = True, records: Sequence[WiringRecord] = ()
                  ) -> Commissioned:
    """
    Write the parameter file that makes the wiring right, the robot file, and the page.

    Parameters
    ----------
    robot : CasterRobot
    name : str
        Of the description, as on the command line.
    found : FoundWiring
    files : sequence of Path
        Present parameter files of the hardware interface.
    out : Path
        Existing directory.
    cards : bool
        The robot has CANopen cards; otherwise all corrections are made in its driver.
    records : sequence of WiringRecord
        Of motions and of a drive on the spot, which show lengths, masses and friction; empty
        without one.
    """
    channels = channels_of(robot)
    lines = differences(robot, found.assignment, found.deviation)
    if cards:
        values = hardware_values(files)
        mended = corrections(robot, values, channels, found.assignment)
        nodes = node_words(robot, values)
        wiring = expressed(robot, values, channels, found.assignment)
        resolution = _resolution(robot, values)
    else:
        wiring = without_small(robot, found.assignment)
        mended = Corrections({}, driver_lines(robot, wiring))
        nodes = {}
        resolution = None
    written = {}
    if mended.parameters:
        file = out / CARDS
        file.write_text(parameter_text(name, lines, found, files, mended), encoding='utf-8')
        written['parameters'] = str(file)
    measured = _measured(robot, name, wiring, records, resolution, out, written)
    others = [('; '.join(differences(robot, wiring)) or 'wired as described', p)
              for wiring, p in found.others]
    known = measured is not None and measured.written
    report = CommissioningReport(
        robot, found, lines, mended.by_hand, mended.parameters, others,
        [*found.undecided, PLACES_ASSUMED if known else GEOMETRY_ASSUMED, *ASSUMED,
         *(measured.notes if measured else ())], nodes, measured_lines(measured) if measured
        else ())
    written['page'] = write_page(report, out)
    return Commissioned(lines, mended, written, report, measured)


def write_page(report: CommissioningReport, out: Path) -> str:
    """Write the page of a commissioning into a directory; return its path."""
    page = out / PAGE
    page.write_text(wiring_page(report), encoding='utf-8')
    return str(page)


def _resolution(robot: CasterRobot, values: Any) -> tuple[float, float]:
    """Return the coarsest steps of the wheel and of the steering encoders, rad."""
    settings = card_settings(robot, values)
    wheels = max((2.0 * math.pi / (d.units.counts * abs(d.units.gear_ratio))
                  for d in settings.drives), default=2.0 * math.pi / 2000)
    axes = max((2.0 * math.pi / (e.counts * abs(e.gear_ratio)) for e in settings.encoders),
               default=2.0 * math.pi / 4096)
    return wheels, axes


def _measured(robot: CasterRobot, name: str, wiring: Assignment, records: Sequence[WiringRecord],
              resolution: tuple[float, float] | None, out: Path, written: dict[str, str]
              ) -> MeasuredRobot | None:
    """Measure the robot by its records, and write its file; None without records."""
    if not records:
        return None
    measured = (measured_robot(robot, wiring, records) if resolution is None
                else measured_robot(robot, wiring, records, resolution))
    if measured.written:
        file, covariance = write_measured(measured, name, out / ROBOT)
        written['robot'] = str(file)
        written['covariance'] = str(covariance)
    return measured


def without_small(robot: CasterRobot, assignment: Assignment) -> Assignment:
    """
    Return a wiring without gears and zeros so small that they are errors of the search.

    Without such a limit each joint of a robot on topics would have to be changed.
    """
    sign = np.sign(assignment.gear)
    small = np.abs(np.abs(assignment.gear) - 1.0) <= SMALL_GEAR
    zero = np.where(np.abs(assignment.zero) <= SMALL_ZERO, 0.0, assignment.zero)
    return assignment._replace(gear=np.where(small, sign, assignment.gear), zero=zero)


def node_words(robot: CasterRobot, values: Any) -> dict[str, str]:
    """Return the device of each channel in words, by the joint it is taken for."""
    settings = card_settings(robot, values)
    words = {drive.joint: f'drive {drive.node_id}'
             + (f', channel {drive.channel}' if drive.channel > 1 else '')
             for drive in settings.drives}
    return words | {encoder.joint: f'encoder {encoder.node_id}' for encoder in settings.encoders}


def driver_lines(robot: CasterRobot, assignment: Assignment) -> list[str]:
    """Return what the driver of a robot on topics must change, one line for each joint."""
    names, motors = channels_of(robot)
    lines = []
    for k, joint in enumerate(names):
        source = assignment.encoder_of[k]
        factor = assignment.gear[k]
        parts = []
        if source < 0:
            lines.append(f'{joint}: no channel measures it; check its encoder')
            continue
        if source != k or factor != 1.0 or assignment.zero[k] != 0.0:
            zero = f' {assignment.zero[k]:+.4f} rad' if assignment.zero[k] else ''
            parts.append(f'publish {factor:g} × what is published as {names[source]} now{zero}')
        motor = assignment.motor_of[k]
        if motor >= 0 and (motors[motor] != joint or assignment.leads[k] < 0.0):
            sign = '−' if assignment.leads[k] < 0.0 else ''
            parts.append(f'give its effort to the motor of {motors[motor]}, as {sign}1 times')
        if parts:
            lines.append(f'{joint}: {"; ".join(parts)} (signs and zeros of the model)')
    return lines


def parameter_text(name: str, lines: Sequence[str], found: FoundWiring, files: Sequence[Path],
                   mended: Corrections) -> str:
    """
    Return the text of a parameter file with corrections, and with what was found as comments.

    Parameters
    ----------
    name : str
        Of the robot.
    lines : sequence of str
        What differs from the description.
    found : FoundWiring
    files : sequence of Path
        Present files, before which the new one has no effect.
    mended : Corrections
    """
    head = [f'# Wiring of {name}, found by c3p commission: probability {found.probability:.4f}, '
            f'residual {found.residual:.2f} of its noise.', *(f'#   {line}' for line in lines)]
    head += [f'#   still to be changed by hand: {text}' for text in mended.by_hand]
    if files:
        head.append(f'# Give it after {", ".join(str(file) for file in files)}.')
    return '\n'.join(head) + '\n' + merged('', mended.parameters)


def summary(found: FoundWiring, result: Commissioned) -> str:
    """Return the result as text for a terminal."""
    lines = [f'  found      {line}' for line in result.lines] or [
        '  found      everything is wired as described']
    lines.append(f'  certainty  probability {found.probability:.4f}, residual '
                 f'{found.residual:.2f} of its noise')
    if result.measured is not None:
        lines += [f'  measured   {line}' for line in measured_lines(result.measured)]
        lines += [f'  not found  {note}' for note in result.measured.notes]
    lines += [f'  undecided  {text}' for text in found.undecided]
    lines += [f'  BY HAND    {text}' for text in result.corrections.by_hand]
    lines += [f'  {kind:10} {file}' for kind, file in result.files.items()]
    return '\n'.join(lines)


def figures(robot: CasterRobot, found: FoundWiring, result: Commissioned) -> dict[str, Any]:
    """Return the results for ``--json``, SI units."""
    channels = channels_of(robot)
    wiring = found.assignment
    names = [*robot.steering_joints, *robot.wheel_joints]
    joints = {}
    for k, joint in enumerate(names):
        joints[joint] = {
            'encoder': None if wiring.encoder_of[k] < 0 else channels.encoders[
                wiring.encoder_of[k]],
            'factor': float(wiring.gear[k]), 'factor_deviation': float(found.deviation.gear[k]),
            'zero_rad': float(wiring.zero[k]),
            'zero_deviation_rad': float(found.deviation.zero[k]),
            'motor': None if wiring.motor_of[k] < 0 else channels.motors[wiring.motor_of[k]],
            'leads': int(math.copysign(1, wiring.leads[k]))}
    return {'robot': robot.name, 'found': result.lines, 'probability': found.probability,
            'residual': found.residual, 'undecided': list(found.undecided), 'joints': joints,
            'parameters': result.corrections.parameters, 'by_hand': result.corrections.by_hand,
            'measured': None if result.measured is None else measured_metrics(result.measured),
            'files': result.files}
