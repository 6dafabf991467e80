"""Functions of arrays that PyTorch has too; see case_table.py."""

import numpy as np
from case_table import case_table

CASES, case = case_table()

RANDOM = np.random.default_rng(11)
POSITIVE = RANDOM.uniform(0.2, 2.0, (3, 4))
HOLED = np.where(RANDOM.uniform(size=(4, 5)) < 0.3, np.nan, RANDOM.standard_normal((4, 5)))
HOLED[1] = np.nan
HOLED[2] = [1.0, 2.0, 3.0, 4.0, np.nan]
X, Y = {"x": (3, 4, 5)}, {"x": (3, 4), "y": (3, 4)}


def both(name, inputs, function, *arguments, **options):
    """A function that both packages have under one name, with the same arguments."""
    case(
        name,
        inputs,
        lambda F, *x: getattr(F, function)(*x, *arguments, **options),
        lambda torch, f, *x: getattr(torch, function)(*x, *arguments, **options),
    )


# --- statistics -------------------------------------------------------------------------------------------------------

for correction in (0, 1, 2):
    for name in ("var", "std"):
        case(
            f"{name} correction {correction}",
            X,
            lambda F, x, n=name, c=correction: getattr(F, n)(x, (0, 2), True, correction=c),
            lambda torch, f, x, n=name, c=correction: getattr(torch, n)(x, (0, 2), keepdim=True, correction=c),
        )
        case(
            f"{name}_mean correction {correction}",
            X,
            lambda F, x, n=name, c=correction: F.concat(getattr(F, f"{n}_mean")(x, 1, correction=c)),
            lambda torch, f, x, n=name, c=correction: torch.cat(getattr(torch, f"{n}_mean")(x, 1, correction=c)),
        )
for method in ("linear", "lower", "higher", "nearest", "midpoint"):
    case(
        f"nanquantile {method}",
        {"x": HOLED},
        lambda F, x, m=method: F.nanquantile(x, [0.0, 0.3, 0.5, 1.0], 1, interpolation=m),
        lambda torch, f, x, m=method: torch.nanquantile(
            x, torch.tensor([0.0, 0.3, 0.5, 1.0], dtype=x.dtype), 1, interpolation=m
        ),
    )
case("nanmedian of odd counts", {"x": np.array([3.0, np.nan, 1.0, 2.0])}, lambda F, x: F.nanmedian(x),
     lambda torch, f, x: torch.nanmedian(x))  # fmt: skip
both("cov", {"x": (3, 6)}, "cov")
both("cov of one", {"x": (6,)}, "cov")
both("corrcoef", {"x": (3, 6)}, "corrcoef")
case(
    "cov weighted",
    {"x": (3, 5), "a": POSITIVE.ravel()[:5]},
    lambda F, x, a: F.cov(x, correction=2, fweights=np.array([1, 2, 1, 3, 1]), aweights=F.stop_gradient(a)),
    lambda torch, f, x, a: torch.cov(x, correction=2, fweights=torch.tensor([1, 2, 1, 3, 1]), aweights=a.detach()),
)
case("kthvalue", X, lambda F, x: F.kthvalue(x, 2, 1)[0], lambda torch, f, x: torch.kthvalue(x, 2, 1)[0])
case("kthvalue kept", X, lambda F, x: F.kthvalue(x, 5, -1, True)[1],
     lambda torch, f, x: torch.kthvalue(x, 5, -1, True)[1])  # fmt: skip
both("msort", X, "msort")
for axis in (0, 1, -1):
    both(f"logcumsumexp {axis}", X, "logcumsumexp", axis)
both("logcumsumexp far apart", {"x": np.array([-900.0, -901.0, 3.0, 800.0, 801.0, -5.0])}, "logcumsumexp", 0)
case(
    "logcumsumexp infinite",  # where torch's gradient is NaN
    {"x": np.array([-np.inf, -np.inf, 0.0, 1.0, np.inf, 2.0])},
    lambda F, x: F.logcumsumexp(F.stop_gradient(x), 0),
    lambda torch, f, x: torch.logcumsumexp(x.detach(), 0) + 0 * x.nan_to_num(),
)
for name, x in (("inside", (7,)), ("beyond", np.array([-3.0, -1.0, 0.5, 1.0, 1.0, 2.0, np.nan]))):
    case(f"histc {name}", {"x": x}, lambda F, x: F.histc(F.stop_gradient(x), 4, -1, 1),
         lambda torch, f, x: torch.histc(x.detach(), 4, -1, 1) + 0 * x[:1].nan_to_num())  # fmt: skip
case("histc of its own ends", {"x": (9,)}, lambda F, x: F.histc(F.stop_gradient(x), 5),
     lambda torch, f, x: torch.histc(x.detach(), 5) + 0 * x[:1])  # fmt: skip

# --- calculus ---------------------------------------------------------------------------------------------------------

both("trapezoid", X, "trapezoid")
both("trapezoid at places", {"y": (3, 4), "x": np.array([0.0, 0.5, 2.0, 2.25])}, "trapezoid")
case("trapezoid along", X, lambda F, x: F.trapezoid(x, dx=0.5, axis=1), lambda torch, f, x: torch.trapezoid(x, dx=0.5, dim=1))
both("cumulative_trapezoid", {"y": (3, 4), "x": (3, 4)}, "cumulative_trapezoid")

# --- products ---------------------------------------------------------------------------------------------------------

for a, b in (((2, 3), (4, 2)), ((3,), (2, 2)), ((2, 1, 3), (2, 2))):
    both(f"kron {a} {b}", {"a": a, "b": b}, "kron")
case("cross", {"a": (4, 3), "b": (4, 3)}, lambda F, a, b: F.cross(a, b),
     lambda torch, f, a, b: torch.linalg.cross(a, b))  # fmt: skip
case("cross along", {"a": (3, 4), "b": (3, 4)}, lambda F, a, b: F.cross(a, b, 0),
     lambda torch, f, a, b: torch.linalg.cross(a, b, dim=0))  # fmt: skip
for a, b in (((4,), (4,)), ((2, 4), (4,)), ((2, 3, 4), (5, 4)), ((4,), (3, 4))):
    both(f"inner {a} {b}", {"a": a, "b": b}, "inner")
both("vdot", {"a": (7,), "b": (7,)}, "vdot")
case("vecdot", {"a": (2, 3, 4), "b": (3, 4)}, lambda F, a, b: F.vecdot(a, b),
     lambda torch, f, a, b: torch.linalg.vecdot(a, b))  # fmt: skip
for n in (0, 1, 2, 5):
    both(f"matrix_power {n}", {"x": (2, 3, 3)}, "matrix_power", n)
case("multi_dot", {"a": (3, 5), "b": (5, 2), "c": (2, 6), "d": (6,)}, lambda F, *x: F.multi_dot(x),
     lambda torch, f, *x: torch.linalg.multi_dot(x))  # fmt: skip
both("chain_matmul", {"a": (3, 5), "b": (5, 2), "c": (2, 6)}, "chain_matmul")
case("vander", {"x": (4,)}, lambda F, x: F.vander(x, 3), lambda torch, f, x: torch.stack([x * x, x, x**0], 1))
case("vander increasing", {"x": (3,)}, lambda F, x: F.vander(x, increasing=True),
     lambda torch, f, x: torch.stack([x**0, x, x * x], 1))  # fmt: skip
both("addmv", {"c": (3,), "a": (3, 5), "b": (5,)}, "addmv", beta=0.5, alpha=2)
both("addr", {"c": (3, 4), "a": (3,), "b": (4,)}, "addr", beta=0.5, alpha=2)
both("addbmm", {"c": (3, 4), "a": (2, 3, 5), "b": (2, 5, 4)}, "addbmm", beta=0.5, alpha=2)

# --- elements ---------------------------------------------------------------------------------------------------------

both("sinc", {"x": np.array([0.0, 0.5, -1.0, 2.25, 1e-3])}, "sinc")
both("logaddexp2", {"x": np.array([1.0, -5.0, 300.0]), "y": np.array([1.5, 7.0, -3.0])}, "logaddexp2")
case(
    "ldexp", {"x": (3, 4)}, lambda F, x: F.ldexp(x, np.array([1, -2, 0, 3])),
    lambda torch, f, x: torch.ldexp(x, torch.tensor([1, -2, 0, 3])),
)  # fmt: skip
both("sgn", {"x": (3, 4)}, "sgn")
both("rsub", Y, "rsub", alpha=0.5)
both("clamp_min", {"x": (3, 4)}, "clamp_min", 0.1)
both("clamp_max", {"x": (3, 4)}, "clamp_max", 0.1)
for name in ("isposinf", "isneginf", "signbit"):
    both(name, {"x": np.array([np.inf, -np.inf, -0.0, 0.0, -2.0, 3.0])}, name)

# --- parts ------------------------------------------------------------------------------------------------------------

both("narrow", X, "narrow", 1, 1, 2)
both("narrow from the end", X, "narrow", 2, -3, 2)
both("select", X, "select", 1, -2)
both("atleast_2d", {"x": (3,)}, "atleast_2d")
both("atleast_3d", {"x": (3, 2)}, "atleast_3d")
case("tensor_split", {"x": (7, 2)}, lambda F, x: F.tensor_split(x, 3)[1], lambda torch, f, x: torch.tensor_split(x, 3)[1])
case("tensor_split at", {"x": (7, 2)}, lambda F, x: F.tensor_split(x, [1, 4])[2],
     lambda torch, f, x: torch.tensor_split(x, (1, 4))[2])  # fmt: skip
case("hsplit", {"x": (3, 4)}, lambda F, x: F.hsplit(x, 2)[1], lambda torch, f, x: torch.hsplit(x, 2)[1])
case("vsplit", {"x": (4, 3)}, lambda F, x: F.vsplit(x, 2)[1], lambda torch, f, x: torch.vsplit(x, 2)[1])
case("dsplit", {"x": (2, 3, 4)}, lambda F, x: F.dsplit(x, 2)[1], lambda torch, f, x: torch.dsplit(x, 2)[1])
case("column_stack", {"x": (3,), "y": (3, 2)}, lambda F, *x: F.column_stack(x), lambda torch, f, *x: torch.column_stack(x))
case("dstack", {"x": (3,), "y": (1, 3)}, lambda F, *x: F.dstack(x), lambda torch, f, *x: torch.dstack(x))
both("block_diag", {"x": (2, 3), "y": (2,), "z": (3, 1)}, "block_diag")
both("cartesian_prod", {"x": (2,), "y": (3,), "z": (2,)}, "cartesian_prod")
for replaced in (False, True):
    both(f"combinations {replaced}", {"x": (4,)}, "combinations", 3, replaced)
both("diagflat", {"x": (2, 2)}, "diagflat", 1)
for offset in (0, 2, -1):
    both(f"diag_embed {offset}", {"x": (2, 3)}, "diag_embed", offset)
case("diag_embed apart", {"x": (2, 3)}, lambda F, x: F.diag_embed(x, 1, 0, 2),
     lambda torch, f, x: torch.diag_embed(x, 1, 0, 2))  # fmt: skip
both("diagonal_scatter", {"x": (3, 4), "y": (3,)}, "diagonal_scatter", 1)
case("diagonal_scatter apart", {"x": (3, 2, 4), "y": (2, 3)}, lambda F, x, y: F.diagonal_scatter(x, y, 0, 0, 2),
     lambda torch, f, x, y: torch.diagonal_scatter(x, y, 0, 0, 2))  # fmt: skip
both("select_scatter", {"x": (3, 4), "y": (3,)}, "select_scatter", 1, -1)
both("slice_scatter", {"x": (6, 2), "y": (2, 2)}, "slice_scatter", 0, 1, 5, 2)
case("index_fill", {"x": (3, 4)}, lambda F, x: F.index_fill(x, 1, np.array([3, 0]), 2.5),
     lambda torch, f, x: torch.index_fill(x, 1, torch.tensor([3, 0]), 2.5))  # fmt: skip
case("masked_scatter", {"x": (3, 4), "m": POSITIVE > 1.0, "y": (12,)}, lambda F, x, m, y: F.masked_scatter(x, m, y),
     lambda torch, f, x, m, y: torch.masked_scatter(x, m, y))  # fmt: skip
case("take_along_dim", {"x": (3, 4)}, lambda F, x: F.take_along_dim(x, np.array([[1], [0], [3]]), 1),
     lambda torch, f, x: torch.take_along_dim(x, torch.tensor([[1], [0], [3]]), 1))  # fmt: skip
