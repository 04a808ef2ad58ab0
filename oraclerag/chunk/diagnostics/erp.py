"""Modules of E-Business Suite by what its programs print of them: products, applications, short names of programs."""

from __future__ import annotations

import re
from types import MappingProxyType

__all__ = ["by_application", "by_code", "by_product", "by_program", "by_session"]

_PRODUCTS = MappingProxyType(
    {
        "SQLAP": "AP", "AP": "AP", "IBY": "IBY", "SQLGL": "GL", "GL": "GL", "AR": "AR", "RA": "AR", "OFA": "FA",
        "FA": "FA", "PO": "PO", "INV": "INV", "ONT": "OM", "OE": "OM", "PA": "PA", "PER": "HR", "HR": "HR",
        "PAY": "PAY", "FND": "FND", "CE": "CE", "XLA": "SLA", "WIP": "WIP", "BOM": "BOM", "MRP": "MRP", "MSC": "ASCP",
        "WSH": "SHIP", "CST": "CST", "AD": "AD", "ZX": "ZX", "ICX": "ICX", "WF": "FND", "OKS": "OKS", "EGO": "EGO",
    }
)  # fmt: skip
# The longest first: a program's short name begins with its product's (APXIIMPT, GLPPOS, RAXTRX).
_BY_LENGTH = sorted((name for name in _PRODUCTS if len(name) > 1), key=len, reverse=True)

_APPLICATIONS = MappingProxyType(
    {
        "payables": "AP", "general ledger": "GL", "receivables": "AR", "assets": "FA", "purchasing": "PO",
        "inventory": "INV", "order management": "OM", "projects": "PA", "human resources": "HR", "payroll": "PAY",
        "application object library": "FND", "cash management": "CE", "subledger accounting": "SLA",
        "work in process": "WIP", "bills of material": "BOM", "mrp": "MRP", "master scheduling/mrp": "MRP",
        "advanced supply chain planning": "ASCP", "shipping execution": "SHIP", "shipping": "SHIP",
        "cost management": "CST", "e-business tax": "ZX", "payments": "IBY",
    }
)  # fmt: skip

_CODE = re.compile(r"(?<![\w$#/\\.\-])APP-([A-Z]{2,8})-\d{4,6}", re.ASCII)

_SESSION = re.compile(r"e:([A-Z]{2,8}):", re.ASCII)


def by_product(name: str) -> str | None:
    """Give the module of a product by its short name (SQLAP is AP); None for what is not known."""
    return _PRODUCTS.get(name.upper())


def by_application(name: str) -> str | None:
    """Give the module of an application by its name in English, with ``Oracle`` before it or without."""
    return _APPLICATIONS.get(name.strip().lower().removeprefix("oracle "))


def by_program(name: str) -> str | None:
    """Give the module of a concurrent program by the beginning of its short name; None where it has none known."""
    return next((_PRODUCTS[product] for product in _BY_LENGTH if name.startswith(product)), None)


def by_code(text: str) -> str | None:
    """Give the module that the first code of the form APP-SQLAP-10771 names; None where there is none."""
    found = _CODE.search(text)
    return by_product(found[1]) if found else None


def by_session(name: str) -> str | None:
    """Give the module by the module or action that E-Business Suite sets for its sessions (``e:SQLAP:cp:...``)."""
    found = _SESSION.match(name)
    return by_product(found[1]) if found else None
