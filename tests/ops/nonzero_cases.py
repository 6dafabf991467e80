"""Cases of ops that find out how many elements there are (ir/graph/Nonzero.td), where their results have room for all."""

import numpy as np


def add_cases(case):
    masks = [[1, 0, 1, 1, 0], [0, 0, 0], [1, 1], [], np.eye(3), np.arange(40) % 7 == 3]
    for mask in (np.array(values, dtype=bool) for values in masks):
        positions = np.flatnonzero(mask).astype(np.int32)
        padded = np.concatenate([positions, np.zeros(mask.size - positions.size, np.int32)])
        count = np.array(positions.size, dtype=np.int64)
        case("nonzero", [mask], [padded, count], output_dtypes={1: "int64"}, size=[mask.size])
