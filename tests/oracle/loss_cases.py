"""Losses and distances that PyTorch has too; see case_table.py."""

import numpy as np
from case_table import case_table

CASES, case = case_table()


def integers(*values):
    return np.array(values, "int64")


def both(name, inputs, function, **options):
    """A loss that both packages have under one name, with (pred, label, ...) first and the options by keyword."""
    case(
        name,
        inputs,
        lambda F, *x: getattr(F.loss, function)(*x, **options),
        lambda torch, f, *x: getattr(f, function)(*x, **options),
    )


COUNTS = integers([0, 1, 2, 5], [3, 0, 7, 1], [2, 4, 0, 1])
SIGNS = integers([1, -1, 1, -1], [-1, -1, 1, 1], [1, 1, -1, -1])
POSITIVE = np.random.default_rng(3).uniform(0.2, 2.0, (3, 4))
for reduction in ("none", "sum", "mean"):
    options = {"reduction": reduction}
    both(f"soft_margin_loss {reduction}", {"x": (3, 4), "y": SIGNS}, "soft_margin_loss", **options)
    both(f"hinge_embedding_loss {reduction}", {"x": (3, 4), "y": SIGNS}, "hinge_embedding_loss", margin=0.7, **options)
    both(
        f"multilabel_soft_margin_loss {reduction}",
        {"x": (3, 4), "y": (SIGNS > 0).astype("int64")},
        "multilabel_soft_margin_loss",
        **options,
    )
    both(f"multi_margin_loss {reduction}", {"x": (3, 4), "y": integers(2, 0, 3)}, "multi_margin_loss", **options)
    both(
        f"multilabel_margin_loss {reduction}",
        {"x": (3, 4), "y": integers([2, 0, -1, 3], [1, -1, 0, 0], [0, 1, 2, 3])},
        "multilabel_margin_loss",
        **options,
    )
    case(
        f"poisson_nll_loss {reduction}",
        {"x": (3, 4)},
        lambda F, x, r=reduction: F.loss.poisson_nll_loss(x, COUNTS, reduction=r),
        lambda torch, f, x, r=reduction: f.poisson_nll_loss(x, torch.tensor(COUNTS), reduction=r),
    )
    both(
        f"gaussian_nll_loss {reduction}", {"x": (3, 4), "y": (3, 4), "v": POSITIVE}, "gaussian_nll_loss", **options
    )
case(
    "poisson_nll_loss full",
    {"x": POSITIVE, "y": COUNTS.astype("float64")},
    lambda F, x, y: F.loss.poisson_nll_loss(x, F.stop_gradient(y), False, True, 1e-3),
    lambda torch, f, x, y: f.poisson_nll_loss(x, y.detach(), log_input=False, full=True, eps=1e-3),
)
both("gaussian_nll_loss rows", {"x": (3, 4), "y": (3, 4), "v": POSITIVE[:, 0]}, "gaussian_nll_loss", full=True)
both("gaussian_nll_loss columns", {"x": (3, 4), "y": (3, 4), "v": POSITIVE[:, :1]}, "gaussian_nll_loss")
case(
    "multi_margin_loss weighted",
    {"x": (3, 4)},
    lambda F, x: F.loss.multi_margin_loss(x, [2, 0, 3], 2, 0.5, np.array([0.5, 1.0, 2.0, 3.0], "float32")),
    lambda torch, f, x: f.multi_margin_loss(
        x, torch.tensor([2, 0, 3]), p=2, margin=0.5, weight=torch.tensor([0.5, 1.0, 2.0, 3.0]).double()
    ),
)
both("multi_margin_loss one row", {"x": (4,), "y": np.array(1)}, "multi_margin_loss")
both("multilabel_margin_loss one row", {"x": (4,), "y": integers(3, 1, -1, 0)}, "multilabel_margin_loss")
both("multilabel_soft_margin_loss one row", {"x": (4,), "y": integers(1, 0, 0, 1)}, "multilabel_soft_margin_loss")
case(
    "multilabel_soft_margin_loss weighted",
    {"x": (3, 4), "y": (SIGNS > 0).astype("int64"), "w": POSITIVE[0]},
    lambda F, x, y, w: F.loss.multilabel_soft_margin_loss(x, y, w),
    lambda torch, f, x, y, w: f.multilabel_soft_margin_loss(x, y, w),
)
for swap in (False, True):
    case(
        f"triplet_margin_with_distance_loss {swap}",
        {"a": (3, 4), "p": (3, 4), "n": (3, 4)},
        lambda F, a, p, n, s=swap: F.loss.triplet_margin_with_distance_loss(
            a, p, n, distance_function=lambda x, y: 1.0 - F.cosine_similarity(x, y), swap=s
        ),
        lambda torch, f, a, p, n, s=swap: f.triplet_margin_with_distance_loss(
            a, p, n, distance_function=lambda x, y: 1.0 - f.cosine_similarity(x, y), swap=s
        ),
    )
CTC = {"x": (7, 3, 5), "y": integers([1, 2, 2], [3, 3, 4], [4, 1, 1]), "t": integers(7, 2, 4), "n": integers(3, 2, 0)}
for reduction in ("none", "mean"):
    case(
        f"ctc_loss of logarithms {reduction}",  # the second sequence is too short for its labels
        CTC,
        lambda F, x, y, t, n, r=reduction: F.ctc_loss(
            F.log_softmax(x, -1), t, y, n, reduction=r, log_probs=True, zero_infinity=True
        ),
        lambda torch, f, x, y, t, n, r=reduction: f.ctc_loss(
            f.log_softmax(x, -1), y, t, n, reduction=r, zero_infinity=True
        ),
    )

# --- distances --------------------------------------------------------------------------------------------------------

for p in (0.5, 1.0, 2.0, 3.0, float("inf")):
    case(
        f"cdist {p}",
        {"a": (2, 3, 4), "b": (2, 5, 4)},
        lambda F, a, b, p=p: F.cdist(a, b, p),
        lambda torch, f, a, b, p=p: torch.cdist(a, b, p),
    )
    case(
        f"pdist {p}",
        {"a": (5, 3)},
        lambda F, a, p=p: F.pdist(a, p),
        lambda torch, f, a, p=p: f.pdist(a, p),
    )
    case(
        f"pairwise_distance {p}",
        {"a": (5, 3), "b": (5, 3)},
        lambda F, a, b, p=p: F.pairwise_distance(a, b, p, keepdims=True),
        lambda torch, f, a, b, p=p: f.pairwise_distance(a, b, p, keepdim=True),
    )
case("dist", {"a": (2, 3), "b": (3,)}, lambda F, a, b: F.dist(a, b, 3), lambda torch, f, a, b: torch.dist(a, b, 3))
