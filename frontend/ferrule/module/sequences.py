"""Sequences of different lengths in one batch, with PyTorch's names.

A batch is kept padded, beside the lengths: recurrent modules leave a sequence's state as it is where the sequence has
ended, which gives what PyTorch's packing gives.
"""

import collections

import numpy as np

from .. import functional as F
from .._tensor import Tensor, as_tensor
from ..errors import ShapeError
from ..shapes import is_static, show

PackedSequence = collections.namedtuple("PackedSequence", ("data", "lengths", "batch_first"))
PackedSequence.__doc__ = (
    "A padded batch (T, N, ...), or (N, T, ...) with ``batch_first``, and its lengths (N,) as int32."
)


def pack_padded_sequence(inp, lengths, batch_first=False, enforce_sorted=True):
    """The batch and its lengths as what recurrent modules take for a batch of sequences of different lengths.

    Args:
        inp: (T, N, ...), or (N, T, ...) with ``batch_first``.
        lengths: (N,) whole numbers from 0 to T.
        enforce_sorted: accepted for PyTorch programs; the order does not matter here.
    """
    del enforce_sorted
    inp, lengths = as_tensor(inp), as_tensor(lengths)
    samples = inp.shape[0 if batch_first else 1] if inp.ndim > 1 else None
    if (
        inp.ndim < 2
        or lengths.ndim != 1
        or (is_static(samples) and is_static(lengths.shape[0]) and samples != lengths.shape[0])
    ):
        raise ShapeError(
            f"pack_padded_sequence: lengths of shape {show(lengths.shape)} for sequences of shape {show(inp.shape)}; "
            f"one length a sequence is needed"
        )
    return PackedSequence(inp, lengths.astype("int32"), batch_first)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0):
    """(the padded batch, the lengths); what lies behind a sequence's end is ``padding_value``."""
    data, lengths = sequence.data, sequence.lengths
    steps = data.shape[1 if sequence.batch_first else 0]
    present = step_mask(steps, lengths)  # (T, N)
    if sequence.batch_first:
        present = F.transpose(present, (1, 0))
    present = F.reshape(present, (*present.shape, *[1] * (data.ndim - 2)))
    data = F.where(present, data, padding_value)
    if batch_first != sequence.batch_first:
        data = F.swapaxes(data, 0, 1)
    return data, lengths


def step_mask(steps, lengths):
    """(T, N): whether step t of sequence n lies within its length."""
    return F.expand_dims(F.arange(steps, dtype="int32"), 1) < F.expand_dims(lengths.astype("int32"), 0)


def pad_sequence(sequences, batch_first=False, padding_value=0.0):
    """Arrays or tensors of shapes (length, ...) as one padded batch, (T, N, ...) or (N, T, ...) with ``batch_first``.

    The values are looked at, so that it is for the preparation of data, not for a traced step.
    """
    arrays = [each.numpy() if isinstance(each, Tensor) else np.asarray(each) for each in sequences]
    if not arrays:
        raise ShapeError("pad_sequence: no sequences")
    steps = max(len(array) for array in arrays)
    batch = np.full((len(arrays), steps, *arrays[0].shape[1:]), padding_value, arrays[0].dtype)
    for row, array in zip(batch, arrays):
        row[: len(array)] = array
    return Tensor(batch if batch_first else np.ascontiguousarray(batch.swapaxes(0, 1)))
