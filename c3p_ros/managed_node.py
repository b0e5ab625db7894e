# SPDX-License-Identifier: Apache-2.0
"""Base of lifecycle nodes; a late or invalid transition request does not end the node."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import ChangeState
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNodeMixin

from c3p_ros.node import SuiteNode


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
        raise rclpy_implementation.RCLError(f'transition {transition_id}: the node has ended')

    def get_transition_by_label(self, label: str) -> NoReturn:
        raise rclpy_implementation.RCLError(f'transition {label!r}: the node has ended')


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
        self._change = self._service_change_state.callback
        self._service_change_state.callback = self._on_change_state
        self.at_end(self._end_machine)

    @property
    def life(self) -> int:
        """Present state of the life cycle, a constant of lifecycle_msgs/State."""
        return int(self._state_machine.current_state[0])

    def _on_change_state(self, request: ChangeState.Request, response: ChangeState.Response
                         ) -> ChangeState.Response:
        try:
            return self._change(request, response)
        except rclpy_implementation.RCLError as error:
            label = self._state_machine.current_state[1]
            self.get_logger().warning(f'refused: transition {request.transition.id} from the '
                                      f'state {label}: {error}'.splitlines()[0])
            response.success = False
            return response

    def _end_machine(self) -> None:
        # rclpy leaves its machine to the garbage collector, and the services with it; without the
        # node's reference it goes as soon as the executor has let go of the services
        self._state_machine = _Ended()
