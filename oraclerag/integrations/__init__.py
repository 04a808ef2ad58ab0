"""Hooks for other tools; each module imports the tool it is for."""
