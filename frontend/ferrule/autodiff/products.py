"""Products with a function's Jacobian: `vjp`, `jvp`, `hvp`, and the whole of it: `jacobian`, `hessian`.

With y = f(x) and the Jacobian J = dy/dx: ``vjp`` gives u -> J^T u by reverse mode. It is linear in u, so its own
transpose is v -> J v; `jvp` takes that, as in "A new trick for calculating Jacobian vector products" (J. Townsend, 2017).
What J^T u computes from u alone is never run.
"""

import functools
import weakref

from .._stream import record_gradient
from .._tensor import Tensor
from ..errors import GradientError, ShapeError
from ..functional.creation import zeros
from ..functional.reduce import sum as sum_of
from ..functional.shape import concat, reshape, stack
from ..location import user_location
from ..shapes import show
from .arguments import check_float, check_same_type, flatten_tensors, own_value, rebuild
from .scope import GradientScope
from .transforms import grad


def vjp(f, *primals, has_aux=False):
    """Runs ``f`` and returns its value with the function that pulls cotangents back.

    Args:
        f: a function of ``primals``; arguments and result are trees of float tensors.
        primals: the arguments.
        has_aux: ``f`` returns ``(value, aux)``; then the result is ``(value, pull, aux)``.

    Returns:
        ``(value, pull)``; ``pull(cotangent)``, with a cotangent of the structure, shapes and dtypes of the value,
        returns a tuple with one gradient an argument, each of the argument's structure. It may be called again. As long
        as it lives, dynamic mode keeps what it needs.

    Raises:
        GradientError: an argument or result that is no float, or an operation without a gradient.
    """
    scope = GradientScope()
    try:
        trees = [_own(primal, f"argument {i}") for i, primal in enumerate(primals)]
        value = f(*[rebuild(structure, sources) for sources, _, structure in trees])
        aux = None
        if has_aux:
            value, aux = value
        outputs, paths, structure = flatten_tensors(value, "the result")
        check_float(outputs, paths, "vjp")
    except BaseException:
        scope.close()
        raise

    def pull(cotangent):
        weights = _matching(cotangent, outputs, structure, paths, "the cotangent")
        sources = [source for tree in trees for source in tree[0]]
        names = [name for tree in trees for name in tree[1]]
        handles = iter(_pull_back(outputs, weights, sources, names))
        return tuple(rebuild(tree[2], [next(handles) for _ in tree[0]]) for tree in trees)

    weakref.finalize(pull, scope.close)
    return (value, pull, aux) if has_aux else (value, pull)


def jvp(f, primals, tangents):
    """Runs ``f`` and returns ``(value, tangent of the value)`` for tangents of its arguments.

    Args:
        f: a function whose arguments and result are trees of float tensors.
        primals: a tuple or list with the arguments.
        tangents: as many, each of its argument's structure, shapes and dtypes.
    """
    primals, tangents = tuple(primals), tuple(tangents)
    if len(primals) != len(tangents):
        raise GradientError(
            f"jvp with {len(primals)} primals and {len(tangents)} tangents at {user_location()}: one each is needed"
        )
    with GradientScope():
        value, pull = vjp(f, *primals)
        outputs, paths, structure = flatten_tensors(value, "the result")
        dummies = [own_value(zeros(output.shape, dtype=output.dtype)) for output in outputs]
        pulled = pull(rebuild(structure, dummies))
        directions, costs = [], []
        for i, (gradient, tangent) in enumerate(zip(pulled, tangents)):
            leaves, names, own_structure = flatten_tensors(gradient, f"tangent {i}")
            directions += _matching(tangent, leaves, own_structure, names, f"tangent {i}")
            costs += leaves
        handles = _pull_back(costs, directions, dummies, paths)
        return value, rebuild(structure, handles)


def hvp(f, primals, tangents):
    """``(gradient, Hessian times tangents)`` of a function to one number, each a tuple with one tree an argument."""
    positions = tuple(range(len(tuple(primals))))
    return jvp(grad(f, wrt=positions), primals, tangents)


def jacobian(f, wrt=0):
    """The function that returns dy/dx of a tensor y = f(...) and the tensor argument ``wrt`` (a position).

    The result has the shape of y followed by the shape of x, which must be static; it takes one backward pass for each
    element of y.
    """

    @functools.wraps(f)
    def matrix(*args):
        if not -len(args) <= wrt < len(args):
            raise GradientError(
                f"jacobian with wrt={wrt} of a call with {len(args)} arguments at {user_location()}"
            )
        args = list(args)

        def of_one(x):
            args[wrt] = x
            return f(*args)

        value, pull = vjp(of_one, args[wrt])
        if not isinstance(value, Tensor):
            raise GradientError(
                f"jacobian of a function that returns {type(value).__name__} at {user_location()}: a tensor is needed"
            )
        rows = [pull(unit)[0] for unit in _units(value)]
        if not rows:
            raise ShapeError(f"jacobian of an empty result of shape {show(value.shape)} at {user_location()}")
        return reshape(stack(rows), (*value.shape, *rows[0].shape))

    return matrix


def hessian(f, wrt=0):
    """The function that returns the second derivatives of ``f``, a function to one number, as a tensor of the shape of
    the argument ``wrt``, twice."""
    return jacobian(grad(f, wrt), wrt)


def _units(value):
    """A cotangent for each element of ``value``: one there, zeros elsewhere."""
    for size in value.shape:
        if not isinstance(size, int):
            raise ShapeError(
                f"jacobian of a result of the symbolic shape {show(value.shape)} at {user_location()}: it takes one "
                f"backward pass for each element, so the number must be known"
            )
    one = zeros((1,), dtype=value.dtype) + 1
    for i in range(value.size):
        parts = [zeros((i,), dtype=value.dtype), one, zeros((value.size - i - 1,), dtype=value.dtype)]
        yield reshape(concat(parts), value.shape)


def _own(primal, name):
    tensors, paths, structure = flatten_tensors(primal, name)
    check_float(tensors, paths, "vjp")
    return [own_value(tensor) for tensor in tensors], paths, structure


def _matching(tree, models, structure, names, what):
    """The tensors of ``tree``, which must have the structure, shapes and dtypes of ``models``."""
    tensors, _, own_structure = flatten_tensors(tree, what)
    if own_structure != structure:
        raise GradientError(f"{what} at {user_location()} has another structure than what it belongs to ({names})")
    for tensor, model, name in zip(tensors, models, names):
        check_same_type(tensor, model, f"{what} of {name}")
    return tensors


def _pull_back(outputs, cotangents, sources, names):
    """Handles of the gradients of sum(output * cotangent) to ``sources``.

    A product with a cotangent has exactly that cotangent as gradient, so the sum costs nothing: nobody reads it.
    """
    if not outputs:
        raise GradientError(f"no float tensor to differentiate at {user_location()}")
    if len(outputs) == 1:
        return record_gradient(outputs[0]._handle, [cotangents[0]._handle], sources, names)
    total = None
    for output, cotangent in zip(outputs, cotangents):
        part = sum_of(output * cotangent)
        # Costs of several dtypes add up in the widest.
        total = part if total is None else total + part
    return record_gradient(total._handle, [], sources, names)
