# SPDX-License-Identifier: Apache-2.0
"""``c3p recompute``: odometry of a bag recomputed, bit for bit or with other parameters."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from c3p_bringup.cli.common import (
    MISSED,
    add_json,
    add_recorded_robot,
    bar_of_fraction,
    make_places,
    rows,
    show,
)

if TYPE_CHECKING:
    from c3p_bags.runs.recompute_bag import BagOdometry


def setting(text: str) -> tuple[str, Any]:
    """Return name and value of ``NAME=VALUE``."""
    from c3p_description.reading.yaml_files import YamlFileError, parse_yaml
    from c3p_description.texts import brief

    name, equals, value = text.partition('=')
    if not (equals and name):
        raise argparse.ArgumentTypeError(f'{text}: must be NAME=VALUE, such as robust=false')
    try:
        return name, parse_yaml(value)
    except YamlFileError as error:
        raise argparse.ArgumentTypeError(f'{brief(text)}: {error}') from None


def add_recompute(commands: Any) -> None:
    """Add the command ``recompute`` to the subparsers `commands`."""
    command = commands.add_parser(
        'recompute',
        description='Run the sensed kinematics on the joint states of a bag, with the parameters '
                    'that were recorded in it, and compare with the recorded odometry. Where '
                    'joint states are missing in the bag, begin anew at the recorded pose and '
                    'leave out the message. Exit code 1 if the others differ by more than '
                    '1e-12, or after missing joint states than unknown weights of the wheels '
                    'explain, with unchanged robot and parameters. Needs no ROS 2.')
    command.add_argument('bag', type=Path, metavar='BAG', help='directory of the bag')
    add_recorded_robot(command)
    command.add_argument('--namespace', metavar='NAME',
                         help='of the robot (default: the only one in the bag)')
    command.add_argument('--set', type=setting, action='append', default=[], metavar='NAME=VALUE',
                         help='another value for a parameter of the odometry, such as '
                              'robust=false; may be repeated')
    command.add_argument('--everything', action='store_true',
                         help='use every joint state and start at the origin, regardless of '
                              'the recorded odometry')
    command.add_argument('--out', type=Path, metavar='DIR',
                         help='write a new bag there, with the recomputed odom, and the recorded '
                              'one as odom/recorded')
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the command; return its exit code."""
    from c3p_bags.runs.recompute_bag import recompute_bag, write_recomputed
    from c3p_bags.storage.bag import Bag

    if arguments.out is not None and arguments.out.exists():
        raise ValueError(f'{arguments.out}: exists already; name another place')
    make_places(Path() if arguments.out is None else arguments.out.parent, arguments.json)
    with Bag(arguments.bag) as bag:
        with bar_of_fraction() as bar:
            found = recompute_bag(bag, arguments.robot, arguments.namespace, dict(arguments.set),
                                  arguments.everything, bar.set_to)
        if arguments.out is not None:
            write_recomputed(bag, arguments.out, found)
    shown = metrics(found, arguments.out)
    show(shown, arguments.json, _summary(shown))
    differs = shown.get('close') != shown.get('compared')
    return MISSED if differs and not found.changed else 0


def metrics(found: BagOdometry, out: Path | None = None) -> dict[str, Any]:
    """Return the content of ``--json``, SI units; differences only with recorded odometry."""
    odometry = found.odometry
    shown: dict[str, Any] = {
        'samples': len(odometry.stamp), 'refused': odometry.refused, 'unused': odometry.unused,
        'resets': len(odometry.resets), 'resumed': odometry.resumed,
        'missing': {'joint_states': found.joint_states._asdict(),
                    'odometry': found.odometry_lost, 'unrelated': found.others},
        'left_out': len(odometry.left_out), 'parameters': found.parameters,
        'parameters_recorded': found.known}
    if found.agreement is not None and found.agreement.compared:
        a = found.agreement
        shown |= {
            'compared': a.compared, 'identical': a.identical, 'same_motion': a.same_motion,
            'close': a.close, 'position_difference_m': a.position,
            'yaw_difference_rad': a.yaw, 'twist_difference': a.twist,
            'covariance_difference': a.covariance,
            'largest_difference': max(a.position, a.yaw, a.twist)}
    if len(odometry.stamp):
        x, y, *_, s, c = odometry.numbers[-1, :7].tolist()
        shown['end_pose'] = [x, y, 2.0 * math.atan2(s, c)]
    if out is not None:
        shown['bag'] = str(out)
    return shown


def _summary(shown: dict[str, Any]) -> str:
    lines = [('samples used / rejected', f'{shown["samples"]} / {shown["refused"]}'),
             *_missing(shown), *_begin(shown),
             ('parameters', 'as recorded' if shown['parameters_recorded']
              else 'not in the bag: defaults of this installation')]
    if 'compared' in shown:
        lines += [
            ('equal to 1e-12', f'pose and twist of {shown["close"]} of {shown["compared"]} '
                               'messages'),
            ('equal to the last bit', f'{shown["identical"]} of {shown["compared"]} messages; '
                                      f'pose and twist of {shown["same_motion"]}'),
            ('largest difference, pose', f'{shown["position_difference_m"]:.3g} m, '
                                         f'{shown["yaw_difference_rad"]:.3g} rad'),
            ('largest difference, twist', f'{shown["twist_difference"]:.3g} m/s, rad/s'),
            ('largest difference, covariance', f'{shown["covariance_difference"]:.3g} of the '
                                               'largest')]
    else:
        lines.append(('recorded odometry', 'none to compare with'))
    if 'end_pose' in shown:
        x, y, yaw = shown['end_pose']
        lines.append(('end of the recomputed path', f'({x:.4f}, {y:.4f}) m, {yaw:.4f} rad'))
    if 'bag' in shown:
        lines.append(('bag', shown['bag']))
    return rows(lines)


def _missing(shown: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the lines on messages that are not in the bag."""
    from c3p_bags.runs.losses import Losses, absent

    lost = shown['missing']
    lines = []
    joints = Losses(**lost['joint_states'])
    if lost['unrelated']:
        lines.append(('recorded odometry', 'has other stamps than the joint states: it was not '
                                           'computed from them'))
    if joints.lost:
        lines.append(('missing joint states', joints.text('joint state', 'odometry')))
    if joints.before or joints.after:
        lines.append(('odometry without joint states', f'{joints.before} before the first '
                      f'joint state, {joints.after} after the last one'))
    if lost['odometry']:
        lines.append(('missing odometry', absent(
            lost['odometry'], 'odometry message', 'joint_states')
                      + ': recomputed'))
    if shown['left_out']:
        lines.append(('not compared', f'{shown["left_out"]} after missing samples; the odometry '
                      'begins anew at the recorded pose'))
    return lines


def _begin(shown: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the lines on samples outside the odometry, on the initial pose and on resets."""
    lines = []
    if shown['unused']:
        lines.append(('samples not used', f'{shown["unused"]} before the first or after the last '
                      'recorded odometry'))
    if shown['resumed']:
        lines.append(('initial pose', 'the first recorded one: the bag begins during a run'))
    if shown['resets']:
        times = 'once' if shown['resets'] == 1 else f'{shown["resets"]} times'
        lines.append(('pose set', f'{times} (reset_odometry or set_pose)'))
    return lines
