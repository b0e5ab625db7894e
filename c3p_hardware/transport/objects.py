# SPDX-License-Identifier: Apache-2.0
"""The object dictionary of a device by number, with errors that say what to do."""

from __future__ import annotations

import struct
from collections.abc import Callable

import can
import canopen

from c3p_hardware.canopen.cia301 import abort_text

# what to do about a device that is reached and answers otherwise than it must
MANUAL = "see the object in the device's manual; other firmware or another device may be needed"


class ConfigurationError(ValueError):
    """A device that is not what the parameters say, or does not take what it must."""


class Objects:
    """
    The object dictionary of one device, read and written by number.

    Parameters
    ----------
    node : canopen.RemoteNode
    name : str
        How errors call the device.
    """

    def __init__(self, node: canopen.RemoteNode, name: str) -> None:
        """Remember both."""
        self._node, self.name = node, name

    def read(self, index: int, subindex: int, code: str, what: str) -> int:
        """
        Return the number at `index`:`subindex`.

        Parameters
        ----------
        index, subindex : int
        code : str
            struct code of its type, as ``H``.
        what : str
            For errors.

        Raises
        ------
        ConfigurationError
            No answer, an abort, or another size.
        """
        data = self._ask(lambda: self._node.sdo.upload(index, subindex), index, subindex, what)
        size = struct.calcsize(f'<{code}')
        if len(data) < size:
            raise ConfigurationError(f'{self.name}: {what} ({index:04X}h:{subindex}) has '
                                     f'{len(data)} bytes, not {size}: {MANUAL}')
        return struct.unpack_from(f'<{code}', data)[0]

    def optional(self, index: int, subindex: int, code: str) -> int | None:
        """Return the number, None where the device has none."""
        try:
            return self.read(index, subindex, code, 'object')
        except ConfigurationError as error:
            if isinstance(error.__cause__, canopen.SdoAbortedError):
                return None
            raise

    def write(self, index: int, subindex: int, code: str, value: int, what: str) -> None:
        """Write the number; errors as `read`."""
        data = struct.pack(f'<{code}', value)
        self._ask(lambda: self._node.sdo.download(index, subindex, data), index, subindex,
                  f'writing {value:#x} to {what}')

    def settle(self, index: int, subindex: int, code: str, value: int, what: str) -> None:
        """
        Write the number and read it back; a value that does not stay is an error.

        Parameters
        ----------
        index, subindex : int
        code : str
        value : int
        what : str
            As of `write`.

        Raises
        ------
        ConfigurationError
            As `read`, or another value.
        """
        self.write(index, subindex, code, value, what)
        found = self.read(index, subindex, code, what)
        if found != value:
            raise ConfigurationError(
                f'{self.name}: {what} ({index:04X}h:{subindex}) reads {found:#x} after {value:#x} '
                'was written; the device does not support it, or has to be unlocked with its '
                "manufacturer's tool")

    def _ask(self, request: Callable[[], bytes | None], index: int, subindex: int, what: str
             ) -> bytes | None:
        where = f'{self.name}: {what} ({index:04X}h:{subindex})'
        try:
            return request()
        except canopen.SdoAbortedError as error:
            raise ConfigurationError(f'{where} is refused: {abort_text(error.code)}; '
                                     f'{MANUAL}') from error
        except canopen.SdoCommunicationError as error:
            raise ConfigurationError(
                f'{where}: no answer; check power, cable, termination, bit rate and node id '
                '(c3p can scan lists who is there)') from error
        except can.CanError as error:
            raise ConfigurationError(f'{where}: {error}') from error
