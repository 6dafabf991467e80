"""Cases of reading and writing at indexed places and of replaced slices (ir/graph/Indexing.td)."""

import numpy as np


def add_cases(case):
    x = np.array([[1.0, -2.0, 0.5, 8.0], [3.0, 0.25, 4.0, -1.0], [-0.5, 2.0, 6.0, 7.0]])
    rows = np.array([2, -3, 2])
    case("take", [x, rows[:, None]], [x[rows]], axis=0)
    case("take", [x, np.array([[[1], [-1]], [[0], [1]]])], [x[:, [[1, -1], [0, 1]]]], axis=1)
    pairs = np.array([[2, -1], [0, 0], [-3, 2]])
    case("take", [x, pairs], [x[pairs[:, 0], pairs[:, 1]]], axis=0)
    case("take", [x, pairs], [x[pairs[:, 0], pairs[:, 1]]], input_dtypes={1: "int64"}, axis=0)
    cube = np.arange(24.0).reshape(2, 3, 4) - 7
    case("take", [cube, pairs], [cube[:, pairs[:, 0], pairs[:, 1]]], axis=1)
    case("take", [x, np.zeros((0, 1), int)], [x[:0]], axis=0)
    case("take", [np.array([True, False, True]), np.array([[1], [2]])], [np.array([False, True])], axis=0)

    v = np.array([[10.0, 20.0, 30.0, 40.0], [50.0, 60.0, 70.0, 80.0], [5.0, 6.0, 7.0, 8.0]])
    put, added = x.copy(), x.copy()
    put[rows] = v
    np.add.at(added, rows, v)
    case("put", [x, rows[:, None], v], [put], axis=0)
    case("put_add", [x, rows[:, None], v], [added], axis=0)
    put, added = cube.copy(), cube.copy()
    values = np.arange(6.0).reshape(2, 3) * 100
    put[:, pairs[:, 0], pairs[:, 1]] = values
    np.add.at(added, (slice(None), pairs[:, 0], pairs[:, 1]), values)
    case("put", [cube, pairs, values], [put], axis=1)
    case("put_add", [cube, pairs, values], [added], axis=1)
    ints = np.array([1, 2, 3])
    case("put_add", [ints, np.array([[0], [0], [2]]), np.array([10, 20, 30])], [np.array([31, 2, 33])], axis=0)

    index = np.array([[0, 2, -1, 1], [1, 2, 0, 1]])
    case("gather", [x, index], [np.take_along_axis(x, index, 0)], axis=0)
    index = np.array([[0, -1], [3, 3], [2, 1]])
    case("gather", [x, index], [np.take_along_axis(x, index, 1)], axis=1)
    source = np.array([[100.0, 200.0], [300.0, 400.0], [500.0, 600.0]])
    put, added = x.copy(), x.copy()
    for i, j in np.ndindex(3, 2):
        put[i, index[i, j]] = source[i, j]
        added[i, index[i, j]] += source[i, j]
    case("scatter", [x, index, source], [put], axis=1)
    case("scatter_add", [x, index, source], [added], axis=1)
    case("scatter", [x, index[:, :0], source[:, :0]], [x], axis=1)

    replaced = cube.copy()
    replaced[1:, ::2, 3:0:-2] = -100.0 - np.arange(4.0).reshape(1, 2, 2)
    case("update_slice", [cube, replaced[1:, ::2, 3:0:-2]], [replaced], offsets=[1, 0, 3], steps=[1, 2, -2])
    replaced = cube.copy()
    replaced[1] = 9.0
    case("update_slice", [cube, replaced[1:]], [replaced], offsets=[1, 0, 0], steps=[1, 1, 1])
    case("update_slice", [cube, cube[:, :0]], [cube], offsets=[0, 0, 0], steps=[1, 1, 1])
    case("update_slice", [np.array(1.0), np.array(2.0)], [np.array(2.0)], offsets=[], steps=[])
