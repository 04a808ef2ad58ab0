"""Property tests: no clock decides over them, and ``pytest --hypothesis-profile thorough`` tries twenty times as much."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester"]  # for the tests of our own plugin

# A deadline, and the check that generating is fast enough, fail on a machine that is busy.
settings.register_profile("quick", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=1000)
settings.load_profile("quick")
