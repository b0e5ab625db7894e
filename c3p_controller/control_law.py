# SPDX-License-Identifier: Apache-2.0
"""
Base of every torque law that has a name: what the law needs, declared as class attributes.

Nodes, experiments, tuning and the command line read these, so that a law is one class
in one file (docs/own_law.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from c3p_controller.goals.position_command import PositionLaw
from c3p_controller.law_settings import Parametrised
from c3p_controller.torque_law import Sensed, Setpoint
from c3p_description.model import Array, CasterRobot, ModelError
from c3p_dynamics.traction import torque_bounds

# wheels that a law drives
CASTERS = 'casters'
ANY = 'any'


@dataclass(frozen=True)
class NoSettings:
    """Settings of a law that has none."""


class ControlLaw(Parametrised, ABC):
    """
    Torque law with a declaration of its needs; a `TorqueLaw`.

    A subclass defines `step`. With a name it also declares `previews` and `position`.

    Parameters
    ----------
    robot : CasterRobot
    settings : Settings, optional
        Default: that of the dataclass.

    Attributes
    ----------
    Settings : dataclass
        Frozen, each field with a default, by `law_settings.setting` with bounds and text. A field
        ``latency``, s, is the input delay that the law assumes: simulated drives set it.
    previews : bool
        The law uses the preview of the setpoint: the position controller publishes it.
    position : type of PositionLaw
        Position controller that drives to goals with the law.
    wheels : str
        ``casters``, behind their pivots with all encoders, or ``any``; see `check_wheels`.
    freedoms : int
        Fewest freedoms of the platform that the motors must control, 3 or 2.
    compiler : bool
        The law is too slow without numba.
    inverse_dynamics : bool
        The velocity controller executes the law in two steps, ``accel`` and ``fuse``, with the
        node inverse_dynamics in between. Such a law is a subclass of `PaperLaw`.
    tuned : tuple of str
        What ``c3p tune`` varies without ``--what``: parameters or groups of them; empty: each
        number of `Settings`.
    title : str
        Heading of the law in tables; empty: its name.
    limit : (robot.efforts,) array, N·m
        Largest torque of each motor; traction control lowers it between steps.
    """

    Settings: ClassVar[type[Any]] = NoSettings
    previews: ClassVar[bool]
    position: ClassVar[type[PositionLaw]]
    wheels: ClassVar[str] = CASTERS
    freedoms: ClassVar[int] = 3
    compiler: ClassVar[bool] = False
    inverse_dynamics: ClassVar[bool] = False
    tuned: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str] = ''

    limit: Array

    def __init__(self, robot: CasterRobot, settings: Any = None) -> None:
        """Take robot and settings."""
        self.robot = robot
        self.settings = self.Settings() if settings is None else settings
        self.limit = torque_bounds(robot)

    @property
    def latency(self) -> float:
        """Input delay in use, s: that of the settings, 0 without one."""
        return float(getattr(self.settings, 'latency', 0.0))

    def reset(self, sensed: Sensed | None = None) -> None:  # noqa: B027 (a law may have no memory)
        """Forget the past; start from `sensed` (at rest when omitted)."""

    def retune(self, settings: Any) -> None:
        """Replace the settings."""
        self.settings = settings

    @abstractmethod
    def step(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """Return the torques (robot.efforts,) N·m for the next `dt` seconds."""

    def prepare(self) -> None:  # noqa: B027 (most laws compute nothing ahead)
        """Compute what the next step can use, after the torques of the last one were sent."""

    @classmethod
    def check_wheels(cls, robot: CasterRobot) -> None:
        """
        Raise ModelError for wheels that the law does not drive; ``wheels`` declares them.

        A law of casters drives all of them behind their pivots, with all encoders.
        """
        if cls.wheels == CASTERS and (reason := robot.other_wheels):
            raise ModelError(f'robot {robot.name}: {cls.__name__} needs casters behind their '
                             f'pivots with all encoders, and {reason}; choose the controller '
                             'modules (auto does)')

    @classmethod
    def position_of(cls, values: Any) -> type[PositionLaw]:
        """Return the position controller for the parameters `values` of its node."""
        return cls.position

    @classmethod
    def takes_latency(cls) -> bool:
        """Return whether the settings have the input delay that the law assumes."""
        return 'latency' in {item.name for item in fields(cls.Settings)}

    @classmethod
    def default_settings(cls, latency: float) -> Any:
        """
        Return the default settings, with the input delay `latency`, s, if the law assumes one.

        Examples
        --------
        >>> from c3p_controller import law_named
        >>> law_named('mpc').default_settings(0.02).latency
        0.02
        """
        return cls.Settings(latency=latency) if cls.takes_latency() else cls.Settings()
