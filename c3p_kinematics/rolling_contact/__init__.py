# SPDX-License-Identifier: Apache-2.0
"""
Wheels that roll on grounds: surfaces and Montana's contact equations.

Any surface with a `chart` will do; the wheels of revolution and the terrains are compiled as well
(_kernels.py). The ground's chart is oblique, which the printed equations do not allow for
(docs/papers/auchter_moore.md).
"""

from c3p_kinematics.rolling_contact.contact import (
    ContactError,
    RelativeMotion,
    contact_orientation,
    contact_rates,
    relative_curvature,
    relative_motion,
    wheel_pose,
)
from c3p_kinematics.rolling_contact.ground import Ground
from c3p_kinematics.rolling_contact.surfaces import Chart, ChartSurface, Surface, SurfaceError
from c3p_kinematics.rolling_contact.triaxial import TriaxialEllipsoid
from c3p_kinematics.rolling_contact.wheels import (
    CappedCylinder,
    Ellipsoid,
    Torus,
    WheelSurface,
    sphere,
)

__all__ = ['CappedCylinder', 'Chart', 'ChartSurface', 'ContactError', 'Ellipsoid', 'Ground',
           'RelativeMotion', 'Surface', 'SurfaceError', 'Torus', 'TriaxialEllipsoid',
           'WheelSurface', 'contact_orientation', 'contact_rates', 'relative_curvature',
           'relative_motion', 'sphere', 'wheel_pose']
