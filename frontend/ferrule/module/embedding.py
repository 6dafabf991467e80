"""`Embedding`."""

import numpy as np

from .. import functional as F
from .._tensor import Parameter, Tensor
from ..errors import ShapeError, UnsupportedError
from ..shapes import show
from . import init
from .module import Module


class Embedding(Module):
    """Rows of a table by number.

    Args:
        num_embeddings, embedding_dim: the table's shape.
        padding_idx: a row that is 0 at first and gets no gradient; negative ones count from the end.
        initial_weight: a Parameter (or array) to take as the table.
        freeze: whether the table is left as it is by optimizers.
    """

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=None,
        initial_weight=None,
        freeze=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if max_norm is not None or norm_type is not None:
            raise UnsupportedError("Embedding: max_norm and norm_type are not served, as in MegEngine; leave them None")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ShapeError(
                f"Embedding: padding_idx {padding_idx} of {num_embeddings} rows; "
                f"allowed: {-num_embeddings} to {num_embeddings - 1}"
            )
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.freeze = freeze
        if initial_weight is None:
            self.weight = Parameter(np.zeros((num_embeddings, embedding_dim), "float32"))
            self.reset_parameters()
        else:
            given = initial_weight if isinstance(initial_weight, Tensor) else np.asarray(initial_weight)
            if given.shape != (num_embeddings, embedding_dim):
                raise ShapeError(
                    f"Embedding: initial_weight has shape {show(given.shape)}, wanted "
                    f"{show((num_embeddings, embedding_dim))}"
                )
            self.weight = given if isinstance(given, Parameter) else Parameter(given)
        if freeze:
            self.weight.requires_grad = False

    def reset_parameters(self):
        """Draws the table from the normal distribution; the row ``padding_idx`` is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            table = self.weight.numpy()
            table[self.padding_idx] = 0
            self.weight.set_value(table)

    def forward(self, inp):
        return F.embedding(inp, self.weight, self.padding_idx)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=None):
        """An Embedding with the table ``embeddings``, not trained unless ``freeze`` is False."""
        if len(embeddings.shape) != 2:
            raise ShapeError(f"from_pretrained: a table has rank 2, not the shape {show(embeddings.shape)}")
        return cls(*embeddings.shape, padding_idx, max_norm, norm_type, embeddings, freeze)

    def extra_repr(self):
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"
