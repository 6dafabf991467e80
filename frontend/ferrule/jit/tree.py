"""Arguments and results as trees: any nesting of list, tuple, named tuple, dict and dataclass.

`flatten` takes a tree apart into its tensors (with their paths) and a Structure, which is hashable and so tells one
signature from another: it holds the kinds of the nodes, the keys, and by value everything that is not a tensor.
"""

import dataclasses
import math

import numpy as np

from ..errors import UnsupportedError


class Static:
    """A leaf that is no tensor: numbers, strings and None compare by type and value, anything else by identity."""

    __slots__ = ("value", "_key")
    _BY_VALUE = (bool, int, float, complex, str, bytes, type(None))

    def __init__(self, value):
        self.value = value
        if isinstance(value, float):
            # -0.0 is not +0.0, and NaN is itself.
            self._key = (float, "nan" if math.isnan(value) else value.hex())
        elif type(value) in self._BY_VALUE:
            self._key = (type(value), value)
        else:
            self._key = (object, id(value))

    def __eq__(self, other):
        return isinstance(other, Static) and self._key == other._key

    def __hash__(self):
        return hash(self._key)


class Node:
    """A container: its kind, what names its children, and their structures."""

    __slots__ = ("kind", "keys", "children", "_hash")

    def __init__(self, kind, keys, children):
        self.kind = kind
        self.keys = keys
        self.children = children
        self._hash = hash((kind, keys, children))

    def __eq__(self, other):
        return (
            isinstance(other, Node)
            and self._hash == other._hash
            and self.kind is other.kind
            and self.keys == other.keys
            and self.children == other.children
        )

    def __hash__(self):
        return self._hash


LEAF = "leaf"  # the structure of a tensor


def flatten(value, is_leaf, name):
    """Takes a tree apart.

    Args:
        is_leaf: whether a value is a tensor of the tree.
        name: the path of the root; children are named ``name.key``.

    Returns:
        (leaves, paths, structure)
    """
    leaves, paths = [], []
    return leaves, paths, _flatten(value, is_leaf, name, leaves, paths)


def checked_keys(mapping):
    """The keys of a dict in a tree; raises UnsupportedError for those that make no path."""
    for key in mapping:
        if not isinstance(key, (str, int)):
            raise UnsupportedError(f"a dict with the key {key!r} in arguments or results; allowed are str and int")
    return tuple(mapping)


def _children(value):
    """(kind, keys, values, names) of a container, or None for a leaf."""
    kind = type(value)
    if isinstance(value, dict):
        return kind, checked_keys(value), list(value.values()), [str(key) for key in value]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind, value._fields, list(value), list(value._fields)
    if isinstance(value, (list, tuple)):
        return kind, len(value), list(value), [str(i) for i in range(len(value))]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return kind, tuple(names), [getattr(value, name) for name in names], names
    return None


def _flatten(value, is_leaf, path, leaves, paths):
    if is_leaf(value):
        leaves.append(value)
        paths.append(path)
        return LEAF
    parts = _children(value)
    if parts is None:
        return Static(value)
    kind, keys, values, names = parts
    join = path + "." if path else ""
    children = tuple(_flatten(v, is_leaf, join + n, leaves, paths) for v, n in zip(values, names))
    return Node(kind, keys, children)


def unflatten(structure, leaves):
    """The tree again, with the tensors from the iterator ``leaves``."""
    if structure is LEAF:
        return next(leaves)
    if isinstance(structure, Static):
        return structure.value
    values = [unflatten(child, leaves) for child in structure.children]
    kind = structure.kind
    if issubclass(kind, dict):
        return kind(zip(structure.keys, values)) if kind is not dict else dict(zip(structure.keys, values))
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*values)
    if dataclasses.is_dataclass(kind):
        result = object.__new__(kind)
        for key, item in zip(structure.keys, values):
            object.__setattr__(result, key, item)
        return result
    return kind(values)


def statics(structure):
    """The values of a tree that are no tensors and no containers."""
    if isinstance(structure, Static):
        yield structure.value
    elif structure is not LEAF:
        for child in structure.children:
            yield from statics(child)


def describe(structure, names):
    """The tree as JSON data for an artifact's signature: tensors by name, containers by kind, numbers by value.

    Args:
        names: an iterator over the names of the tensors.
    """
    if structure is LEAF:
        return {"tensor": next(names)}
    if isinstance(structure, Static):
        value = structure.value
        plain = (
            value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value))
        )
        return {"value": value} if plain else {"object": type(value).__name__}
    children = [describe(child, names) for child in structure.children]
    if isinstance(structure.keys, int):
        return {"kind": "tuple" if issubclass(structure.kind, tuple) else "list", "items": children}
    kind = "dict" if issubclass(structure.kind, dict) else structure.kind.__name__
    return {"kind": kind, "items": {str(key): child for key, child in zip(structure.keys, children)}}


def is_array(value):
    """Whether a value is NumPy data, which counts as a tensor in arguments."""
    return isinstance(value, (np.ndarray, np.generic))
