# SPDX-License-Identifier: Apache-2.0
"""
A WebSocket server to which the Foxglove app connects: ROS 2 messages as they are on the wire.

Every topic is a channel of encoding ``cdr`` with its definition as ``ros2msg``, as those of
foxglove_bridge, so layouts and panels are the same. A late subscriber of a latched topic
(``robot_description``, ``/tf_static``) receives its last message at once. The only files served
are meshes of the robot's description, from the package and the folder of the user's robot file.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from c3p_bags.storage.bag_writer import message_types
from c3p_description.model import ModelError
from c3p_description.reading.how_to_install import how_to_install
from c3p_description.reading.mesh_files import mesh_file

DEFAULT_PORT = 8765

# messages that may wait for a slow client; the oldest are dropped then
BACKLOG = 4096


def import_foxglove() -> Any:
    """
    Return the module foxglove.

    Raises
    ------
    ValueError
        It is not installed; the text has the remedy.
    """
    try:
        import foxglove
    except ImportError as error:
        raise ValueError(f'the Foxglove server needs foxglove-sdk ({error}); install it with '
                         f'{how_to_install("view")}') from None
    return foxglove


class FoxgloveServer:
    """
    Channels by topic, and their subscribers.

    Parameters
    ----------
    name : str
        Shown by the app.
    host : str
    port : int
        0 takes a free one.
    description : str
        URDF of the robot; meshes that `mesh_file` allows may be fetched.
    robot : str or Path
        Name or path of the robot as the user gave it, which locates its meshes.
    time_range : (int, int), ns, optional
        First and last time of a recording, which the app may then play, pause and seek.
    on_playback : callable, optional
        Takes a request of the app's player and returns the state of ours.

    Raises
    ------
    ValueError
        foxglove-sdk is missing, or nothing can listen there.
    """

    def __init__(self, name: str, host: str = '127.0.0.1', port: int = DEFAULT_PORT,
                 description: str = '', robot: str | Path = '', *,
                 time_range: tuple[int, int] | None = None,
                 on_playback: Callable[[Any], Any] | None = None) -> None:
        """Start the server without channels."""
        self._fox = fox = import_foxglove()
        self.types = message_types()
        self._robot = robot
        self._meshes = set(re.findall(r'<mesh\s+filename="([^"]+)"', description))
        self._context = fox.Context()
        self._channels: dict[str, Any] = {}
        self._latched: dict[str, tuple[bytes, int]] = {}
        self._listening: dict[str, int] = {}
        self._lock = threading.Lock()
        try:
            self._server = fox.start_server(
                name=name, host=host, port=port, context=self._context,
                server_listener=_ClientListener(self, on_playback), supported_encodings=['cdr'],
                capabilities=[fox.Capability.Time], asset_handler=self.asset,
                playback_time_range=time_range, message_backlog_size=BACKLOG)
        except (RuntimeError, OSError, ValueError) as error:
            raise ValueError(f'no server on {host}:{port} ({error}); choose another --port, 0 '
                             'takes a free one') from None
        self.host, self.port = host, self._server.port

    @property
    def url(self) -> str:
        """Address for the app's connection dialogue."""
        return f'ws://{self.host}:{self.port}'

    @property
    def playback(self) -> Any:
        """The server of the SDK, for time and state of a player."""
        return self._server

    def add(self, topic: str, kind: str, latched: bool = False) -> bool:
        """
        Offer a topic.

        Parameters
        ----------
        topic : str
        kind : str
            Message type such as ``'nav_msgs/msg/Odometry'``.
        latched : bool
            Late subscribers receive the last message.

        Returns
        -------
        bool
            False if the definition of the type is unknown.
        """
        if topic in self._channels:
            return True
        if kind not in self.types.fielddefs:
            return False
        definition, _ = self.types.generate_msgdef(kind, ros_version=2)
        self._channels[topic] = self._fox.Channel(
            topic, message_encoding='cdr', context=self._context, schema=self._fox.Schema(
                name=kind, encoding='ros2msg', data=definition.encode()))
        if latched:
            self._latched[topic] = (b'', 0)
        return True

    def add_schema(self, topic: str, schema: dict[str, Any] | Any, encoding: str) -> None:
        """Offer a `topic` of another `schema`, as the SDK takes it, and `encoding`."""
        self._channels[topic] = self._fox.Channel(
            topic, schema=schema, message_encoding=encoding, context=self._context)

    def log(self, topic: str, data: bytes | memoryview, time: int) -> None:
        """Send a serialized message to the subscribers; `time` in ns."""
        if topic in self._latched:
            with self._lock:
                self._latched[topic] = (bytes(data), time)
        self._channels[topic].log(bytes(data), log_time=time)

    def log_object(self, topic: str, message: dict[str, Any] | Any, time: int) -> None:
        """Send an object of a `topic` of `add_schema`: a dict, or a message of the SDK."""
        self._channels[topic].log(
            message if isinstance(message, dict) else message.encode(), log_time=time)

    def write_message(self, topic: str, time: int, message: Any) -> None:
        """Serialize and send a message, as a writer of bags writes it (`RecordedFrames`)."""
        self.log(topic, self.types.serialize_cdr(message, message.__msgtype__), time)

    def listened(self, topic: str) -> bool:
        """Return whether a client subscribes a topic."""
        return self._listening.get(topic, 0) > 0

    def asset(self, uri: str) -> bytes | None:
        """Return a mesh of the robot's description by its `uri`; None for everything else."""
        if uri not in self._meshes:
            return None
        try:
            return mesh_file(uri, self._robot).read_bytes()
        except (ModelError, OSError):
            return None

    def listens(self, topic: str, one: int) -> None:
        """Count one subscriber of a topic more (`one` = 1) or less (−1)."""
        self._listening[topic] = max(0, self._listening.get(topic, 0) + one)
        if one > 0 and topic in self._latched:
            with self._lock:
                data, time = self._latched[topic]
            if data:
                self._channels[topic].log(data, log_time=time)

    def close(self) -> None:
        """End the server."""
        self._server.stop()


class _ClientListener:
    """Callbacks of the SDK on actions of clients, in its own threads."""

    def __init__(self, server: FoxgloveServer, on_playback: Callable[[Any], Any] | None) -> None:
        self._server = server
        self._on_playback = on_playback

    def on_subscribe(self, client: Any, channel: Any) -> None:
        self._server.listens(channel.topic, 1)

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        self._server.listens(channel.topic, -1)

    def on_playback_control_request(self, request: Any) -> Any:
        return None if self._on_playback is None else self._on_playback(request)

    def __getattr__(self, name: str) -> Callable[..., None]:
        # events of the SDK that are not used
        if name.startswith('on_'):
            return lambda *_: None
        raise AttributeError(name)
