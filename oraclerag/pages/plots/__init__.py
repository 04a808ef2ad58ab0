"""Plots of an evaluation, one a module; each gives a picture for a page and draws whatever there is, also nothing."""
