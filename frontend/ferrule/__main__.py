"""``python -m ferrule``."""

import sys

from .cli.main import main

sys.exit(main())
