# SPDX-License-Identifier: Apache-2.0
"""Loop of ``c3p experiment berthing --keys``: keys of a terminal move the hand, in real time."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from c3p_bringup.teleop.keys import LOCK, RELEASE, KeyDrive, KeyReader
from c3p_bringup.teleop.screen import BOLD, Terminal, paint
from c3p_experiments.kelly.berthing import STEP
from c3p_experiments.kelly.by_hand import SPEED, TITLE, TURN, Berthing

HELP = ('   arrows    the hand along x (up, down) and y (left, right) of the orbiter',
        '   j  l      turn it; u i o m , . turn and move',
        '   e         close the grapple near the satellite, then the latch near the berth',
        '   r         release the arm',
        '   q z       faster, slower      space  stop      Ctrl-C  end')

# between commands of the hand, and pictures, s
TICK = 0.04
PAINT = 0.1
# longest motion at once, after a pause of the process, s
MOST = 0.2
# time after which an incomplete sequence is a key, s
LONELY = 0.05
# motion after the release of a latched satellite, s
AFTER = 3.0


def drive(scene: Berthing, terminal: Terminal, clock: Callable[[], float] = time.monotonic
          ) -> None:
    """
    Move the `scene` with the keys of a `terminal` until it is berthed, or Ctrl-C.

    `clock` returns seconds; the scene follows it.
    """
    hand = KeyDrive(SPEED[0], TURN[0], SPEED[1], TURN[1])
    reader = KeyReader()
    origin = due = typed = clock()
    painted = -PAINT + origin
    note = ''
    over = np.inf
    while not hand.quits and scene.motion.time < over:
        data = terminal.read(due - clock())
        if data is None:
            break
        now = clock()
        if data:
            typed = now
        keys = reader.read(data) if data else reader.flush() if now - typed > LONELY else []
        for key in keys:
            if key == LOCK:
                note = '' if scene.make() else 'too far, or closed already'
            elif key == RELEASE:
                note = '' if scene.release() else 'nothing to release'
        hand.keys([key for key in keys if key not in (LOCK, RELEASE)], now)
        if now >= due:
            due = now + TICK
            twist = hand.twist(now)
            scene.command(np.zeros(3) if twist is None else twist)
            behind = now - origin - scene.motion.time
            if behind > MOST:
                origin += behind - MOST
            scene.advance(int(min(behind, MOST) / STEP + 1e-6) * STEP)
        if scene.released and over == np.inf:
            over = scene.motion.time + AFTER
        if now - painted >= PAINT:
            painted = now
            text = [f' {TITLE}', '', *HELP, '',
                    f'   hand at {hand.speed:.2f} m/s, {np.degrees(hand.yaw_rate):.1f}°/s',
                    *(f'   {line}' for line in scene.status()), f'   {note}']
            terminal.write(paint(text, {3: BOLD, 2: BOLD}, *terminal.size()))
