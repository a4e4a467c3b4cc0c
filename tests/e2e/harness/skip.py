# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause


class Skip(Exception):
    """This machine cannot do what is needed."""
