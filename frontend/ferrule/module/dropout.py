"""Modules that drop a share of their input in training; in evaluation they give their input."""

import math

from .. import functional as F
from ..errors import ShapeError
from ..shapes import show
from .module import Module


class _Dropping(Module):
    """Drops with a probability in training.

    Args:
        drop_prob: the probability; PyTorch's word for it is ``p``.
    """

    def __init__(self, drop_prob=0.0, *, p=None, inplace=False, **kwargs):
        del inplace
        super().__init__(**kwargs)
        self.drop_prob = drop_prob if p is None else p
        if not 0.0 <= self.drop_prob <= 1.0:
            raise ValueError(f"{type(self).__name__}: drop_prob is {self.drop_prob}; allowed: 0 to 1")

    def forward(self, inp):
        return self._dropped(inp) if self.training and self.drop_prob else inp

    def extra_repr(self):
        return f"drop_prob={self.drop_prob}"


class Dropout(_Dropping):
    """Sets elements to 0 and divides the others by 1 - drop_prob."""

    __doc__ += "\n" + _Dropping.__doc__

    def _dropped(self, inp):
        return F.dropout(inp, self.drop_prob, True)


class _ChannelDropout(_Dropping):
    """Sets whole channels (axis 1) of samples to 0 and divides the others by 1 - drop_prob."""

    __doc__ += "\n" + _Dropping.__doc__
    _rank = 0

    def _dropped(self, inp):
        if inp.ndim != self._rank + 2:
            raise ShapeError(
                f"{type(self).__name__}: input of shape {show(inp.shape)}; rank {self._rank + 2} is needed"
            )
        whole = F.ones((*inp.shape[:2], *[1] * self._rank), dtype=inp.dtype)
        return inp * F.dropout(whole, self.drop_prob, True)


class Dropout1d(_ChannelDropout):
    """Drops channels of (N, C, L)."""

    __doc__ += "\n" + _Dropping.__doc__
    _rank = 1


class Dropout2d(_ChannelDropout):
    """Drops channels of (N, C, H, W)."""

    __doc__ += "\n" + _Dropping.__doc__
    _rank = 2


class Dropout3d(_ChannelDropout):
    """Drops channels of (N, C, D, H, W)."""

    __doc__ += "\n" + _Dropping.__doc__
    _rank = 3


class AlphaDropout(_Dropping):
    """Sets elements to the lowest value of `SELU` and then keeps mean 0 and variance 1, if the input has them."""

    __doc__ += "\n" + _Dropping.__doc__

    # -scale * alpha of SELU.
    _lowest = -1.7580993408473766

    def __init__(self, drop_prob=0.0, **kwargs):
        super().__init__(drop_prob, **kwargs)
        if self.drop_prob == 1.0:
            raise ValueError(
                "AlphaDropout: drop_prob is 1.0; allowed: 0 up to below 1, as nothing else keeps a variance"
            )

    def _dropped(self, inp):
        kept = 1.0 - self.drop_prob
        scale = 1.0 / math.sqrt(kept * (1.0 + self.drop_prob * self._lowest**2))
        present = F.dropout(F.ones_like(inp), self.drop_prob, True) > 0.0
        return F.where(present, inp, self._lowest) * scale - scale * self.drop_prob * self._lowest
