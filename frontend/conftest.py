"""For all tests below."""

import os

# What a test counts as compiled must not depend on an earlier run.
os.environ["FERRULE_PROGRAM_CACHE"] = "off"
