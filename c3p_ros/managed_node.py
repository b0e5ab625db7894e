# SPDX-License-Identifier: Apache-2.0
"""Base of lifecycle nodes; a late or invalid transition request does not end the node."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import ChangeState
from rclpy.lifecycle import LifecycleNodeMixin

from c3p_ros.node import SuiteNode
from c3p_ros.rclpy_parts import RCLError, end_life, guard_transitions, life_of


class _Ended:
    """
    State machine of a destroyed node.

    An executor may still call a node that was just removed from it, and reading the state of
    rclpy's own machine once it is destroyed ends the process with a segmentation fault.
    """

    initialized = True
    current_state = (State.PRIMARY_STATE_FINALIZED, 'finalized')
    available_states = ((*current_state,),)
    available_transitions: tuple[()] = ()
    transition_graph: tuple[()] = ()

    def trigger_transition_by_id(self, transition_id: int, publish_update: bool) -> NoReturn:
        raise RCLError(f'transition {transition_id}: the node has ended')

    def get_transition_by_label(self, label: str) -> NoReturn:
        raise RCLError(f'transition {label!r}: the node has ended')


class ManagedSuiteNode(LifecycleNodeMixin, SuiteNode):
    """
    A node of the suite with a life cycle.

    A transition that is not valid in the present state is rejected with a log line; rclpy's own
    node would end.

    Parameters
    ----------
    name, *schemas, **options
        As for `SuiteNode`.

    Raises
    ------
    ValueError
        As for `SuiteNode`.
    """

    def __init__(self, name: str, *schemas: Path, **options: Any) -> None:
        """Create the node and the services of its life cycle."""
        SuiteNode.__init__(self, name, *schemas, **options)
        LifecycleNodeMixin.__init__(self)
        self._change = guard_transitions(self, self._on_change_state)
        self.at_end(lambda: end_life(self, _Ended()))

    @property
    def life(self) -> int:
        """Present state of the life cycle, a constant of lifecycle_msgs/State."""
        return life_of(self)[0]

    def _on_change_state(self, request: ChangeState.Request, response: ChangeState.Response
                         ) -> ChangeState.Response:
        try:
            return self._change(request, response)
        except RCLError as error:
            _, label = life_of(self)
            self.get_logger().warning(f'refused: transition {request.transition.id} from the '
                                      f'state {label}: {error}'.splitlines()[0])
            response.success = False
            return response
