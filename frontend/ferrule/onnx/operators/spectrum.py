"""Fourier transforms of known length, as products with matrices of cosines and sines; complex numbers are pairs."""

import numpy as np

from ... import dtypes, functional as F
from ...errors import UnsupportedError
from ...shapes import is_static
from ..model import dtype_name
from ..registry import operator
from .axes import axis_of, scalar


def _waves(length, rows, inverse, dtype):
    """cos and sin of 2 pi k n / length: (length, rows) each, the sine with the sign of the transform."""
    # The product is reduced before the angle is taken, so that large ones lose nothing.
    angle = 2 * np.pi * (np.outer(np.arange(length), np.arange(rows)) % length) / length
    cosine, sine = np.cos(angle), np.sin(angle) * (1 if inverse else -1)
    return cosine.astype(dtype), sine.astype(dtype)


def _product(real, imaginary, waves):
    """Real and imaginary part of the sum over the last axis."""
    cosine, sine = waves
    if imaginary is None:
        return F.matmul(real, cosine), F.matmul(real, sine)
    return (
        F.matmul(real, cosine) - F.matmul(imaginary, sine),
        F.matmul(real, sine) + F.matmul(imaginary, cosine),
    )


def _fitted(x, length):
    """The last axis cut or filled with zeros to ``length``."""
    size = x.shape[-1]
    if not is_static(size):
        raise UnsupportedError(f"a transform along an axis of the symbolic size {size}: fix it with shapes=")
    if size > length:
        return F.copy(x[..., :length])
    return F.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, length - size)]) if size < length else x


def _whole_spectrum(real, imaginary, length):
    """The second half of the spectrum of real data from its first: conjugate, in reverse order."""
    count = length - real.shape[-1]
    last = real.shape[-1] - (1 if length % 2 == 0 else 0)
    mirrored = [F.flip(part[..., last - count : last], -1) for part in (real, imaginary)]
    return F.concat([real, mirrored[0]], -1), F.concat([imaginary, -mirrored[1]], -1)


def _transformed(x, axis, length, inverse, onesided):
    x = F.moveaxis(x, axis, -2)
    parts = [x[..., 0], x[..., 1] if x.shape[-1] == 2 else None]
    size = x.shape[-2]
    if length is None:
        length = 2 * (size - 1) if inverse and onesided else size
    if inverse and onesided:
        half = length // 2 + 1
        zeros = F.zeros_like(parts[0])
        parts = [_fitted(part, half) for part in (parts[0], zeros if parts[1] is None else parts[1])]
        parts = list(_whole_spectrum(*parts, length))
    else:
        parts = [None if part is None else _fitted(part, length) for part in parts]
    rows = length // 2 + 1 if onesided and not inverse else length
    real, imaginary = _product(*parts, _waves(length, rows, inverse, dtypes.to_numpy(x.dtype)))
    if inverse:
        real, imaginary = real / float(length), imaginary / float(length)
    result = F.expand_dims(real, -1) if inverse and onesided else F.stack([real, imaginary], -1)
    return F.copy(F.moveaxis(result, -2, axis))


@operator("DFT", since=20, host=(1, 2), note="known lengths")
def transform(node, x, length=None, axis=None):
    """Along one axis of pairs or real numbers; ``onesided`` gives, or takes, half of a spectrum of real data."""
    along = axis_of(-2 if axis is None else scalar(axis, "the axis"), x.ndim)
    count = None if length is None else scalar(length, "the length")
    return _transformed(x, along, count, bool(node.get("inverse", 0)), bool(node.get("onesided", 0)))


@operator("DFT", since=17, host=(1,), note="known lengths")
def transform_along_attribute(node, x, length=None):
    """Before version 20 the axis is an attribute."""
    count = None if length is None else scalar(length, "the length")
    along = axis_of(node.get("axis", 1), x.ndim)
    return _transformed(x, along, count, bool(node.get("inverse", 0)), bool(node.get("onesided", 0)))


@operator("STFT", since=17, host=(1, 3), note="known lengths")
def short_time_transform(node, signal, step, window=None, length=None):
    """The spectra of frames of a signal: (batch, frames, frequencies, 2)."""
    step = scalar(step, "the step")
    size = window.shape[0] if length is None else scalar(length, "the length of a frame")
    if not is_static(signal.shape[1]):
        raise UnsupportedError(f"a signal of the symbolic length {signal.shape[1]}: fix it with shapes=")
    frames = (signal.shape[1] - size) // step + 1
    places = np.arange(frames)[:, None] * step + np.arange(size)[None, :]
    cut = F.take(signal, places.astype(np.int32), 1)  # (batch, frames, size, parts)
    if window is not None:
        cut = cut * F.reshape(window, (-1, 1))
    return _transformed(cut, 2, size, False, bool(node.get("onesided", 1)))


@operator("MelWeightMatrix", since=17, host=(0, 1, 2, 3, 4))
def mel_weights(node, bins, length, rate, low, high):
    """Triangles that are even on the mel scale, over the frequencies of a spectrum; made while importing."""
    bins, length, rate = (scalar(each) for each in (bins, length, rate))
    low, high = (float(each.reshape(-1)[0]) for each in (low, high))

    def mel(frequency):
        return 2595 * np.log10(1 + frequency / 700)

    # The specification divides by the number of edges, so that the last one lies below ``high``.
    edges = 700 * (10 ** (np.linspace(mel(low), mel(high), bins + 2, endpoint=False) / 2595) - 1)
    places = ((length + 1) * edges // rate).astype(int)
    matrix = np.zeros((length // 2 + 1, bins), dtypes.to_numpy(dtype_name(node.get("output_datatype", 1))))
    for column, (begin, middle, end) in enumerate(zip(places, places[1:], places[2:])):
        rise, fall = np.arange(begin, middle), np.arange(middle, end)
        matrix[middle, column] = 1
        matrix[rise, column] = (rise - begin) / max(middle - begin, 1)
        matrix[fall, column] = (end - fall) / max(end - middle, 1)
    return F.copy(matrix)
