"""The demo: a task tracker whose rows are indexed, changed and found again. Nothing that it prints is prepared."""

from __future__ import annotations
