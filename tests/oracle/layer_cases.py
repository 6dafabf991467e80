"""Functions behind layers that PyTorch has too: pools, tables, activations; see case_table.py."""

import numpy as np
from case_table import case_table

CASES, case = case_table()

SPACE = {1: (9,), 2: (6, 7), 3: (4, 6, 5)}
for rank in (1, 2, 3):
    for name, options in [
        ("plain", {}),
        ("stride", {"stride": 1}),
        ("ceil", {"stride": 2, "ceil_mode": True}),
    ]:
        case(
            f"lp_pool{rank}d {name}",
            {"x": np.abs(np.random.default_rng(rank).standard_normal((2, 3, *SPACE[rank])))},
            lambda F, x, r=rank, o=options: getattr(F, f"lp_pool{r}d")(x, 3.0, 3, **o),
            lambda torch, f, x, r=rank, o=options: getattr(f, f"lp_pool{r}d")(x, 3.0, 3, **o),
        )
    for name, options in [
        ("plain", {"kernel_size": 2}),
        ("padding", {"kernel_size": 3, "stride": 2, "padding": 1}),
        ("dilation", {"kernel_size": 2, "stride": 1, "dilation": 2}),
    ]:
        case(
            f"max_pool{rank}d indices {name}",
            {"x": (2, 3, *SPACE[rank])},
            lambda F, x, r=rank, o=options: getattr(F, f"max_pool{r}d")(x, return_indices=True, **o)[1],
            lambda torch, f, x, r=rank, o=options: getattr(f, f"max_pool{r}d")(x, return_indices=True, **o)[1],
        )
    case(
        f"adaptive_max_pool{rank}d indices",
        {"x": (2, 3, *SPACE[rank])},
        lambda F, x, r=rank: getattr(F, f"adaptive_max_pool{r}d")(x, 3, return_indices=True)[1],
        lambda torch, f, x, r=rank: getattr(f, f"adaptive_max_pool{r}d")(x, 3, return_indices=True)[1],
    )
    case(
        f"max_unpool{rank}d",
        {"x": (2, 3, *(6, 4, 2)[:rank])},
        lambda F, x, r=rank: getattr(F, f"max_unpool{r}d")(*getattr(F, f"max_pool{r}d")(x, 2, return_indices=True), 2),
        lambda torch, f, x, r=rank: getattr(f, f"max_unpool{r}d")(
            *getattr(f, f"max_pool{r}d")(x, 2, return_indices=True), 2
        ),
    )
    case(
        f"max_unpool{rank}d size",
        {"x": (3, *SPACE[rank])},
        lambda F, x, r=rank: getattr(F, f"max_unpool{r}d")(
            *getattr(F, f"max_pool{r}d")(x, 2, 2, return_indices=True), 2, 2, 0, SPACE[r]
        ),
        lambda torch, f, x, r=rank: getattr(f, f"max_unpool{r}d")(
            *getattr(f, f"max_pool{r}d")(x, 2, 2, return_indices=True), 2, 2, 0, SPACE[r]
        ),
    )
case(
    "max_pool2d indices of one image",
    {"x": np.array([[[1.0, 1.0, 0.0], [1.0, 2.0, 2.0], [2.0, 2.0, 1.0]]])},
    lambda F, x: F.max_pool2d(x, 2, 1, return_indices=True)[1],
    lambda torch, f, x: f.max_pool2d(x, 2, 1, return_indices=True)[1],
)

# --- tables -----------------------------------------------------------------------------------------------------------

BAGS = np.array([[0, 2, 2], [4, 1, 0], [2, 2, 2], [3, 3, 1]])
for mode in ("sum", "mean", "max"):
    for padding in (None, 2, -5):
        case(
            f"embedding_bag {mode} {padding}",
            {"w": (5, 3)},
            lambda F, w, m=mode, p=padding: F.embedding_bag(BAGS, w, mode=m, padding_idx=p),
            lambda torch, f, w, m=mode, p=padding: f.embedding_bag(torch.tensor(BAGS), w, mode=m, padding_idx=p),
        )
        case(
            f"embedding_bag offsets {mode} {padding}",  # the second and the last bag are empty
            {"w": (5, 3)},
            lambda F, w, m=mode, p=padding: F.embedding_bag(
                BAGS.ravel(), w, np.array([0, 3, 3, 8, 12]), mode=m, padding_idx=p
            ),
            lambda torch, f, w, m=mode, p=padding: f.embedding_bag(
                torch.tensor(BAGS.ravel()), w, torch.tensor([0, 3, 3, 8, 12]), mode=m, padding_idx=p
            ),
        )
for name, offsets in (("bags", None), ("offsets", np.array([0, 5, 12]))):
    case(
        f"embedding_bag weighted {name}",
        {"w": (5, 3), "p": BAGS.shape if offsets is None else (12,)},
        lambda F, w, p, o=offsets: F.embedding_bag(
            BAGS if o is None else BAGS.ravel(), w, o, mode="sum", per_sample_weights=p, include_last_offset=o is not None
        ),
        lambda torch, f, w, p, o=offsets: f.embedding_bag(
            torch.tensor(BAGS if o is None else BAGS.ravel()), w, None if o is None else torch.tensor(o), mode="sum",
            per_sample_weights=p, include_last_offset=o is not None,
        ),
    )
for norm in (1.0, 2.0):
    case(
        f"embedding max_norm {norm}",
        {"w": (5, 3)},
        lambda F, w, n=norm: F.embedding(BAGS, w * 1.0, None, 1.5, n),
        lambda torch, f, w, n=norm: f.embedding(torch.tensor(BAGS), w * 1.0, None, 1.5, n),
    )

# --- activations and maps ---------------------------------------------------------------------------------------------

case("rrelu", {"x": (3, 17)}, lambda F, x: F.rrelu(x, 0.1, 0.5), lambda torch, f, x: f.rrelu(x, 0.1, 0.5))
case(
    "bilinear",
    {"a": (2, 6, 3), "b": (2, 6, 4), "w": (5, 3, 4), "c": (5,)},
    lambda F, a, b, w, c: F.nn.bilinear(a, b, w, c),
    lambda torch, f, a, b, w, c: f.bilinear(a, b, w, c),
)
