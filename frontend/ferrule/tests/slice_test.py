"""Slices of programs: fewer targets, fewer entries, no debug; what is left runs as before."""

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
import numpy as np
import pytest
from ferrule.autodiff import GradManager
from ferrule.cli.main import main
from ferrule.jit import trace


@pytest.fixture(scope="module")
def program():
    net = M.Linear(8, 3)
    gradients = GradManager().attach(net.parameters())
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    @trace(symbolic=True)
    def train_step(x, label):
        with gradients:
            loss = F.nn.cross_entropy(net(x), label)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    @trace(symbolic=True)
    def predict(x):
        return F.softmax(net(x), axis=1)

    specs = [fer.Spec((4, 8)), fer.Spec((4,), "int32")]
    entries = {"train_step": (train_step, specs), "predict": (predict, specs[:1])}
    return fer.compile(entries, modules={"net": net}, targets=["x86-64-v3", "x86-64-v4"])


X = np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8)


def predict(program):
    return fer.Session(program, threads=1, target="x86-64-v3").run("predict", X)[0]


def test_a_target(program):
    sliced = program.slice(targets=["x86-64-v3"])
    assert sliced.root_sha256 == program.root_sha256
    dropped = program.sizes()["targets"]["x86-64-v4"]
    # Up to the alignment of the weights.
    assert program.sizes()["file"] - sliced.sizes()["file"] >= dropped // 4096 * 4096
    assert predict(sliced).tobytes() == predict(program).tobytes()


def test_the_training_part(program):
    sliced = program.slice(entries=["predict"], debug=False)
    assert list(sliced.entries) == ["predict"]
    assert {v["role"] for v in sliced.variables()} == {"parameter"}
    assert {v["role"] for v in program.variables()} > {"parameter"}
    assert sliced.sizes()["weights"] < program.sizes()["weights"]
    assert predict(sliced).tobytes() == predict(program).tobytes()
    # Its parameters are nobody's to assign any more: they stay mapped.
    assert not any(v["assigned"] for v in sliced.variables())


def test_names(program):
    with pytest.raises(fer.errors.ArtifactError, match="no target 'aarch64'; there are: x86-64-v3, x86-64-v4"):
        program.slice(targets=["aarch64"])
    with pytest.raises(fer.errors.ArtifactError, match="no entry 'teach'; there are: "):
        program.slice(entries=["teach"])
    with pytest.raises(ValueError, match="targets must be a list of at least one name"):
        program.slice(targets="x86-64-v3")


def test_commands(program, tmp_path, capsys):
    whole, sliced, stripped = (str(tmp_path / name) for name in ("net.fer", "sliced.fer", "stripped.fer"))
    program.save(whole)
    assert main(["slice", whole, "-o", sliced, "--entry", "predict", "--strip"]) == 0
    assert "root sha256" in capsys.readouterr().out
    assert main(["strip", whole, "-o", stripped]) == 0
    assert "the same root sha256" in capsys.readouterr().out
    assert predict(fer.load(sliced)).tobytes() == predict(fer.load(stripped)).tobytes()
    assert main(["slice", whole, "-o", sliced, "--entry", "teach"]) == 1
    assert "no entry 'teach'" in capsys.readouterr().err
