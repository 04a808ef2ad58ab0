"""Figures as ratios in one run: ``python -m tests.benchmarks`` prints a table and writes JSON on request.

Nothing is asserted on the clock; a bound that is missed is marked in the table and makes the exit code 1.
"""
