# SPDX-License-Identifier: Apache-2.0
"""Lists of texts and substitutions."""


def normalize_to_list_of_substitutions(subs):
    """Return a list of texts and substitutions of one, or of several."""
    return [subs] if isinstance(subs, str) or hasattr(subs, 'perform') else list(subs)


def perform_substitutions(context, subs):
    """Return the text of a list of texts and substitutions."""
    return ''.join(one if isinstance(one, str) else one.perform(context) for one in subs)
