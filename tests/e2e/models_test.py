"""The examples' networks, trained beside torch from the same weights on the same data (tests/oracle/make_models.py).

Ferrule's losses, from the compiled artifact, are no further from torch's float64 curve than twice torch's own float32
curve, or 1e-3. Dynamic mode, the artifact in Python and the artifact in ferrule-run give the same bits.
"""

import numpy as np
import pytest
from example_models import CURVES, load_first_weights, make
from example_training import compile_example
from model_cases import SIZES, batches_of, steps_of
from safetensors.numpy import load_file, save_file

import ferrule as fer

CASES = [
    pytest.param(model, size, id=f"{model}-{size}", marks=[pytest.mark.long] if size == "full" else [])
    for model, sizes in SIZES.items()
    for size in sizes
]


def losses_in_dynamic_mode(example, batches):
    step = example.entries["train_step"][0].function
    losses = []
    for batch in batches:
        result = step(*[fer.Tensor(each) for each in batch])
        losses.append([each.item() for each in (result if isinstance(result, tuple) else (result,))])
    return np.array(losses, np.float32)


def losses_in_session(program, batches):
    session = fer.Session(program, threads=2)
    return np.array([[float(loss) for loss in session.run("train_step", *batch)] for batch in batches], np.float32)


@pytest.mark.parametrize(("model", "size_name"), CASES)
def test_losses_follow_torch(model, size_name):
    size = SIZES[model][size_name]
    example = make(model, size)
    load_first_weights(example, model, size_name)
    losses = losses_in_session(compile_example(example), batches_of(model, size))
    exact, single = (CURVES[f"{model}/{size_name}/{precision}"] for precision in ("float64", "float32"))
    allowed = max(2 * np.abs(single - exact).max(), 1e-3)
    apart = np.abs(losses - exact).max()
    assert losses.shape == exact.shape == (steps_of(model), exact.shape[1])
    assert apart <= allowed, f"{model} {size_name}: {apart:.2e} from float64, allowed {allowed:.2e}"
    # Deep networks with batch norm amplify roundings from step to step; the first loss has no excuse.
    np.testing.assert_allclose(losses[0], exact[0], rtol=1e-5)
    # At the rates that keep the full convolutional networks from chaos 50 steps do not learn enough to tell.
    if model != "gan" and size.get("lr", 1.0) >= 1e-3:
        assert losses[-5:].mean() < losses[:5].mean()


@pytest.mark.parametrize("model", SIZES)
def test_same_bits_in_every_mode(model, ferrule_run, tmp_path):
    """Three steps: dynamic mode, a session in Python, and ferrule-run on the saved artifact."""
    size, path = SIZES[model]["small"], tmp_path / "model.fer"
    batches = batches_of(model, size)[:3]
    example = make(model, size)
    load_first_weights(example, model, "small")
    program = compile_example(example)
    program.save(path)
    wanted = losses_in_session(program, batches)
    np.testing.assert_array_equal(losses_in_dynamic_mode(example, batches), wanted)

    checkpoint, result = tmp_path / "state", tmp_path / "out.safetensors"
    for i, batch in enumerate(batches):
        names = [each["name"] for each in program.signature("train_step")["inputs"]]
        save_file(dict(zip(names, batch)), tmp_path / "in.safetensors")
        resume = ["--checkpoint", checkpoint] if checkpoint.exists() else []
        ferrule_run("run", path, "--entry", "train_step", "--inputs", tmp_path / "in.safetensors", "--outputs", result,
                    "--save", checkpoint, *resume)
        got = load_file(result)
        np.testing.assert_array_equal([float(got[name]) for name in sorted(got)], wanted[i])
