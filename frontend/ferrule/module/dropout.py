"""Modules that drop a share of their input in training; in evaluation they give their input."""

from .. import functional as F
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


class Dropout1d(_Dropping):
    """Sets whole channels of (N, C, L) to 0 and divides the others by 1 - drop_prob."""

    __doc__ += "\n" + _Dropping.__doc__

    def _dropped(self, inp):
        return F.dropout1d(inp, self.drop_prob, True)


class Dropout2d(_Dropping):
    """Sets whole channels of (N, C, H, W) to 0 and divides the others by 1 - drop_prob."""

    __doc__ += "\n" + _Dropping.__doc__

    def _dropped(self, inp):
        return F.dropout2d(inp, self.drop_prob, True)


class Dropout3d(_Dropping):
    """Sets whole channels of (N, C, D, H, W) to 0 and divides the others by 1 - drop_prob."""

    __doc__ += "\n" + _Dropping.__doc__

    def _dropped(self, inp):
        return F.dropout3d(inp, self.drop_prob, True)


class AlphaDropout(_Dropping):
    """Sets elements to the lowest value of `SELU` and then keeps mean 0 and variance 1, if the input has them."""

    __doc__ += "\n" + _Dropping.__doc__

    def __init__(self, drop_prob=0.0, **kwargs):
        super().__init__(drop_prob, **kwargs)
        if self.drop_prob == 1.0:
            raise ValueError(
                f"{type(self).__name__}: drop_prob is 1.0; allowed: 0 up to below 1, as nothing else keeps a variance"
            )

    def _dropped(self, inp):
        return F.alpha_dropout(inp, self.drop_prob, True)


class FeatureAlphaDropout(AlphaDropout):
    """`AlphaDropout` of whole channels (axis 1)."""

    __doc__ += "\n" + _Dropping.__doc__

    def _dropped(self, inp):
        return F.feature_alpha_dropout(inp, self.drop_prob, True)
