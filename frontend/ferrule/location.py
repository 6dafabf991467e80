"""Where in the user's program we are: the line for messages and debug information, and the path of the module.

The line is that of the innermost frame outside this package, NumPy and Python's standard library. It is written with
the file's base name only, so that the same program compiles to the same bytes wherever it lies.
"""

import os
import sysconfig

import numpy as np

from . import _compiler

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_TESTS = os.path.join(_PACKAGE, "tests") + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
_LIBRARY = sysconfig.get_path("stdlib") + os.sep


def is_internal(code):
    """Whether a code object belongs to this package (its tests do not), NumPy or the standard library."""
    name = code.co_filename
    library = name.startswith(_LIBRARY) and "-packages" not in name
    own = name.startswith(_PACKAGE) and not name.startswith(_TESTS)
    return own or library or name.startswith(_NUMPY)


# The walk over the frames runs for every op and stands in C++; it asks once for each code object.
_compiler.set_internal_code(is_internal)
user_location = _compiler.user_location
push_module = _compiler.push_module
pop_module = _compiler.pop_module
module_path = _compiler.module_path
