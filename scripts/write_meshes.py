# SPDX-License-Identifier: Apache-2.0
"""
Write the meshes of the robots: ``python scripts/write_meshes.py``.

All meshes have unit size and are scaled in the URDF: the plate to hip radius and thickness (the
corners are rounded about the hips), tyre and hub (axle along x) to width and radius, the arrow to
length, width and thickness. The torus (axle along y) has R = 1 and the tube of `wheel_mesh_tube`
in robots/*.yaml: its two radii can only be scaled together.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Triangles = NDArray[np.float64]  # (m, 3 corners, 3), counter-clockwise seen from outside

MESHES_FOLDER = Path(__file__).resolve().parents[1] / 'c3p_description' / 'meshes'
CORNER = 0.20          # corner radius of the plate ÷ hip radius
EDGE = 0.010           # bevel of the plate's edge ÷ hip radius
ROUND = 48             # segments of a full circle
SPOKES = 5
TUBE = 0.2             # tube of the torus ÷ radius of its centre circle
TUBE_ROUND = 20        # segments around the tube, a multiple of 4


def loft(rings: NDArray[np.float64], closed: bool = False) -> Triangles:
    """Return the skin over rings (k, m, 3); `closed` joins the last ring to the first."""
    pairs = list(zip(rings[:-1], rings[1:], strict=True))
    if closed:
        pairs.append((rings[-1], rings[0]))
    faces = []
    for low, high in pairs:
        low_next, high_next = np.roll(low, -1, axis=0), np.roll(high, -1, axis=0)
        faces += [np.stack([low, low_next, high_next], 1), np.stack([low, high_next, high], 1)]
    return np.concatenate(faces)


def solid(rings: NDArray[np.float64]) -> Triangles:
    """Return a solid of stacked convex rings with its two ends closed."""
    faces = [loft(rings)]
    for ring, flip in ((rings[0], True), (rings[-1], False)):
        centre = np.broadcast_to(ring.mean(axis=0), ring.shape)
        cap = np.stack([centre, ring, np.roll(ring, -1, axis=0)], 1)
        faces.append(cap[:, ::-1] if flip else cap)
    return np.concatenate(faces)


def at_height(outline: NDArray[np.float64], z: float) -> NDArray[np.float64]:
    """Return an outline (m, 2) as points (m, 3)."""
    return np.column_stack([outline, np.full(len(outline), z)])


def plate() -> Triangles:
    """Return the triangular plate, corners at 30°, 150°, 270°, bevelled above and below."""
    def outline(radius: float) -> NDArray[np.float64]:
        points = []
        for corner in np.radians([30.0, 150.0, 270.0]):
            turn = corner + np.radians(np.linspace(-60, 60, ROUND // 3 + 1))
            centre = np.array([np.cos(corner), np.sin(corner)])
            points.append(centre + radius * np.column_stack([np.cos(turn), np.sin(turn)]))
        return np.concatenate(points)
    levels = ((0.0, CORNER - EDGE), (0.15, CORNER), (0.85, CORNER), (1.0, CORNER - EDGE))
    return solid(np.stack([at_height(outline(radius), z) for z, radius in levels]))


def lathe(profile: list[tuple[float, float]]) -> Triangles:
    """Return a closed profile of (x, radius) points turned about x."""
    angle = 2 * np.pi * np.arange(ROUND) / ROUND
    rings = np.stack([np.column_stack([np.full(ROUND, x), rho * np.cos(angle),
                                       rho * np.sin(angle)]) for x, rho in profile])
    return loft(rings, closed=True)


def box(size: tuple[float, float, float], centre: tuple[float, float, float]) -> Triangles:
    """Return a box."""
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2
    rings = np.stack([at_height(square, -0.5), at_height(square, 0.5)])
    return solid(rings) * size + np.array(centre)


def turned(faces: Triangles, angle: float) -> Triangles:
    """Return `faces` turned about x."""
    c, s = np.cos(angle), np.sin(angle)
    return faces @ np.array([[1, 0, 0], [0, c, s], [0, -s, c]])


def tyre() -> Triangles:
    """Return a ring with rounded shoulders."""
    shoulder = [(0.5 - 0.22 * (1 - np.sin(t)), 1 - 0.12 * (1 - np.cos(t)))
                for t in np.radians([90, 60, 30, 0])]
    outer = [(-x, rho) for x, rho in shoulder] + [(x, rho) for x, rho in shoulder[::-1]]
    return lathe(outer + [(0.5, 0.68), (-0.5, 0.68)])


def hub() -> Triangles:
    """Return rim, boss and spokes."""
    rim = lathe([(-0.5, 0.80), (-0.5, 1.02), (0.5, 1.02), (0.5, 0.80)])
    boss = lathe([(-0.6, 0.02), (-0.6, 0.32), (0.6, 0.32), (0.6, 0.02)])
    spokes = [turned(box((0.7, 0.22, 0.66), (0.0, 0.0, 0.55)), 2 * np.pi * k / SPOKES)
              for k in range(SPOKES)]
    return np.concatenate([rim, boss, *spokes])


def torus() -> Triangles:
    """Return a torus about y, its tube with corners at the largest and smallest radius."""
    around = 2 * np.pi * np.arange(TUBE_ROUND) / TUBE_ROUND
    about_x = lathe([(TUBE * np.sin(v), 1 + TUBE * np.cos(v)) for v in around])
    # x becomes y, y becomes z, z becomes x
    return np.roll(about_x, 1, axis=2)


def arrow() -> Triangles:
    """Return a flat arrow along +x, from -½ to ½."""
    head = np.array([[0.5, 0.0], [0.0, 0.5], [0.0, -0.5]])
    return np.concatenate([solid(np.stack([at_height(head, 0.0), at_height(head, 1.0)])),
                           box((0.5, 0.36, 1.0), (-0.25, 0.0, 0.5))])


def write_stl(path: Path, faces: Triangles) -> None:
    """Write a binary STL file."""
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    record = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('attribute', '<u2')])
    records = np.zeros(len(faces), record)
    records['normal'], records['corners'] = normals, faces
    header = b'unit mesh of c3p_description'.ljust(80)
    path.write_bytes(header + struct.pack('<I', len(faces)) + records.tobytes())


MESHES = {'platform.stl': plate, 'tyre.stl': tyre, 'hub.stl': hub, 'arrow.stl': arrow,
          'torus.stl': torus}


def main() -> None:
    """Write all meshes beside this file."""
    for name, make in MESHES.items():
        write_stl(MESHES_FOLDER / name, make())


if __name__ == '__main__':
    main()
