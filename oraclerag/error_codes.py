"""Error codes of Oracle's products in a text: found, normalised (ORA-942 is ORA-00942), the one to blame marked.

Pure text work, for chunks and for questions alike.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["metadata"]

_CODE = re.compile(r"(?<![A-Za-z0-9_$#-])(ORA|PLS|TNS|RMAN)-(\d{1,5})(?![\d-])")


def metadata(text: str) -> dict[str, Any]:
    """Give ``oracle_error_code`` (all codes of a text, in order) and ``oracle_error_primary`` (the first), or nothing."""
    if "-" not in text:
        return {}
    codes = list(dict.fromkeys(f"{facility}-{number:0>5}" for facility, number in _CODE.findall(text)))
    return {"oracle_error_code": codes, "oracle_error_primary": codes[0]} if codes else {}
