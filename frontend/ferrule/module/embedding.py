"""`Embedding` and `EmbeddingBag`."""

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
        max_norm: rows whose norm is larger are scaled to it, in the table, when they are looked up.
        norm_type: which norm, 2 unless given.
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
        if norm_type is not None and max_norm is None:
            raise UnsupportedError("Embedding: norm_type without max_norm; leave it None")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ShapeError(
                f"Embedding: padding_idx {padding_idx} of {num_embeddings} rows; "
                f"allowed: {-num_embeddings} to {num_embeddings - 1}"
            )
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
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
        return F.embedding(inp, self.weight, self.padding_idx, self.max_norm, self.norm_type)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=None):
        """An Embedding with the table ``embeddings``, not trained unless ``freeze`` is False."""
        if len(embeddings.shape) != 2:
            raise ShapeError(f"from_pretrained: a table has rank 2, not the shape {show(embeddings.shape)}")
        return cls(*embeddings.shape, padding_idx, max_norm, norm_type, embeddings, freeze)

    def extra_repr(self):
        given = {name: getattr(self, name) for name in ("padding_idx", "max_norm", "norm_type")}
        options = "".join(f", {name}={value}" for name, value in given.items() if value is not None)
        return f"{self.num_embeddings}, {self.embedding_dim}{options}"


class EmbeddingBag(Embedding):
    """Rows of a table by number, those of each bag summed, averaged or compared; called with (members, offsets,
    per_sample_weights) as `functional.embedding_bag`.

    Args:
        num_embeddings, embedding_dim: the table's shape.
        max_norm, norm_type, padding_idx: as for `Embedding`; members of the number ``padding_idx`` do not count.
        mode: ``"sum"``, ``"mean"`` or ``"max"``.
        include_last_offset: ``offsets`` has one more number, the end of the last bag.
    """

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        max_norm=None,
        norm_type=None,
        mode="mean",
        include_last_offset=False,
        padding_idx=None,
        initial_weight=None,
        freeze=False,
        **kwargs,
    ):
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, initial_weight, freeze, **kwargs
        )
        self.mode = mode
        self.include_last_offset = include_last_offset

    def forward(self, inp, offsets=None, per_sample_weights=None):
        return F.embedding_bag(
            inp,
            self.weight,
            offsets,
            self.max_norm,
            2.0 if self.norm_type is None else self.norm_type,
            self.mode,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=None, **options):
        """An EmbeddingBag with the table ``embeddings``, not trained unless ``freeze`` is False."""
        if len(embeddings.shape) != 2:
            raise ShapeError(f"from_pretrained: a table has rank 2, not the shape {show(embeddings.shape)}")
        options |= dict(padding_idx=padding_idx, max_norm=max_norm, norm_type=norm_type)
        return cls(*embeddings.shape, initial_weight=embeddings, freeze=freeze, **options)

    def extra_repr(self):
        return f"{super().extra_repr()}, mode={self.mode!r}"
