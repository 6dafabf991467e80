"""Einstein's sum: any sum of products over named axes, by matrix products, multiplications and reductions."""

import functools
import string

from .._tensor import Tensor, as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_one, is_static, same_shape, show, size_of
from .contraction import _product
from .creation import arange
from .elementwise import where
from .recording import remembered
from .shape import expand_dims, reshape, transpose

__all__ = ["einsum"]


@remembered
def einsum(equation, *operands):
    """The sum of products that ``equation`` names, as in NumPy.

    Each letter names an axis; letters that the result lacks are summed over, a letter twice in one operand takes the
    diagonal, ``...`` stands for axes that broadcast. Without ``->`` the result has the axes of ``...`` and then the
    letters that occur once, in alphabetical order. Operands are contracted from left to right; a product with a vector
    as the right operand sums like `matmul` with one.

    Args:
        equation: such as ``"bij,bjk->bik"``; or the operands, each followed by a list of axis numbers, and an optional
            list for the result.
    """
    if not isinstance(equation, str):
        equation, operands = _equation_of((equation, *operands))
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    tensors = [as_tensor(operand) for operand in operands]
    inputs, output, sizes = _read(equation, tensors)
    if sizes is None:
        terms, plan = list(zip(tensors, inputs)), _planned
    else:
        plan = _planned.__wrapped__
        terms = [_squeezed(_diagonal(equation, t, labels), sizes) for t, labels in zip(tensors, inputs)]
    value, labels = terms[0]
    for i, (right, right_labels) in enumerate(terms[1:], 1):
        needed = set(output).union(*(later for _, later in terms[i + 1 :]))
        value, labels = _contract(value, labels, right, right_labels, needed, plan)
    value, labels = _summed(value, labels, set(output))
    return Tensor._wrap(_arranged(value, labels, output)._handle)  # never an operand itself


def _equation_of(arguments):
    """NumPy's other form: operand, axis numbers, operand, axis numbers, ..., axis numbers of the result."""
    operands, lists = arguments[: len(arguments) // 2 * 2 : 2], arguments[1::2]

    def letters(numbers):
        return "".join("..." if n is Ellipsis else string.ascii_letters[n] for n in numbers)

    equation = ",".join(letters(numbers) for numbers in lists)
    if len(arguments) % 2:
        equation += "->" + letters(arguments[-1])
    return equation, operands


def _refuse(equation, why):
    raise ShapeError(f"einsum: {equation!r} at {user_location()}: {why}")


_known = {}  # what `_read` found, by the equation and the shapes
_MOST_KNOWN = 1000


def _read(equation, tensors):
    """The labels of each operand and of the result, and the size of each label; None for sizes that change nothing:
    no operand has a label twice or an axis of size 1."""
    key = equation, *[tensor.shape for tensor in tensors]
    if not all([is_static(size) for shape in key[1:] for size in shape]):
        inputs, output = _parse(equation, tensors)
        return inputs, output, _sizes_of(equation, tensors, inputs)
    found = _known.get(key)
    if found is None:
        inputs, output = _parse(equation, tensors)
        sizes = _sizes_of(equation, tensors, inputs)
        is_plain = all(len(set(labels)) == len(labels) for labels in inputs)
        is_plain = is_plain and not any(1 in shape for shape in key[1:])
        if len(_known) == _MOST_KNOWN:
            _known.clear()
        found = _known[key] = inputs, output, None if is_plain else sizes
    return found


def _parse(equation, tensors):
    """The labels of each operand and of the result; those of ``...`` are ints, counted from the right."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(tensors):
        _refuse(equation, f"it names {len(parts)} operands and there are {len(tensors)}")
    inputs = []
    for part, tensor in zip(parts, tensors):
        spelled = part.replace("...", "")
        hidden = tensor.ndim - len(spelled)
        if hidden < 0 or (hidden and "..." not in part):
            _refuse(equation, f"{part!r} does not name the {tensor.ndim} axes of {show(tensor.shape)}")
        inputs.append(_labels(equation, part, hidden))
    widest = max((sum(isinstance(label, int) for label in labels) for labels in inputs), default=0)
    if arrow:
        output = _labels(equation, right, widest)
        if len(set(output)) != len(output):
            _refuse(equation, "a letter stands twice in the result")
        for label in output:
            if not any(label in labels for labels in inputs):
                _refuse(equation, f"the result has {label!r}, which no operand has")
    else:
        named = [label for labels in inputs for label in labels if isinstance(label, str)]
        output = list(range(widest - 1, -1, -1)) + sorted(label for label in set(named) if named.count(label) == 1)
    return inputs, output


def _labels(equation, part, hidden):
    before, dots, after = part.partition("...")
    if not all(c in string.ascii_letters for c in before + after):
        _refuse(equation, f"{part!r} may hold letters and one '...'")
    return list(before) + (list(range(hidden - 1, -1, -1)) if dots else []) + list(after)


def _sizes_of(equation, tensors, inputs):
    """The size of each label; sizes of 1 give way to others."""
    sizes = {}
    for tensor, labels in zip(tensors, inputs):
        for label, size in zip(labels, tensor.shape):
            known = sizes.setdefault(label, size)
            if is_one(known):
                sizes[label] = size
            elif is_static(known) and is_static(size) and size not in (1, known):
                name = f"the axis {label!r}" if isinstance(label, str) else "an axis of '...'"
                _refuse(equation, f"{name} has the sizes {known} and {size}")
    return sizes


def _diagonal(equation, tensor, labels):
    """Each label once: the diagonal along axes that share one."""
    while len(set(labels)) != len(labels):
        label = next(label for label in labels if labels.count(label) > 1)
        first, second = [axis for axis, other in enumerate(labels) if other == label][:2]
        size = tensor.shape[first]
        if not same_shape([size], [tensor.shape[second]]):
            _refuse(equation, f"the diagonal of {label!r} runs along axes of sizes {size} and {tensor.shape[second]}")
        rest = [axis for axis in range(tensor.ndim) if axis not in (first, second)]
        square = transpose(tensor, rest + [first, second])
        if is_static(size):
            lead = list(square.shape[:-2])
            tensor = reshape(square, lead + [size * size])[(slice(None),) * len(lead) + (slice(None, None, size + 1),)]
        else:
            position = arange(size, dtype="int32")
            tensor = where(expand_dims(position, 1) == position, square, 0).sum(-1)
        labels = [labels[axis] for axis in rest] + [label]
    return tensor, labels


def _squeezed(term, sizes):
    """Axes of size 1 that others stretch are dropped."""
    tensor, labels = term
    shape = tensor.shape
    kept = [axis for axis, label in enumerate(labels) if not is_one(shape[axis]) or is_one(sizes[label])]
    if len(kept) == len(labels):
        return term
    return reshape(tensor, [shape[axis] for axis in kept]), [labels[axis] for axis in kept]


def _arranged(tensor, labels, wanted):
    """The axes ``labels`` in the order ``wanted``."""
    return tensor if labels == wanted else transpose(tensor, [labels.index(label) for label in wanted])


def _summed(tensor, labels, needed):
    """Sums over the axes that nothing needs any more."""
    axes = [axis for axis, label in enumerate(labels) if label not in needed]
    if not axes:
        return tensor, labels
    return tensor.sum(tuple(axes)), [label for label in labels if label in needed]


def _contract(left, left_labels, right, right_labels, needed, plan):
    """The product of two terms, summed over the labels that both have and nothing needs later; ``plan`` is `_planned`, or
    the function below its cache for sizes that are no numbers.
    """
    left, left_labels = _summed(left, left_labels, needed | set(right_labels))
    right, right_labels = _summed(right, right_labels, needed | set(left_labels))
    left_side, right_side, shape, is_product, labels = plan(
        tuple(left_labels), left.shape, tuple(right_labels), right.shape, frozenset(needed)
    )
    a, b = _placed(left, *left_side), _placed(right, *right_side)
    result = _product("einsum", a, b) if is_product else a * b
    return result if shape is None else reshape(result, shape), labels


def _placed(term, order, sizes):
    """Axes of ``term`` in another order, then other sizes; None for what stays."""
    term = term if order is None else transpose(term, order)
    return term if sizes is None else reshape(term, sizes)


@functools.lru_cache(maxsize=1000)
def _planned(left_labels, left_shape, right_labels, right_shape, needed):
    """How two terms are contracted.

    Returns:
        (order and sizes of the left term for `_placed`, those of the right one, the shape of the result or None where
        it stays, whether it is a matrix product and not a product by elements, its labels)
    """
    shared = [label for label in left_labels if label in right_labels]
    batch = [label for label in shared if label in needed]
    inner = [label for label in shared if label not in needed]
    rows = [label for label in left_labels if label not in shared]
    columns = [label for label in right_labels if label not in shared]
    a_order, a_sizes = _order(left_labels, left_shape, batch + rows + inner)
    b_order, b_sizes = _order(right_labels, right_shape, batch + inner + columns)
    batch_sizes, row_sizes = a_sizes[: len(batch)], a_sizes[len(batch) : len(batch) + len(rows)]
    column_sizes = b_sizes[len(batch) + len(inner) :]
    labels = batch + rows + columns
    if not inner:
        a_shape = batch_sizes + row_sizes + [1] * len(columns) if columns else None
        b_shape = batch_sizes + [1] * len(rows) + column_sizes if rows else None
        return (a_order, a_shape), (b_order, b_shape), None, False, labels
    if len(right_labels) == 1:
        return (a_order, None), (b_order, None), None, True, labels
    count = size_of(b_sizes[len(batch) : len(batch) + len(inner)])
    a_shape = b_shape = shape = None
    if len(rows) != 1 or len(inner) != 1:
        a_shape = batch_sizes + [size_of(row_sizes), count]
    if len(columns) != 1 or len(inner) != 1:
        b_shape = batch_sizes + [count, size_of(column_sizes)]
    if len(rows) != 1 or len(columns) != 1:
        shape = batch_sizes + row_sizes + column_sizes
    return (a_order, a_shape), (b_order, b_shape), shape, True, labels


def _order(labels, sizes, wanted):
    """(where the labels ``wanted`` stand, None if in this order, their sizes)."""
    places = [labels.index(label) for label in wanted]
    return None if places == list(range(len(places))) else places, [sizes[place] for place in places]
