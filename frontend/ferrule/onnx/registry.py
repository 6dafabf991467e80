"""Which function imports which operator, for every version of the operator set.

An operator's handler is a function of the node and its inputs, in the order of the specification. Inputs are Tensors;
an input that is left out is None. The decorator says what differs:

    @operator("Reshape", since=5, host=(1,), fold=reshape_array)
    def reshape(node, data, shape): ...

``host`` names inputs that must be known while importing: they come as NumPy arrays, whose elements are DimExprs where a
size is symbolic (dtype object); those in ``host_if_known`` come so where they are known, else as Tensors. ``fold``
computes the result from arrays alone; it is used when all inputs are known, so that arithmetic on shapes stays
arithmetic on shapes.
"""

from dataclasses import dataclass

_REGISTRY = {}


@dataclass
class Handler:
    """How one operator is imported, from one version of its operator set on."""

    operator: str
    domain: str
    since: int
    function: object
    host: tuple = ()
    host_if_known: tuple = ()
    fold: object = None
    note: str = ""
    raw: bool = False


def operator(name, since=1, *, domain="", host=(), host_if_known=(), fold=None, note="", raw=False):
    """Registers a handler.

    Args:
        name: the operator, or a tuple of operators with the same meaning; the handler finds it in ``node.operator``.
        since: the version of the operator set from which on the handler is right.
        host: the positions of inputs that must be known while importing.
        host_if_known: the positions of inputs that are arrays if they are known.
        fold: ``fold(node, *arrays)`` for inputs that are all known; None leaves that to the compiler.
        note: what the table of operators says about limits.
        raw: the handler gets the inputs as `values.Known` or Tensor, as they are.
    """

    def register(function):
        for each in name if isinstance(name, tuple) else (name,):
            versions = _REGISTRY.setdefault((domain, each), [])
            versions.append(Handler(each, domain, since, function, tuple(host), tuple(host_if_known), fold, note, raw))
            versions.sort(key=lambda handler: handler.since)
        return function

    return register


def find(domain, name, version):
    """The handler of an operator for one version of its operator set, or None."""
    found = None
    for handler in _REGISTRY.get((domain, name), ()):
        if handler.since <= version:
            found = handler
    return found


def handlers():
    """All handlers, by domain, name and version."""
    return [handler for key in sorted(_REGISTRY) for handler in _REGISTRY[key]]
