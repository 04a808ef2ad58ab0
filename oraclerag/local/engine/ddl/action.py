"""What is left of a DDL statement once it has been read.

Reading raises the errors of syntax, before anything is committed; the action runs behind the commit that every DDL
statement begins with, and raises the errors of meaning.
"""

from __future__ import annotations

from collections.abc import Callable

Action = Callable[[], None]
