"""The embedding model: fetch, build, load, verify, use, list, drop; and counting its tokens."""

from __future__ import annotations
