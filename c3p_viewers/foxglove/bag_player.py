# SPDX-License-Identifier: Apache-2.0
"""A bag for the Foxglove app, controlled by the player of the app."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from c3p_bags.storage.bag import Bag, RawMessage
from c3p_description.model import CasterRobot
from c3p_viewers.foxglove.scene_channel import SceneChannel
from c3p_viewers.foxglove.server import DEFAULT_PORT, FoxgloveServer, import_foxglove

# topics whose last message before a time holds there; period of sending the time to the app, s
LATCHED = ('/robot_description', '/tf_static', '/goal_pose')
TIME_PERIOD = 0.05
# longest wait at once, so that requests are answered, s
PATIENCE = 0.05


class BagPlayer:
    """
    Plays a bag to a Foxglove server.

    Parameters
    ----------
    path : str or Path
    robot : CasterRobot
        Its scene is computed beside the recorded topics.
    description : str
        URDF.
    host, port
        As for `FoxgloveServer`.
    namespace : str
        Of the robot's topics.
    file : str or Path
        Name or path of the robot as the user gave it, which locates its meshes.

    Raises
    ------
    BagError
        The bag cannot be read.
    ValueError
        As `FoxgloveServer`.
    """

    def __init__(self, path: str | Path, robot: CasterRobot, description: str,
                 host: str = '127.0.0.1', port: int = DEFAULT_PORT, namespace: str = '',
                 file: str | Path = '') -> None:
        """Offer every topic of the bag; nothing plays yet."""
        self._path = path
        with Bag(path) as bag:
            topics, (self.start, self.end) = bag.topics, bag.span
            latched = list(bag.raw([topic for topic in topics if topic.endswith(LATCHED)]))
        fox = import_foxglove().websocket
        self._status, self._state = fox.PlaybackStatus, fox.PlaybackState
        self._play = fox.PlaybackCommand.Play
        self._changed = threading.Condition()
        # the app's last request: run or not, speed, and where to go on
        self.playing, self.speed, self.now = True, 1.0, self.start
        self._sought: int | None = self.start
        self._over = False
        self._sent = 0.0
        self.server = FoxgloveServer(
            f'{robot.name}: {Path(path).name}', host, port, description, file,
            time_range=(self.start, self.end), on_playback=self.request)
        self._topics = {name for name, topic in topics.items() if self.server.add(
            name, topic.kind, name.endswith(LATCHED))}
        # few, and needed wherever the app goes on
        self._latched = [message for message in latched if message.topic in self._topics]
        # where the bag has no description the server gives its own
        self._description = None if any(t.endswith('/robot_description') for t in topics) else (
            description)
        if self._description is not None:
            self.server.add('/robot_description', 'std_msgs/msg/String', latched=True)
        self._kinds = {name: topic.kind for name, topic in topics.items()}
        self._scene = SceneChannel(self.server, robot, namespace)

    def request(self, command: Any) -> Any:
        """
        Carry out a request of the app's player.

        Parameters
        ----------
        command : PlaybackControlRequest
            Play or pause, speed, and where to go on.
        """
        with self._changed:
            self.playing = command.playback_command == self._play
            if command.playback_speed > 0.0:
                self.speed = float(command.playback_speed)
            if command.seek_time is not None:
                self._sought = min(max(int(command.seek_time), self.start), self.end)
                self.now = self._sought
            self._changed.notify_all()
            return self._as_state(command.seek_time is not None, command.request_id)

    def _as_state(self, sought: bool = False, request: str | None = None) -> Any:
        """Return the player's state for the app."""
        status = self._status.Ended if self.now >= self.end else (
            self._status.Playing if self.playing else self._status.Paused)
        return self._state(status, self.now, self.speed, sought, request)

    def run(self) -> None:
        """Play until `close`."""
        while not self._over:
            with self._changed:
                begin = self._sought
                self._sought = None
                if begin is None:
                    # the end of the bag: wait for the app
                    self._changed.wait(PATIENCE)
                    continue
            self._prepare(begin)
            self._play_from(begin)

    def _prepare(self, begin: int) -> None:
        """Send the last messages of the latched topics at a time."""
        if self._description is not None:
            text = self.server.types.types['std_msgs/msg/String'](self._description)
            self.server.write_message('/robot_description', begin, text)
        last: dict[str, RawMessage] = {}
        for message in self._latched:
            # static messages are sent at the start, whenever they were recorded
            if message.time <= begin or not message.topic.endswith('/goal_pose'):
                last[message.topic] = message
        for topic, message in last.items():
            self.server.log(topic, message.data, begin)
        self._scene.forget()

    def _play_from(self, begin: int) -> None:
        """Send message after message when it is due, until the app seeks or the bag ends."""
        due = _Pace(begin)
        for message in self._messages(begin):
            while (wait := due.wait(message.time, self.playing, self.speed)) > 0.0:
                self._send_time(min(due.now, float(message.time)))
                with self._changed:
                    self._changed.wait(min(wait, PATIENCE))
                    if self._over or self._sought is not None:
                        return
            if self._over or self._sought is not None:
                return
            self.now = message.time
            self.server.log(message.topic, message.data, message.time)
            self._scene.take(message.topic, message.data, message.time,
                             self._kinds[message.topic])
        self.now = self.end
        self.server.playback.broadcast_playback_state(self._as_state())

    def _messages(self, begin: int) -> Iterator[RawMessage]:
        # opened in the thread that plays: sqlite3 requires it
        with Bag(self._path) as bag:
            yield from bag.raw(self._topics, start=begin)

    def _send_time(self, now: float) -> None:
        """Send time and state to the app, at most every `TIME_PERIOD`."""
        if clock.monotonic() >= self._sent:
            self._sent = clock.monotonic() + TIME_PERIOD
            self.server.playback.broadcast_time(int(now))
            self.server.playback.broadcast_playback_state(self._as_state())

    def close(self) -> None:
        """End playing and the server."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
        self.server.close()


class _Pace:
    """Time of a bag against the clock, at a speed that may change."""

    def __init__(self, begin: int) -> None:
        self.now, self._clock = float(begin), clock.monotonic()

    def wait(self, time: int, playing: bool, speed: float) -> float:
        """Return how long to wait until `time` (ns) of the bag, s; forever while paused."""
        now = clock.monotonic()
        if playing:
            # late messages are caught up
            self.now += 1e9 * speed * (now - self._clock)
        self._clock = now
        if not playing:
            return PATIENCE
        return (time - self.now) / (1e9 * speed)
