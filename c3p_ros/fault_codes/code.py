# SPDX-License-Identifier: Apache-2.0
"""One fault code, and the form in which codes are published."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# key of the codes among the values of a DiagnosticStatus; several are separated by a space
FAULT_CODES = 'fault_codes'

PREFIX = 'C3P'


class FaultCode(NamedTuple):
    """
    A fault, lock, refusal or warning that programs identify by its code.

    Attributes
    ----------
    code : str
        ``C3P-COMPONENT-NUMBER``; sorts by component. It never changes its meaning.
    condition : str
        Name of the condition in the diagnostics, kind of a card's problem, or name of a check.
    phrases : tuple of str
        The text of the condition contains one of them; empty for any other text.
    cause, remedy : str
    """

    code: str
    condition: str
    phrases: tuple[str, ...]
    cause: str
    remedy: str

    @property
    def component(self) -> str:
        """Letters of the component, such as VC."""
        return self.code.split('-')[1]

    def means(self, condition: str, text: str) -> bool:
        """Return whether a `condition` with `text` has this code."""
        return condition == self.condition and (
            not self.phrases or any(phrase in text for phrase in self.phrases))


Entry = tuple[int, str, tuple[str, ...], str, str]


def codes_of(component: str, *entries: Entry) -> tuple[FaultCode, ...]:
    """
    Return the codes of a component from (number, condition, phrases, cause, remedy).

    Examples
    --------
    >>> codes_of('VC', (1, 'lock', ('starting',), 'just started', 'send zeros'))[0].code
    'C3P-VC-0001'
    """
    return tuple(FaultCode(f'{PREFIX}-{component}-{number:04d}', condition, phrases, cause, remedy)
                 for number, condition, phrases, cause, remedy in entries)


def joined(codes: Iterable[str]) -> str:
    """
    Return codes as the value of `FAULT_CODES`: each once, in their order.

    >>> joined(['C3P-CM-0002', '', 'C3P-CM-0001', 'C3P-CM-0002'])
    'C3P-CM-0002 C3P-CM-0001'
    """
    return ' '.join(dict.fromkeys(code for one in codes for code in one.split()))
