# SPDX-License-Identifier: Apache-2.0
"""
Rolling contact of wheels and grounds: surfaces and Montana's contact equations.

Any `Surface` with a `chart` is supported; the wheels of revolution and the terrains are compiled
as well (_kernels.py). The ground's chart is oblique, which the printed equations do not allow for
(docs/papers/auchter_moore.md).
"""

from c3p_rough_ground.rolling_contact.contact import (
    ContactError,
    contact_orientation,
    contact_rates,
    relative_curvature,
)
from c3p_rough_ground.rolling_contact.surfaces import Chart, Ground, Surface, SurfaceError
from c3p_rough_ground.rolling_contact.wheels import (
    CappedCylinder,
    Ellipsoid,
    Torus,
    WheelSurface,
    sphere,
)

__all__ = ['CappedCylinder', 'Chart', 'ContactError', 'Ellipsoid', 'Ground', 'Surface',
           'SurfaceError', 'Torus', 'WheelSurface', 'contact_orientation', 'contact_rates',
           'relative_curvature', 'sphere']
