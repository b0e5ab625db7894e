# SPDX-License-Identifier: Apache-2.0
"""Recomputed odometry of a bag, with the recorded robot and parameters or with others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs import mapped
from c3p_bags.runs.agreement import Agreement, agreement, joined
from c3p_bags.runs.clock_steps import find_steps
from c3p_bags.runs.losses import Losses, losses, missing, related
from c3p_bags.runs.odometry_inputs import read_gyro
from c3p_bags.runs.recompute import (
    ODOMETRY,
    Recomputed,
    RecordedOdometry,
    Samples,
    read_samples,
    recompute,
)
from c3p_bags.runs.run_bag import odometry_message
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_parameters import suite_version
from c3p_bags.storage.bag_writer import BagError, BagWriter
from c3p_bags.storage.recorded_robot import NODE
from c3p_description.model import Array
from c3p_kinematics.odometry import PARAMETERS, OdometrySettings, odometry_settings

# topic of the recorded odometry in a bag with the recomputed one
RECORDED = 'odom/recorded'


class BagOdometry(NamedTuple):
    """
    Result of `recompute_bag`; the agreement is None without recorded odometry.

    Of the messages that are not in the bag: joint states with the stamps of odometry, and odometry
    that was computed here from joint states; `others` if the recorded odometry has other stamps
    than the joint states.
    The parameters are those used; `known` if the bag has those of the node, `changed` if robot or
    parameters differ from the bag's. Frames of pose and twist.
    """

    odometry: Recomputed
    agreement: Agreement | None
    joint_states: Losses
    odometry_lost: int
    others: bool
    parameters: dict[str, Any]
    known: bool
    changed: bool
    namespace: str
    frames: tuple[str, str]


def recorded_settings(bag: Bag, space: str, changes: Mapping[str, Any] | None = None
                      ) -> tuple[OdometrySettings, dict[str, Any]]:
    """
    Return the settings of a robot's odometry, and the parameters behind them.

    `space` is the namespace of the robot, as `Bag.namespace` returns it; `changes` are parameters
    that replace those of the bag.

    Raises
    ------
    BagError
        The parameters in the bag are invalid, or `changes` has an unknown one.
    """
    changes = changes or {}
    if unknown := set(changes) - set(PARAMETERS):
        raise BagError(f'{", ".join(sorted(unknown))}: not a parameter of the odometry; known are '
                       f'{", ".join(sorted(PARAMETERS))}')
    recorded = bag.parameters.get(f'{space}/{NODE}', {})
    values = {name: recorded[name] for name in PARAMETERS if name in recorded}
    if 'stamp_jitter' in recorded and 'sample_skew' not in recorded:
        # a node without this parameter took all joints of a message to be of one instant
        values['sample_skew'] = 0.0
    values |= changes
    try:
        return odometry_settings(**values), values
    except ValueError as error:
        raise BagError(f'bag {bag}, parameters of {NODE}: {error}') from None


def recompute_bag(bag: Bag, robot: str = '', namespace: str | None = None,
                  changes: Mapping[str, Any] | None = None, everything: bool = False,
                  progress: Callable[[float], None] = lambda part: None) -> BagOdometry:
    """
    Recompute the odometry of a bag.

    `robot` is a name or path, default that of the bag; `namespace` that of the robot, default the
    only one. `changes` are parameters of the node sensed_kinematics that replace those of the bag.
    `everything` uses every joint state and sets no pose, regardless of the recorded odometry.
    `progress` receives the fraction done, 0 to 1.

    Raises
    ------
    BagError
        The bag cannot be read, has no joint states, or `changes` has an unknown parameter.
    """
    space = bag.namespace(namespace)
    settings, values = recorded_settings(bag, space, changes)
    model = bag.casters(robot, space)
    # reading takes about a third of the time
    samples, recorded = read_samples(bag, model, space, lambda part: progress(part / 3.0))
    # wheel angles and rates are the third and the fourth of a sample
    if len(find_steps(samples.stamp, samples.angles[:, 2], samples.angles[:, 3]).sample):
        bag.remark('the clock was set while it was recorded; the odometry begins anew there')
    samples = samples._replace(gyro=read_gyro(bag, settings, space))
    result = recompute(samples, model, settings, None if everything else recorded,
                       lambda part: progress((1.0 + 2.0 * part) / 3.0))
    progress(1.0)
    node = bag.parameters.get(f'{space}/{NODE}', {})
    return BagOdometry(
        result, None if recorded is None else compare(result, recorded),
        *_lost(samples, result, None if everything else recorded), values, bool(node),
        bool(robot or changes or everything), space,
        (f'{node.get("odom_frame", "odom")}', f'{node.get("base_frame", "base_link")}'))


def compare(recomputed: Recomputed, recorded: RecordedOdometry) -> Agreement:
    """Return the agreement of the messages that both have, except those that are left out."""
    stamps, ours, theirs = np.intersect1d(recomputed.stamp, recorded.stamp, return_indices=True)
    judged = ~np.isin(stamps, np.array(recomputed.left_out, np.int64))
    ours = ours[judged]
    theirs = theirs[judged]
    found = []
    # by parts: all numbers of an hour are half a gigabyte
    for begin in range(0, max(len(ours), 1), mapped.ROWS):
        part = slice(begin, begin + mapped.ROWS)
        found.append(agreement(recomputed.numbers[ours[part]], recorded.numbers[theirs[part]],
                               recomputed.limit[ours[part]]))
        mapped.give_back(recomputed.numbers, recorded.numbers)
    return joined(found)


def _lost(samples: Samples, found: Recomputed, recorded: RecordedOdometry | None
          ) -> tuple[Losses, int, bool]:
    """Return what is not in the bag: joint states, odometry; and whether these are unrelated."""
    if recorded is None or not related(samples.stamp, recorded.stamp):
        return Losses(), 0, recorded is not None
    begin, end = recorded.stamp[[0, -1]]
    computed = found.stamp[(found.stamp > begin) & (found.stamp < end)]
    return (losses(samples.stamp, recorded.stamp), len(missing(recorded.stamp, computed)), False)


def _cycles(found: Recomputed) -> Iterator[tuple[int, int, Array]]:
    """Yield time of recording, stamp and numbers of the messages."""
    for k in range(len(found.stamp)):
        if k % mapped.ROWS == 0:
            mapped.give_back(found.numbers)
        yield int(found.recorded[k]), int(found.stamp[k]), found.numbers[k]


def write_recomputed(bag: Bag, path: str | Path, found: BagOdometry) -> None:
    """
    Write a bag with every recorded message, and the recomputed odometry as ``odom``.

    The odometry of the bag becomes ``odom/recorded``, in the place of one that has this name.

    Raises
    ------
    BagError
        `path` exists, or the bag cannot be read.
    """
    space = found.namespace
    result = found.odometry
    odom = f'{space}/odom'
    recorded = f'{space}/{RECORDED}'
    with BagWriter(path) as writer:
        def write(time: int, stamp: int, numbers: Array) -> None:
            writer.write_message(odom, time, odometry_message(
                writer.types.types, stamp, numbers, *found.frames))

        writer.note({**bag.notes, 'c3p_recomputed': suite_version()})
        copied = {topic: known for topic, known in bag.topics.items() if topic != recorded}
        for topic, known in copied.items():
            writer.adopt(recorded if topic == odom else topic, known.kind, bag.qos(topic),
                         bag.types)
        writer.add(odom, ODOMETRY)
        coming = _cycles(result)
        ours = next(coming, None)
        for topic, time, data in bag.raw(copied):
            # in the order of the joint states behind them
            while ours is not None and ours[0] < time:
                write(*ours)
                ours = next(coming, None)
            writer.write(recorded if topic == odom else topic, time, data)
        for later in [ours, *coming] if ours is not None else ():
            write(*later)
