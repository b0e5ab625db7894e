# SPDX-License-Identifier: Apache-2.0
"""The scene and its numbers for the Foxglove app."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import CasterRobot
from c3p_kinematics.singularity import shown_singularity
from c3p_viewers.foxglove.server import FoxgloveServer, import_foxglove
from c3p_viewers.scene.shapes import Arc, Arrow, Ball, Label, Line, Shape
from c3p_viewers.sources.moment import Moment, scene_of
from c3p_viewers.sources.moment_reader import MomentReader
from c3p_viewers.sources.newest import topic_below

SCENE = '/c3p/scene'
NUMBERS = '/c3p/numbers'

# scenes a second
RATE = 20.0

_LIST = {'type': 'array', 'items': {'type': 'number'}}
# objects on `NUMBERS`: SI units, steering in degrees for people
SCHEMA = {
    'title': 'c3p.Numbers', 'type': 'object',
    'properties': {
        'sigma_min': {'type': 'number'}, 'steering_deg': _LIST, 'slip': _LIST, 'torque': _LIST,
        'suspect': {'type': 'integer', 'description': 'wheel that slips, from 1; 0: none'},
    },
}


def numbers(robot: CasterRobot, moment: Moment) -> dict[str, Any]:
    """Return a moment as the object of `SCHEMA`."""
    slip = np.zeros(robot.count) if moment.residual is None else np.linalg.norm(
        moment.residual, axis=-1)
    torque = np.zeros(robot.count) if moment.torque is None else np.nan_to_num(moment.torque)
    state = shown_singularity(robot, moment.steering)
    measure = {} if state is None else {'sigma_min': abs(float(state.sigma_min))}
    return {**measure,
            'steering_deg': np.degrees(moment.steering).tolist(), 'slip': slip.tolist(),
            'torque': torque.tolist(),
            'suspect': 0 if moment.suspect is None else moment.suspect + 1}


class SceneChannel:
    """
    Computes scene and numbers from the passing messages, while clients subscribe them.

    Parameters
    ----------
    server : FoxgloveServer
    robot : CasterRobot
    namespace : str
        Of the robot's topics.
    """

    def __init__(self, server: FoxgloveServer, robot: CasterRobot, namespace: str = '') -> None:
        """Offer the topics."""
        self._server = server
        self._robot = robot
        self._namespace = namespace
        self._reader = MomentReader(robot)
        self._drawing = _Drawing()
        self._due = -math.inf
        self._shown: set[str] = set()
        server.add_schema(SCENE, self._drawing.schema, 'protobuf')
        server.add_schema(NUMBERS, SCHEMA, 'json')

    def take(self, topic: str, data: bytes, time: int, kind: str | None = None) -> None:
        """
        Take a message; joint states make a new scene, not too often.

        Parameters
        ----------
        topic : str
            With the namespace.
        data : bytes
        time : int, ns
        kind : str, optional
            Type, where it is not the usual one.
        """
        name = topic_below(topic, self._namespace)
        seconds = time * 1e-9
        self._reader.put(name, data, seconds, kind)
        if name != 'joint_states' or not self._due <= seconds:
            return
        subscribed = [self._server.listened(topic) for topic in (SCENE, NUMBERS)]
        moment = self._reader.moment(seconds) if any(subscribed) else None
        if moment is None:
            return
        self._due = seconds + 1.0 / RATE
        if subscribed[0]:
            self._draw(moment, time)
        if subscribed[1]:
            self._server.log_object(NUMBERS, numbers(self._robot, moment), time)

    def forget(self) -> None:
        """Begin anew, at another time of the recording."""
        self._due = -math.inf
        self._reader.clear()

    def _draw(self, moment: Moment, time: int) -> None:
        shapes = scene_of(self._robot, moment)
        now = {shape.name for shape in shapes}
        self._server.log_object(SCENE, self._drawing.update(shapes, self._shown - now, time),
                                time)
        self._shown = now


class _Drawing:
    """Shapes as the SDK's scene entities."""

    def __init__(self) -> None:
        import_foxglove()
        from foxglove import messages

        self._m = messages
        self.schema = messages.SceneUpdate.get_schema()

    def update(self, shapes: Iterable[Shape], gone: Iterable[str], time: int) -> Any:
        """Return the update that shows shapes, and drops those that are gone."""
        m = self._m
        stamp = m.Timestamp(sec=time // 1_000_000_000, nsec=time % 1_000_000_000)
        return m.SceneUpdate(
            deletions=[m.SceneEntityDeletion(
                timestamp=stamp, type=m.SceneEntityDeletionType.MatchingId, id=name)
                for name in sorted(gone)],
            entities=[m.SceneEntity(timestamp=stamp, frame_id=shape.frame, id=shape.name,
                                    **self._parts(shape)) for shape in shapes])

    def _parts(self, shape: Shape) -> dict[str, list[Any]]:
        """Return the primitives of a shape."""
        m = self._m
        colour = self._colour(shape.colour)
        match shape:
            case Line() | Arc():
                return {'lines': [m.LinePrimitive(
                    type=m.LinePrimitiveLineType.LineStrip, thickness=float(shape.width),
                    points=[self._point(p) for p in shape.points], color=colour,
                    pose=self._pose(np.zeros(3)))]}
            case Arrow():
                return {'arrows': [self._arrow(shape, colour)]}
            case Ball():
                size = 2.0 * float(shape.radius)
                return {'spheres': [m.SpherePrimitive(
                    pose=self._pose(shape.centre), size=m.Vector3(x=size, y=size, z=size),
                    color=colour)]}
            case Label():
                return {'texts': [m.TextPrimitive(
                    pose=self._pose(shape.position), billboard=True, color=colour,
                    font_size=float(shape.height), text=shape.text)]}
        raise TypeError(f'{type(shape).__name__}: no such shape')

    def _arrow(self, shape: Arrow, colour: Any) -> Any:
        """Return an arrow: the app's points along +X of its pose."""
        way = np.subtract(shape.end, shape.start)
        length = float(np.linalg.norm(way))
        head = min(3.0 * float(shape.width), 0.6 * length)
        # the turn about z and then about the new y that takes +X there
        yaw = math.atan2(way[1], way[0])
        pitch = -math.atan2(way[2], math.hypot(way[0], way[1]))
        (cy, sy), (cp, sp) = ((math.cos(a / 2), math.sin(a / 2)) for a in (yaw, pitch))
        turn = self._m.Quaternion(x=-sy * sp, y=cy * sp, z=sy * cp, w=cy * cp)
        return self._m.ArrowPrimitive(
            pose=self._pose(shape.start, turn), shaft_length=length - head,
            shaft_diameter=float(shape.width), head_length=head,
            head_diameter=2.2 * float(shape.width), color=colour)

    def _pose(self, position: ArrayLike, turn: Any = None) -> Any:
        x, y, z = (float(v) for v in np.asarray(position))
        return self._m.Pose(position=self._m.Vector3(x=x, y=y, z=z), orientation=turn or (
            self._m.Quaternion(x=0.0, y=0.0, z=0.0, w=1.0)))

    def _point(self, point: ArrayLike) -> Any:
        x, y, z = (float(v) for v in np.asarray(point))
        return self._m.Point3(x=x, y=y, z=z)

    def _colour(self, colour: ArrayLike) -> Any:
        red, green, blue, opacity = (float(v) for v in np.asarray(colour))
        return self._m.Color(r=red, g=green, b=blue, a=opacity)
