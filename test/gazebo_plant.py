# SPDX-License-Identifier: Apache-2.0
"""The robot in Gazebo's physics as a plant, where packages and a compiler are installed."""

import hashlib
import math
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from c3p_description import robot_description
from c3p_description.reading.files import share_file
from c3p_description.reading.loader import load
from c3p_simulation.plants.plant import GroundTruth, JointSample, PushedPlant

SOURCE = Path(__file__).with_name('gazebo_physics')
ENGINE = 'ign-physics-5/engine-plugins/libignition-physics5-dartsim-plugin.so'
NEEDS = ("needs Gazebo's physics and a compiler: Debian packages cmake, g++, libsdformat-dev, "
         'libignition-physics-dev and libignition-physics5-dartsim-plugin5')
# step of the worlds, s
STEP = 1e-3


@lru_cache
def stepper():
    """Return the compiled program and the engine; compiled once per version of the source."""
    engines = [*Path('/usr/lib').glob(f'*/{ENGINE}'), *Path('/usr/lib').glob(ENGINE)]
    if not engines or not all(map(shutil.which, ('cmake', 'c++'))):
        pytest.skip(NEEDS)
    files = sorted(SOURCE.iterdir())
    version = hashlib.sha256(b''.join(file.read_bytes() for file in files)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f'c3p_gazebo_physics_{version}'
    program = folder / 'world_stepper'
    if not program.is_file():
        found = subprocess.run(['cmake', '-S', SOURCE, '-B', folder, '-DCMAKE_BUILD_TYPE=None'],
                               capture_output=True, text=True)
        if found.returncode:
            # a package of headers is missing
            pytest.skip(f'{NEEDS}: {found.stderr[-300:]}')
        subprocess.run(['cmake', '--build', folder], check=True, capture_output=True, text=True)
    return program, engines[0]


class GazeboPlant(PushedPlant):
    """
    A robot in a world of the package, with the description that Gazebo gets.

    Parameters
    ----------
    world : str
        Name of the world.
    heights : sequence, optional
        Image, size and position of the ground for world_stepper.cc.
    """

    def __init__(self, world='flat', heights=None):
        """Convert the description; the program starts with the first `reset`."""
        super().__init__(load('c3p'))
        self._command, engine = stepper()
        self._folder = tempfile.TemporaryDirectory()
        urdf = Path(self._folder.name) / 'robot.urdf'
        urdf.write_text(robot_description('c3p', {'hardware': 'gazebo'}))
        self._words = [self._command, engine, share_file(f'c3p_description/worlds/{world}.sdf'),
                       urdf, *map(str, heights or ())]
        self._process = None

    def close(self):
        """End the program."""
        if self._process is not None:
            self._process.stdin.close()
            self._process.stdout.close()
            self._process.wait(10)
            self._process = None
        # of a plant that is not reset again
        self._state = None

    def _say(self, *words):
        print(*words, file=self._process.stdin)

    def _answer(self, word):
        """Return what follows the word in the next line with it; others are messages."""
        for line in self._process.stdout:
            first, *rest = line.split() or ['']
            if first == word:
                return rest
        raise AssertionError(f'world_stepper ended with {self._process.wait(10)}')

    def _advance(self, steps):
        self._say('step', steps)
        self._process.stdin.flush()
        self._state = np.array(self._answer('state'), float)
        assert len(self._state) == 13 + 2 * len(self._names)

    def _place(self, pose, steering, twist):
        assert not np.any(twist), 'it starts from rest'
        self.close()
        self._process = subprocess.Popen(self._words, text=True, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE)
        self._names = self._answer('joints')
        self._joints = [[13 + 2 * self._names.index(f'{kind}_joint_{i + 1}') for i in
                         range(self._robot.count)] for kind in ('steering', 'wheel')]
        self._turns = 0
        self._say('place', *pose[:2], 0.0, pose[2])
        for i, angle in enumerate(steering):
            self._say('joint', f'steering_joint_{i + 1}', angle)
        # a state to report; the tyres touch the ground already
        self._advance(1)

    def _integrate(self, wrench, duration):
        assert not np.any(wrench), 'it has no pushes'
        if duration <= 0.0:
            return
        for i, torque in enumerate(self._torque):
            self._say('force', f'wheel_joint_{i + 1}', repr(float(torque)))
        before = self.truth().pose[2]
        self._advance(round(duration / STEP))
        self._turns += round((before - self.truth().pose[2]) / (2.0 * math.pi))

    def sense(self):
        """Return the joints now."""
        steering, wheel = (np.array(places) for places in self._joints)
        return JointSample(self._time, self._state[steering], self._state[steering + 1],
                           self._state[wheel], self._state[wheel + 1], self._torque.copy())

    def truth(self):
        """Return pose and twist now."""
        x, y, _, qw, qx, qy, qz, vx, vy, _, _, _, turn = self._state[:13]
        yaw = math.atan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz))
        c, s = math.cos(yaw), math.sin(yaw)
        return GroundTruth(self._time, np.array([x, y, yaw + 2.0 * math.pi * self._turns]),
                           np.array([c * vx + s * vy, c * vy - s * vx, turn]))

    @property
    def height(self):
        """Height of the root link above the ground of the world, m."""
        return float(self._state[2])

    @property
    def tilt(self):
        """Angle between the platform's axis and the vertical, rad."""
        return 2.0 * math.asin(min(1.0, math.hypot(*self._state[4:6])))
