"""Where in the user's program we are: the line for messages and debug information, and the path of the module.

The line is that of the innermost frame outside this package, NumPy and Python's standard library. It is written with
the file's base name only, so that the same program compiles to the same bytes wherever it lies.
"""

import os
import sys
import sysconfig
import threading

import numpy as np

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_TESTS = os.path.join(_PACKAGE, "tests") + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
_LIBRARY = sysconfig.get_path("stdlib") + os.sep

# A frame walk runs for every op, so that what it finds is kept, by the ids of code objects (their own hash is slow),
# which stand in the values so that no id is used twice: whether the code is ours, and the text of an instruction's line.
_inside = {}
_texts = {}


def is_internal(code):
    """Whether a code object belongs to this package (its tests do not), NumPy or the standard library."""
    known = _inside.get(id(code))
    if known is None:
        name = code.co_filename
        library = name.startswith(_LIBRARY) and "-packages" not in name
        own = name.startswith(_PACKAGE) and not name.startswith(_TESTS)
        known = _inside[id(code)] = (own or library or name.startswith(_NUMPY), code)
    return known[0]


def user_location():
    """``"file.py:12"`` of the innermost frame outside the package, ``""`` when there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        known = _inside.get(id(frame.f_code))
        if not (known[0] if known is not None else is_internal(frame.f_code)):
            break
        frame = frame.f_back
    else:
        return ""
    key = id(frame.f_code), frame.f_lasti
    text = _texts.get(key)
    if text is None:
        text = _texts[key] = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
    return text


class _ModuleStack(threading.local):
    def __init__(self):
        self.paths = [""]


_stack = _ModuleStack()


def push_module(name):
    """Enters the call of the module ``name``."""
    outer = _stack.paths[-1]
    _stack.paths.append(f"{outer}.{name}" if outer else name)


def pop_module():
    """Leaves the innermost module call."""
    _stack.paths.pop()


def module_path():
    """The modules being called, outermost first, as ``"net.block1.conv"``; ``""`` outside any."""
    return _stack.paths[-1]
