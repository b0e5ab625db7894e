# SPDX-License-Identifier: Apache-2.0
"""Plants behind one small interface, the papers' experiments, and the node that runs them."""
