"""Trees of arguments and results, and the comparison of guarded values."""

import collections
import dataclasses

import numpy as np
import pytest
from ferrule.errors import UnsupportedError
from ferrule.jit.guards import holds, snapshot
from ferrule.jit.tree import LEAF, describe, flatten, is_array, unflatten

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Batch:
    image: object
    scale: float


def _flatten(value):
    return flatten(value, is_array, "in")


def test_leaves_paths_and_the_way_back():
    a, b, c = (np.full(2, v) for v in (1.0, 2.0, 3.0))
    value = {"point": Point(a, 7), "rest": [b, (None, Batch(c, 0.5))]}
    leaves, paths, structure = _flatten(value)
    assert paths == ["in.point.x", "in.rest.0", "in.rest.1.1.image"]
    assert [leaf is wanted for leaf, wanted in zip(leaves, (a, b, c))] == [True] * 3
    again = unflatten(structure, iter(leaves))
    assert again["point"] == Point(a, 7) or again["point"].x is a
    assert again["rest"][1] == (None, Batch(c, 0.5)) or again["rest"][1][1].image is c


def test_structures_tell_kinds_keys_and_values_apart():
    def key(value):
        return _flatten(value)[2]

    x = np.zeros(1)
    assert key([x, 1]) == key([x, 1]) and hash(key([x, 1])) == hash(key([x, 1]))
    different = [
        [x, 1],
        (x, 1),
        [x, 2],
        [x, 1.0],
        [x, True],
        [1, x],
        {"a": x},
        {"b": x},
        Point(x, 1),
        [x, 0.0],
        [x, -0.0],
    ]
    assert len({key(value) for value in different}) == len(different)
    assert key([float("nan")]) == key([float("nan")])
    assert key(x) is LEAF


def test_objects_are_told_apart_by_identity():
    class Thing:
        def __eq__(self, other):
            return True

        __hash__ = None

    one, other = Thing(), Thing()
    assert _flatten([one])[2] == _flatten([one])[2]
    assert _flatten([one])[2] != _flatten([other])[2]


def test_description_for_the_artifact():
    value = {"loss": np.zeros(1), "parts": (np.zeros(1), 3, None)}
    _, paths, structure = _flatten(value)
    assert describe(structure, iter(paths)) == {
        "kind": "dict",
        "items": {
            "loss": {"tensor": "in.loss"},
            "parts": {"kind": "tuple", "items": [{"tensor": "in.parts.0"}, {"value": 3}, {"value": None}]},
        },
    }


def test_other_dict_keys_are_refused():
    with pytest.raises(UnsupportedError, match="2.5"):
        _flatten({2.5: np.zeros(1)})


@pytest.mark.parametrize("value", (1, 1.5, "a", None, True, [1, [2]], (1, "b"), {"a": [1.0]}, float("nan"), []))
def test_guards_hold_for_an_equal_value(value):
    import copy

    assert holds(snapshot(value), copy.deepcopy(value))


@pytest.mark.parametrize(
    ("before", "after"),
    (
        (1, 2),
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ([1, 2], [1, 3]),
        ([1], (1,)),
        ({"a": 1}, {"b": 1}),
        ([], [0]),
        (None, 0),
    ),
)
def test_guards_break_for_another_value(before, after):
    assert not holds(snapshot(before), after)


def test_guards_see_changes_inside_containers_and_arrays_by_identity():
    settings = {"widths": [1, 2]}
    saved = snapshot(settings)
    settings["widths"].append(3)
    assert not holds(saved, settings)
    array = np.zeros(3)
    assert holds(snapshot([array]), [array]) and not holds(snapshot([array]), [array.copy()])


def test_long_containers_are_guarded_by_identity():
    numbers = list(range(2000))
    saved = snapshot(numbers)
    numbers[0] = -1
    assert holds(saved, numbers) and not holds(saved, list(numbers))
