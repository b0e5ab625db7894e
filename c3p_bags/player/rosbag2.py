# SPDX-License-Identifier: Apache-2.0
"""``ros2 bag`` command lines for the suite's topics; options of Jazzy, Kilted and Lyrical."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from c3p_bags.player.playback import select
from c3p_bags.storage.bag import Bag
from c3p_description.reading.yaml_files import read_yaml

# packages that `ros2 bag` with MCAP files consists of
PACKAGES = ('ros2bag', 'rosbag2_storage_mcap')

# topics of frames, which move into the namespace of a robot
FRAMES = ('/tf', '/tf_static')


def absolute(topic: str, namespace: str) -> str:
    """
    Return the full name of a topic of the robot in a namespace.

    Examples
    --------
    >>> absolute('odom', 'robot_1'), absolute('/tf', '/robot_1'), absolute('/rosout', 'robot_1')
    ('/robot_1/odom', '/robot_1/tf', '/rosout')
    """
    space = namespace.strip('/')
    if topic.startswith('/') and topic not in FRAMES:
        return topic
    return f'/{space}/{topic.lstrip("/")}' if space else f'/{topic.lstrip("/")}'


def overrides(path: str | Path, topics: Iterable[str], namespace: str) -> dict[str, Any]:
    """
    Return the contents of a file of overrides with the names of a namespace.

    Parameters
    ----------
    path : str or Path
        With names as without a namespace.
    topics : iterable of str
        As in a topics file: relative ones move.
    namespace : str

    Raises
    ------
    ValueError
        It cannot be read, or is not such a file.
    """
    try:
        content = read_yaml(path)
        named = {absolute(t, ''): absolute(t, namespace) for t in topics}
        return {named.get(topic, topic): dict(profile) for topic, profile in content.items()}
    except (OSError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(f'qos_overrides {path}: {error}') from error


def record_command(path: str, topics: Sequence[str], qos_file: str, *, snapshot_bytes: int = 0,
                   compression: str = 'none', simulated_time: bool = False,
                   log_level: str = 'info') -> list[str]:
    """
    Return the command that records.

    `path` is that of the new bag, `qos_file` a file of overrides. `snapshot_bytes` above 0 are
    held in memory, and written when ``/recorder/snapshot`` is called. `topics` have full names;
    `compression`, `simulated_time` and `log_level` are options of the same meaning.
    """
    # unpublished topics are subscribed to early, so that a goal, which is sent once, is not missed
    words = ['ros2', 'bag', 'record', '--storage', 'mcap', '--output', path, '--node-name',
             'recorder', '--qos-profile-overrides-path', qos_file, '--include-unpublished-topics',
             '--disable-keyboard-controls', '--log-level', log_level]
    if snapshot_bytes:
        words += ['--snapshot-mode', '--max-cache-size', str(snapshot_bytes)]
    if compression == 'zstd':
        words += ['--storage-preset-profile', 'zstd_fast']
    if simulated_time:
        words.append('--use-sim-time')
    return [*words, '--topics', *topics]


class PlaybackOptions(NamedTuple):
    """
    Options of a playback, as the parameters of the player node.

    Attributes
    ----------
    rate : float
    topics : sequence of str
    with_commands : bool
    clock : float, Hz
    loop : bool
    start_offset : float, s
    start_paused : bool
    log_level : str
    """

    rate: float = 1.0
    topics: Sequence[str] = ()
    with_commands: bool = False
    clock: float = 0.0
    loop: bool = False
    start_offset: float = 0.0
    start_paused: bool = False
    log_level: str = 'info'


def play_command(bag: str, qos_file: str, options: PlaybackOptions | None = None
                 ) -> tuple[list[str], tuple[str, ...]]:
    """
    Return the command that plays a `bag`, and the topics that it mutes.

    `qos_file` is a file of overrides.

    Raises
    ------
    BagError
        The bag cannot be read, or lacks a topic.
    """
    options = options or PlaybackOptions()
    with Bag(bag) as opened:
        chosen = select(opened.topics, options.topics, options.with_commands)
    words = ['ros2', 'bag', 'play', bag, '--rate', f'{options.rate:g}',
             '--qos-profile-overrides-path', qos_file, '--disable-keyboard-controls',
             '--log-level', options.log_level]
    if options.clock:
        words += ['--clock', f'{options.clock:g}']
    if options.loop:
        words.append('--loop')
    if options.start_offset:
        words += ['--start-offset', f'{options.start_offset:g}']
    if options.start_paused:
        words.append('--start-paused')
    # an explicit list of topics keeps the muted ones out
    return [*words, '--topics', *chosen.played], chosen.muted
