"""How a loss of several elements becomes one number."""

from ..errors import UnsupportedError
from ..location import user_location
from .reduce import mean, sum  # noqa: A004


def reduced(op, values, reduction):
    """The mean, the sum, or all of ``values``."""
    if reduction == "mean":
        return mean(values)
    if reduction == "sum":
        return sum(values)
    if reduction == "none":
        return values
    raise UnsupportedError(f"{op}: reduction {reduction!r} at {user_location()}; allowed: 'mean', 'sum', 'none'")
