"""Where in the user's program we are: the line for messages and debug information, and the path of the module.

The line is that of the innermost frame outside this package. It is written with the file's base name only, so that the
same program compiles to the same bytes wherever it lies.
"""

import os
import sys
import threading

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_TESTS = os.path.join(_PACKAGE, "tests") + os.sep

# Code objects are looked at once: a frame walk runs for every op.
_inside = {}


def is_internal(code):
    """Whether a code object belongs to this package (its tests do not)."""
    known = _inside.get(code)
    if known is None:
        name = code.co_filename
        known = name.startswith(_PACKAGE) and not name.startswith(_TESTS)
        _inside[code] = known
    return known


def user_location():
    """``"file.py:12"`` of the innermost frame outside the package, ``""`` when there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        known = _inside.get(code)
        if not (is_internal(code) if known is None else known):
            return f"{os.path.basename(code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


class _ModuleStack(threading.local):
    def __init__(self):
        self.names = []


_stack = _ModuleStack()


def push_module(name):
    """Enters the call of the module ``name``."""
    _stack.names.append(name)


def pop_module():
    """Leaves the innermost module call."""
    _stack.names.pop()


def module_path():
    """The modules being called, outermost first, as ``"net.block1.conv"``; ``""`` outside any."""
    return ".".join(_stack.names)
