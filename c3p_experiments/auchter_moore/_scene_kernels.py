# SPDX-License-Identifier: Apache-2.0
"""
Triangles into pixels: a depth buffer, and light on what it leaves.

Corners come as pixel coordinates and a nearness that is affine on the screen: 1/distance along the
line of sight for a perspective view, minus the depth for parallel light.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from c3p_kinematics.compiled import inlined, kernel

Array = NDArray[np.float64]

# twice the area of a triangle that covers nothing, square pixels
NO_AREA = 1e-9
# of the light: what comes from the sky above and from the ground below, from the sun, and the
# brightness and sharpness of its reflection
SKY, BOUNCE, SUN, SHINE, SHARPNESS = 0.46, 0.20, 0.74, 0.35, 40.0


@kernel
def rasterise(corners: Array, triangles: NDArray[np.int32], near: Array,
              which: NDArray[np.int32]) -> None:
    """
    Write the nearest triangle of each pixel into `which`, its nearness into `near` (both (h, w)).

    Parameters
    ----------
    corners : (n, 3) array
        x to the right, y down, nearness; not above zero: behind the eye.
    triangles : (k, 3) array
    near, which : (h, w) arrays
        What is there already stays where it is nearer.
    """
    high, wide = near.shape
    for k in range(triangles.shape[0]):
        a, b, c = triangles[k, 0], triangles[k, 1], triangles[k, 2]
        ax, ay, az = corners[a, 0], corners[a, 1], corners[a, 2]
        bx, by, bz = corners[b, 0], corners[b, 1], corners[b, 2]
        cx, cy, cz = corners[c, 0], corners[c, 1], corners[c, 2]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if abs(area) < NO_AREA or not (az > 0.0 and bz > 0.0 and cz > 0.0):
            continue
        left = max(0, int(math.floor(min(ax, bx, cx))))
        right = min(wide - 1, int(math.ceil(max(ax, bx, cx))))
        top = max(0, int(math.floor(min(ay, by, cy))))
        bottom = min(high - 1, int(math.ceil(max(ay, by, cy))))
        for row in range(top, bottom + 1):
            y = row + 0.5
            for column in range(left, right + 1):
                x = column + 0.5
                # shares of the corners at the middle of the pixel
                wa = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
                wb = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
                wc = 1.0 - wa - wb
                if wa < 0.0 or wb < 0.0 or wc < 0.0:
                    continue
                here = wa * az + wb * bz + wc * cz
                if here > near[row, column]:
                    near[row, column] = here
                    which[row, column] = k


@inlined
def _lit(shadow: Array, light: Array, px: float, py: float, pz: float, slack: float) -> float:
    """Return the share of the sun that reaches a place: 3 × 3 looks at the shadow map."""
    high, wide = shadow.shape
    x = light[0, 0] * px + light[0, 1] * py + light[0, 2] * pz + light[0, 3]
    y = light[1, 0] * px + light[1, 1] * py + light[1, 2] * pz + light[1, 3]
    z = light[2, 0] * px + light[2, 1] * py + light[2, 2] * pz + light[2, 3]
    column, row, seen = int(math.floor(x)), int(math.floor(y)), 0
    for i in range(-1, 2):
        for j in range(-1, 2):
            r, c = min(max(row + i, 0), high - 1), min(max(column + j, 0), wide - 1)
            if z + slack >= shadow[r, c]:
                seen += 1
    return seen / 9.0


@kernel
def shade(which: NDArray[np.int32], corners: Array, triangles: NDArray[np.int32],
          vertices: Array, normals: Array, colours: Array, painted: int, texture: Array,
          place: Array, sun: Array, eye: Array, light: Array, shadow: Array, slack: float,
          picture: Array) -> None:
    """
    Write the light that comes from each pixel's triangle into `picture` (h, w, 3), linear.

    Parameters
    ----------
    which : (h, w) array
        Of `rasterise`; −1 leaves the picture as it is.
    corners, triangles : arrays
        As for `rasterise`, of the perspective view.
    vertices, normals : (n, 3) arrays
        In {G}.
    colours : (n, 4) array
        Linear red, green, blue, and gloss 0 to 1.
    painted : int
        So many triangles, the first ones, have the `texture` instead.
    texture : (rows, columns, 3) array
        Linear colours over x and y of {G}.
    place : (4,) array
        x and y of the first texel, m, and texels per m along x and y.
    sun, eye : (3,) arrays
        Unit vector to the sun; place of the eye, m.
    light : (3, 4) array
        {G} → column, row, nearness of the `shadow` map.
    shadow : (s, s) array
        Nearness of what the sun sees.
    slack : float
        By so much less near is not yet in the shadow.
    picture : (h, w, 3) array
    """
    for row in range(which.shape[0]):
        for column in range(which.shape[1]):
            k = which[row, column]
            if k < 0:
                continue
            a, b, c = triangles[k, 0], triangles[k, 1], triangles[k, 2]
            ax, ay = corners[a, 0] - column - 0.5, corners[a, 1] - row - 0.5
            bx, by = corners[b, 0] - column - 0.5, corners[b, 1] - row - 0.5
            cx, cy = corners[c, 0] - column - 0.5, corners[c, 1] - row - 0.5
            # shares on the screen, then in space
            wa = (bx * cy - by * cx) * corners[a, 2]
            wb = (cx * ay - cy * ax) * corners[b, 2]
            wc = (ax * by - ay * bx) * corners[c, 2]
            whole = wa + wb + wc
            wa, wb, wc = wa / whole, wb / whole, wc / whole
            px = wa * vertices[a, 0] + wb * vertices[b, 0] + wc * vertices[c, 0]
            py = wa * vertices[a, 1] + wb * vertices[b, 1] + wc * vertices[c, 1]
            pz = wa * vertices[a, 2] + wb * vertices[b, 2] + wc * vertices[c, 2]
            nx = wa * normals[a, 0] + wb * normals[b, 0] + wc * normals[c, 0]
            ny = wa * normals[a, 1] + wb * normals[b, 1] + wc * normals[c, 1]
            nz = wa * normals[a, 2] + wb * normals[b, 2] + wc * normals[c, 2]
            size = math.sqrt(nx * nx + ny * ny + nz * nz)
            nx, ny, nz = nx / size, ny / size, nz / size
            ex, ey, ez = eye[0] - px, eye[1] - py, eye[2] - pz
            size = math.sqrt(ex * ex + ey * ey + ez * ez)
            ex, ey, ez = ex / size, ey / size, ez / size
            gloss = wa * colours[a, 3] + wb * colours[b, 3] + wc * colours[c, 3]
            towards = nx * sun[0] + ny * sun[1] + nz * sun[2]
            seen = 0.0
            if towards > 0.0:
                # a little off the surface, or it would be its own shadow
                seen = _lit(shadow, light, px + 0.004 * nx, py + 0.004 * ny, pz + 0.004 * nz,
                            slack)
            bright = (BOUNCE + (SKY - BOUNCE) * (0.5 + 0.5 * nz)
                      + SUN * max(towards, 0.0) * seen)
            hx, hy, hz = ex + sun[0], ey + sun[1], ez + sun[2]
            half = (nx * hx + ny * hy + nz * hz) / math.sqrt(hx * hx + hy * hy + hz * hz)
            shine = gloss * SHINE * seen * max(half, 0.0)**SHARPNESS
            # texels to the left and right, above and below
            tx = min(max((px - place[0]) * place[2], 0.0), texture.shape[1] - 1.001)
            ty = min(max((py - place[1]) * place[3], 0.0), texture.shape[0] - 1.001)
            i, j = int(ty), int(tx)
            fy, fx = ty - i, tx - j
            for channel in range(3):
                if k < painted:
                    own = ((1.0 - fy) * ((1.0 - fx) * texture[i, j, channel]
                                         + fx * texture[i, j + 1, channel])
                           + fy * ((1.0 - fx) * texture[i + 1, j, channel]
                                   + fx * texture[i + 1, j + 1, channel]))
                else:
                    own = (wa * colours[a, channel] + wb * colours[b, channel]
                           + wc * colours[c, channel])
                picture[row, column, channel] = own * bright + shine


@kernel
def develop(picture: Array, finer: int, printed: NDArray[np.uint8], out: NDArray[np.uint8]
            ) -> None:
    """
    Average `finer` × `finer` pixels of light and write what is printed for it into `out`.

    Parameters
    ----------
    picture : (finer h, finer w, 3) array
        Linear.
    finer : int
    printed : (n,) array
        What is printed for light from 0 to 1.
    out : (h, w, 3) array
    """
    last = printed.shape[0] - 1
    scale = last / (finer * finer)
    for row in range(out.shape[0]):
        for column in range(out.shape[1]):
            for channel in range(3):
                light = 0.0
                for i in range(finer):
                    for j in range(finer):
                        light += min(max(picture[finer * row + i, finer * column + j, channel],
                                         0.0), 1.0)
                out[row, column, channel] = printed[int(scale * light + 0.5)]
